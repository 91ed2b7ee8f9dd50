// What lies on the review desk of the matrix: an item for each thing that may be done about one, claimed by whoever may just
// about do it, with a hotel, a policy or passengers for it to succeed on.
import type { TriageView } from "../../../schemas/agent.ts";
import type { CaseView } from "../../../schemas/case.ts";
import type { PolicyView } from "../../../schemas/policy.ts";
import type { OpenReview, ReviewItemView } from "../../../schemas/review.ts";
import { idOf } from "../../../schemas/urn.ts";
import type { WaveView } from "../../../schemas/wave.ts";
import type { Clients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";
import { policyBody } from "./terms.ts";

interface Choice {
  reviewUrn: string;
  hotelUrn: string;
  providerOfferId: string;
}

export interface ReviewDesk {
  releasable: string;
  assignable: string;
  relaxable: string;
  splittable: { reviewUrn: string; passengers: string[] };
  rebookable: Choice;
  overridable: Choice;
  /** Agent actions, each of an item of its own: two that are proposed, and one that is approved, its item a supervisor's. */
  proposals: { approvable: string; rejectable: string; executable: string };
}

/** @param clients of an instance with hotels at LAX that are booked by hand, and no policy at LHR */
export const openReviewDesk = async (clients: Clients): Promise<ReviewDesk> => {
  const [xn] = clients.airlines;
  const [admin, supervisor, operator] = await Promise.all(
    ["ADMIN", "OPS_SUPERVISOR", "AIRPORT_OPERATOR"].map((role) => clients.operatorToken(xn.urn, role)),
  );
  // One hotel there is would be too far: the policy wants it within a kilometre.
  const near = policyBody("Next door", { airport: "MEX" }, { constraints: { maxDistanceKm: 1 } });
  const made = await clients.call<PolicyView>("createPolicy", { token: admin, body: near });
  await clients.call("activatePolicy", { token: admin, params: { policyUrn: made.body.urn } });
  const push = async (name: string, airport: string): Promise<string> => {
    const body = smallFlight("XN", name, 1);
    const flight = { ...body.flight, originAirport: airport };
    return (await clients.pushed(xn, { ...body, flight })).body.caseUrn;
  };
  const read = async (caseUrn: string): Promise<CaseView> =>
    (await clients.call<CaseView>("getCase", { token: admin, params: { caseUrn } })).body;
  const claim = (reviewUrn: string, token = operator) =>
    clients.call("claimReview", { token, params: { reviewUrn } });
  const open = async ({ urn, airport, passengerGroups }: CaseView, origin: string): Promise<string> => {
    const data: OpenReview = {
      caseId: idOf(urn),
      airport,
      category: "BOOKING_FAILED",
      origin,
      detail: "For the matrix.",
      attemptedHotels: [],
      affectedGroups: passengerGroups.map(({ groupId }) => groupId),
    };
    return (await clients.client.command<ReviewItemView>("review.open", { tenant: "XN", data })).urn;
  };
  const held = async (caseUrn: string): Promise<CaseView & { reviewUrn: string }> => {
    await clients.events.untilCount("review.opened", 1, { caseUrn });
    const seen = await read(caseUrn);
    return { ...seen, reviewUrn: seen.manualReviewItems[0]?.urn ?? "" };
  };
  const allocated = async (caseUrn: string): Promise<Choice & { seen: CaseView }> => {
    const seen = await clients.eventually(
      "its hotel",
      () => read(caseUrn),
      ({ wave }) => (wave?.allocations.length ?? 0) > 0,
    );
    const params = { waveUrn: seen.wave?.urn ?? "" };
    const { rankingInputs } = (await clients.call<WaveView>("getWave", { token: admin, params })).body;
    const { hotelUrn = "", providerOfferId = "" } = rankingInputs[0]?.candidate ?? {};
    return { reviewUrn: await open(seen, "booking"), hotelUrn, providerOfferId, seen };
  };
  const proposed = async (name: string): Promise<{ reviewUrn: string; agentActionUrn: string }> => {
    const { reviewUrn } = await push(name, "LAX").then(allocated);
    const asked = { token: supervisor, body: { reviewUrn } };
    const { proposals } = (await clients.call<TriageView>("triageReview", asked)).body;
    return { reviewUrn, agentActionUrn: proposals[0]?.urn ?? "" };
  };
  const [relaxable, splittable, rebookable, overridable] = await Promise.all([
    push("desk-relax", "MEX").then(held),
    push("desk-split", "LHR").then(held),
    push("desk-rebook", "LAX").then(allocated),
    push("desk-override", "LAX").then(allocated),
  ]);
  const [releasable, assignable] = [await open(splittable, "hand-a"), await open(splittable, "hand-b")];
  for (const one of [relaxable.reviewUrn, splittable.reviewUrn, rebookable.reviewUrn, releasable])
    await claim(one);
  await claim(overridable.reviewUrn, supervisor);
  const approvable = await proposed("desk-approve");
  const rejectable = await proposed("desk-reject");
  const executable = await proposed("desk-execute");
  await claim(executable.reviewUrn, supervisor);
  const { agentActionUrn } = executable;
  await clients.call("approveAgentAction", { token: supervisor, params: { agentActionUrn }, body: {} });
  const passengers = splittable.passengerGroups.flatMap((group) => group.passengers.map(({ urn }) => urn));
  const choiceOf = ({ seen: _, ...choice }: Choice & { seen: CaseView }): Choice => choice;
  return {
    releasable,
    assignable,
    relaxable: relaxable.reviewUrn,
    splittable: { reviewUrn: splittable.reviewUrn, passengers },
    rebookable: choiceOf(rebookable),
    overridable: choiceOf(overridable),
    proposals: {
      approvable: approvable.agentActionUrn,
      rejectable: rejectable.agentActionUrn,
      executable: agentActionUrn,
    },
  };
};
