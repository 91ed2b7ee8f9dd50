/** Owns what is read for partners' writes: the groups of whom they name. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ManifestPatchBody } from "../../schemas/partner-manifest.ts";
import type { PriorityRequestBody } from "../../schemas/partner-priority.ts";
import { normalPnr } from "../../schemas/passenger.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { groupsOfPatch, type ManifestGroup } from "./manifest.ts";
import { seedOf } from "./manifest-patch-state.ts";
import type { PriorityTerms } from "./priority.ts";
import type { CaseState } from "./state.ts";

/** A question, and its answer of as many groups, fit a message each. */
const askedAtOnceMax = 400;

/** The groups that travel under the patch's booking references, and those whom it names by URN; each once. */
export const membersNamed = async (context: ActorContext, command: Received): Promise<GroupMembers[]> => {
  const { passengers = [] } = command.data as ManifestPatchBody;
  const pnrs = new Set(passengers.flatMap(({ pnr }) => (pnr && normalPnr(pnr)) || []));
  const urns = new Set(passengers.flatMap(({ passengerUrn }) => passengerUrn ?? []));
  const found = new Map<string, GroupMembers>();
  for (const [name, all] of [
    ["pnrs", [...pnrs]],
    ["passengerUrns", [...urns]],
  ] as const)
    for (let from = 0; from < all.length; from += askedAtOnceMax) {
      const params = { caseId: command.entity, [name]: all.slice(from, from + askedAtOnceMax) };
      const groups = await context.call<GroupMembers[]>("sub-case.members", { ...command, params });
      for (const group of groups) found.set(group.groupId, group);
    }
  return [...found.values()];
};

/** The groups that the patch speaks of, made bit by bit: whoever else waits for this process is heard in between. */
export const groupsNamed = async (command: Received, state: CaseState): Promise<ManifestGroup[]> => {
  const { passengers = [] } = command.data as ManifestPatchBody;
  const groups: ManifestGroup[] = [];
  for (const some of groupsOfPatch(command.tenant, `${command.tenant}/${seedOf(state)}`, passengers)) {
    groups.push(...some);
    await nextTurn();
  }
  return groups;
};

export const gatherPriority = async (context: ActorContext, command: Received): Promise<PriorityTerms> => {
  const { passengerUrns = [] } = command.data as PriorityRequestBody;
  const params = { caseId: command.entity, passengerUrns };
  const members =
    passengerUrns.length === 0
      ? []
      : await context.call<GroupMembers[]>("sub-case.members", { ...command, params });
  return { members, share: context.config.PARTNER_PRIORITY_SHARE };
};
