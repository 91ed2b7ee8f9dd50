// Cases for the tables of planning and progress: so many parties of one booking each, opened, provisioned and planned.
import { decide } from "../../../actors/case/decide.ts";
import type { DemandTerms } from "../../../actors/case/planning.ts";
import type { ReaccommodateTerms } from "../../../actors/case/reaccommodate.ts";
import { outgoing } from "../../../actors/case/reactions.ts";
import { type CaseEvent, type CaseState, evolve } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { Stage } from "../../../schemas/group-note.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import { urn } from "../../../schemas/urn.ts";
import type { Tier } from "../../../schemas/vocabulary.ts";
import { eventsOf, folded, received, secondsLater, supervisor } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";

/** The tables give the policies alone where nothing is frozen, and nobody holds a lock. */
const termsOf = (gathered: unknown): DemandTerms & ReaccommodateTerms =>
  typeof gathered === "object" && gathered !== null && "policies" in gathered
    ? { locks: [], ...(gathered as DemandTerms) }
    : { locks: [], policies: (gathered ?? {}) as Policies };
export const rules = {
  decide: (state: CaseState | undefined, command: Received, gathered: unknown): CaseEvent[] =>
    decide(state, command, termsOf(gathered)),
  evolve,
  outgoing,
};
export const caseId = "XN-CASE";

export type Policies = Partial<Record<Tier, ResolvedPolicy | null>>;
export const economy: Policies = { ECONOMY: policy() };
export const asking: Policies = { ECONOMY: policy({ autoApproveDemand: false }) };

/** A case of one PNR per entry, with so many passengers in this cabin; two cabins: a group that spans them. */
export type Party = [passengers: number, ...cabins: string[]];
export const next = (scheduledDeparture: string) => ({ iataDesignator: "XN484", scheduledDeparture });
export const tomorrow = next("2026-11-22T14:00:00Z");
export const open = (parties: Party[], nextFlight: unknown = tomorrow): Received =>
  received("case.open", {
    externalEventId: "E1",
    flight: {
      iataDesignator: "XN482",
      originAirport: "JFK",
      destinationAirport: "MAD",
      scheduledDeparture: "2026-11-21T21:30:00Z",
    },
    disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: "2026-11-21T20:45:00Z" },
    nextFlight,
    passengers: parties.flatMap(([count, ...cabins], p) =>
      Array.from({ length: count }, (_, i) => ({
        pnr: `P${p}`,
        lastName: `N${i}`,
        cabinClass: cabins[i % cabins.length],
        contact: { email: "a@example.com" },
      })),
    ),
  });
export const provisioned = (count: number) => received("case.note-provisioned", { from: 0, count });
export const plan = received("case.plan");
export const provisionedCase = (parties: Party[], nextFlight?: unknown): CaseEvent[] =>
  eventsOf(rules, [] as CaseEvent[], open(parties, nextFlight), provisioned(parties.length));
export const plannedCase = (parties: Party[], policies: Policies): CaseEvent[] =>
  eventsOf(rules, provisionedCase(parties), [plan, policies]);
export const stateOf = (events: CaseEvent[]): CaseState => folded(rules, events) as CaseState;
export const groupIds = (events: CaseEvent[]): string[] =>
  stateOf(events).groups.map(({ groupId }) => groupId);
export const typesOf = (events: CaseEvent[]): string[] => events.map(({ type }) => type);

export const pair: Party = [2, "ECONOMY"];
export const human = (name: string, data: object, more: Partial<Received> = {}) =>
  received(`case.${name}`, data, { principal: supervisor, ...more });
export const requestDemand = (roomsRequested: number, type = "INCREMENTAL", more: Partial<Received> = {}) =>
  human("request-demand", { type, roomsRequested }, more);
export const demandUrn = (events: CaseEvent[], i = 0): string =>
  urn("demand", stateOf(events).demands[i]?.demandId ?? "");
export const approve = (events: CaseEvent[], i = 0) =>
  human("approve-demand", { demandUrn: demandUrn(events, i), reason: "Full house" });
export const reject = (events: CaseEvent[], i = 0) =>
  human("reject-demand", { demandUrn: demandUrn(events, i), reason: "Airport closed" });
export const noteGroup = (groupId: string | undefined, stage: Stage, round = 1) =>
  received("case.note-group", { groupId, stage, round });
/** A note as the tables write it: its letter, and the round where it isn't the first (`B2`). */
export const note = (groupId: string | undefined, letterAndRound: string) =>
  noteGroup(groupId, letterAndRound[0] as Stage, Number(letterAndRound.slice(1) || "1"));
/** What a resolved review item tells. */
export const noteReview = (
  category: string,
  resolution: string,
  affectedGroups: string[],
  origin = category === "BOOKING_FAILED" ? "booking" : "planning",
) => received("case.note-review", { reviewId: "XN-REVIEW", category, origin, affectedGroups, resolution });
export const reviewItem = (category: string, affectedGroups: string[], more: object = {}) => ({
  to: "command" as const,
  name: "review.open",
  data: { caseId, airport: "JFK", category, affectedGroups, ...more },
});
/** The same case with its groups at these letters, each in its first round, and no wave awaited. */
export const standingAt = (events: CaseEvent[], progress: string): CaseEvent[] => {
  const { awaiting: _, ...state } = stateOf(events);
  return [{ type: "case.registered", data: { ...state, progress, rounds: "1".repeat(progress.length) } }];
};
export const close = human("close", { reason: "All are home" });
export const reopen = human(
  "reopen",
  { reason: "One came back" },
  { now: secondsLater(100), principal: { ...supervisor, role: "ADMIN" } },
);
export const noteWave = (events: CaseEvent[], allocated: string[], unplaced: string[] = []) =>
  received("case.note-wave", { waveId: stateOf(events).waveId, allocated, unplaced });
