/** Owns all that a triage may ask of others: reads, from a list. Booking, cancelling and telling passengers are not on it. */
import type { Command, Query } from "../../schemas/command.ts";
import type { Problem } from "../../schemas/problems.ts";
import type { ActorContext } from "../runtime/host.ts";

/** Queries of other actors; nothing comes of any of them. Contract, intro 6: "a model limited to an allow-list of tools". */
export const readsAllowed = [
  "case.head",
  "review.item",
  "review.list",
  "review.rehearse",
  "review.action-of",
  "case.housed-groups",
  "case.allocation-input",
  "case.rehearse",
  "wave.newest-of",
  "wave.detail",
  "wave.search-hotels",
  "wave.choosable",
] as const;
type ReadName = (typeof readsAllowed)[number];

export type Read = <View>(name: ReadName, params: Query["params"]) => Promise<View>;

/** @param asking as whom, and under which lock: what that principal may not see or do is refused */
export const readerFor = (
  context: Pick<ActorContext, "call">,
  asking: Omit<Query, "params"> & Pick<Command, "fencingToken">,
): Read => {
  const { tenant, principal, correlationUrn, traceparent, fencingToken } = asking;
  const lock = fencingToken === undefined ? {} : { fencingToken };
  const allowed: ReadonlySet<string> = new Set(readsAllowed);
  return async <View>(name: ReadName, params: Query["params"]) => {
    if (!allowed.has(name)) throw new Error(`${name} is no read that the agent may make`);
    return context.call<View>(name, { tenant, principal, correlationUrn, traceparent, ...lock, params });
  };
};

/** Of a refusal: what will not have changed when a person comes to the proposal. Others, as a lock or a wave under way, pass. */
const lastingStates: ReadonlySet<string> = new Set(["NO_ROOMS", "NOT_ALLOCATED", "BOOKED_THERE", "SETTLED"]);

/** Whether a proposal that is refused so is not worth making. */
export const isHopeless = ({ code, members }: Problem): boolean =>
  code === "validation/body" ||
  code === "conflict/demand-not-approved" ||
  (code === "conflict/state" && lastingStates.has(members.state ?? ""));
