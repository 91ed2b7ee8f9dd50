// An airline whose hotels are paid by card alone, so that each stay has a card of its own beside the passengers' card.
import type { PolicyView } from "../../schemas/policy.ts";
import { expectStatus } from "../../scripts/demonstration/http.ts";
import { type DemoAirline, demoPolicies } from "../../scripts/demonstration/provision.ts";
import type { TestInstance } from "./instance.ts";

/** From now on, for the demo's passengers in economy. */
export const payByCard = async (it: TestInstance, airline: DemoAirline): Promise<void> => {
  const economy = demoPolicies(airline.urn).find(({ tiers }) => tiers?.includes("ECONOMY"));
  if (economy === undefined) throw new Error("the demo has no policy for economy");
  const token = await it.operatorToken(airline.urn, "ADMIN");
  const post = (path: string, body: unknown) => it.ask({ method: "POST", path, token, body });
  const constraints = { ...economy.constraints, acceptedPayments: ["CARD"] };
  const made = await post("/v1/policies", { ...economy, name: "Paid by card", constraints });
  const { urn } = expectStatus(made, 201, "creating a policy").body as PolicyView;
  const path = `/v1/policies/${encodeURIComponent(urn)}/activate`;
  expectStatus(await post(path, {}), 200, "activating a policy");
};
