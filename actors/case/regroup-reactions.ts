/** Owns what leaves when groups have changed: sub-cases hear who is theirs, partners that the manifest was amended, desks what is settled. */
import type { Regrouped } from "../../schemas/regroup.ts";
import { urn } from "../../schemas/urn.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { chunkSize } from "./intake.ts";
import { heldItems } from "./items.ts";
import type { RegroupEvent } from "./regroup-state.ts";
import type { CaseState } from "./state.ts";

/** @param change what partners are told that it is */
export const regrouped = (
  data: RegroupEvent["data"],
  state: CaseState,
  caseId: string,
  change: "GROUPS" | "PASSENGERS" = "GROUPS",
): Outgoing[] => {
  const { shaped, emptied, unmixed, occurrence } = data;
  const made = shaped.filter(({ isNew }) => isNew);
  const kept = shaped.filter(({ isNew }) => !isNew);
  return [
    ...amended(data, state, caseId, change),
    ...kept.map(({ head, passengers, moved }) =>
      regroup(head.subCaseId, {
        shape: head.shape ?? 0,
        passengers,
        ...(head.tier === undefined ? {} : { tier: head.tier }),
        moved,
      }),
    ),
    ...emptied.map(({ head, mergedInto, moved }) =>
      regroup(head.subCaseId, { shape: head.shape ?? 0, passengers: [], mergedInto, moved }),
    ),
    ...openMade(made, state, caseId),
    ...shaped
      .filter(({ letter }) => letter === "N")
      .map(
        ({ head }): Outgoing => ({
          to: "command",
          name: "sub-case.mark-not-required",
          entity: head.subCaseId,
          data: {},
        }),
      ),
    ...heldItems(state, caseId, {
      groups: new Set(shaped.map(({ head }) => head.groupId)),
      occurrence,
    }),
    ...unmixed.map((groupId) => settled(caseId, { groupId, resolution: "SPLIT" })),
    ...emptied.map(({ head }) => settled(caseId, { groupId: head.groupId, resolution: "MERGED" })),
  ];
};

const regroup = (subCaseId: string, data: Regrouped): Outgoing => ({
  to: "command",
  name: "sub-case.regroup",
  entity: subCaseId,
  data,
});

/** As at the provisioning, in messages of its size; the case has counted them, and hears the confirmation without need. */
const openMade = (
  made: RegroupEvent["data"]["shaped"],
  { airport, flight, nextFlight, kind }: CaseState,
  caseId: string,
): Outgoing[] =>
  chunksOf(
    made.map(({ head, passengers }) => ({
      groupId: head.groupId,
      subCaseId: head.subCaseId,
      ...(head.tier === undefined ? {} : { tier: head.tier }),
      passengers,
    })),
    chunkSize,
  ).map((groups) => ({
    to: "command",
    name: "sub-case.open-many",
    entity: caseId,
    data: { from: -1, airport, flight, nextFlight, ...(kind === undefined ? {} : { kind }), groups },
  }));

/** An event with more would not fit a message. */
const amendedGroupsMax = 500;

/** Contract, "Outbound webhooks": case.amended. */
const amended = (
  { shaped, emptied }: RegroupEvent["data"],
  state: CaseState,
  caseId: string,
  change: "GROUPS" | "PASSENGERS",
): Outgoing[] => {
  const groups = shaped.map(({ head, passengers }) => ({
    groupId: head.groupId,
    subCaseUrn: urn("sub-case", head.subCaseId),
    passengerUrns: passengers.map((passenger) => passenger.urn),
  }));
  const mergedAway = emptied.map(({ head, mergedInto }) => ({
    groupId: head.groupId,
    mergedInto: mergedInto.groupId,
  }));
  const { externalEventId } = state;
  return chunksOf(groups, () => amendedGroupsMax).map((part) => ({
    to: "public",
    type: "case.amended",
    caseId,
    data: { externalEventId, change, groups: part, ...(change === "GROUPS" ? { mergedAway } : {}) },
  }));
};

/** @param sizeOf how many of what is left go together, at least one */
const chunksOf = <Item>(items: Item[], sizeOf: (left: Item[]) => number): Item[][] => {
  const chunks: Item[][] = [];
  for (let from = 0; from < items.length; ) {
    const left = items.slice(from);
    chunks.push(left.slice(0, sizeOf(left)));
    from += chunks.at(-1)?.length ?? 0;
  }
  return chunks;
};

const settled = (caseId: string, data: { groupId: string; resolution: "SPLIT" | "MERGED" }): Outgoing => ({
  to: "command",
  name: "review.note-housed",
  entity: caseId,
  data,
});
