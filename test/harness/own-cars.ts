// An airline whose passengers in economy are driven in cars of their own, so that each group has its own rides at the vendor.
import type { Page } from "../../schemas/command.ts";
import type { PolicyView } from "../../schemas/policy.ts";
import { expectStatus } from "../../scripts/demonstration/http.ts";
import type { DemoAirline } from "../../scripts/demonstration/provision.ts";
import type { TestInstance } from "./instance.ts";

/** From now on, under every policy that is in force for economy. */
export const driveInOwnCars = async (it: TestInstance, airline: DemoAirline): Promise<void> => {
  const token = await it.operatorToken(airline.urn, "ADMIN");
  const listed = await it.ask({ method: "GET", path: "/v1/policies/active", token });
  const { items } = expectStatus(listed, 200, "listing policies").body as Page<PolicyView>;
  for (const { urn, tiers } of items) {
    if (!tiers.includes("ECONOMY")) continue;
    const patched = await it.ask({
      method: "POST",
      path: `/v1/policies/${encodeURIComponent(urn)}/patch`,
      token,
      body: { transport: { mode: "PRIVATE_CAR" }, reason: "No strangers tonight" },
    });
    expectStatus(patched, 200, "patching a policy");
  }
};
