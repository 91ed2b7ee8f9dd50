/** Owns reading what a person wants groups to be, and refusing what cannot be; how they come about is `regroup.ts`. */
import type { Passenger } from "../../schemas/passenger.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import type { Received } from "../runtime/decider.ts";
import { groupOf, groupPassengersMax } from "./manifest.ts";
import type { CaseState } from "./state.ts";

/** A group to be, by its passengers. `groupId`: whose id it keeps; absent: to be found. */
export interface Wanted {
  groupId?: string;
  urns: string[];
  pointer: string;
}

/** The groups that a command speaks of by their ids; passengers who are named are looked up. */
export const namedIn = (command: Received): { groupIds?: string[]; passengerUrns?: string[] } => {
  switch (command.name) {
    case "case.split-group":
      return { groupIds: [(command.data as { groupId: string }).groupId] };
    case "case.merge-groups":
      return { groupIds: (command.data as { groupIds: string[] }).groupIds };
    default:
      return {
        passengerUrns: (command.data as { groups: { passengerUrns: string[] }[] }).groups.flatMap(
          ({ passengerUrns }) => passengerUrns,
        ),
      };
  }
};

/** @throws Problem not-found/resource, validation/body, conflict/state */
export const wantedBy = (state: CaseState, command: Received, members: GroupMembers[]): Wanted[] => {
  switch (command.name) {
    case "case.split-group": {
      const { groupId, into } = command.data as { groupId: string; into: string[][] };
      requireGroups(state, [groupId], "not-found/resource");
      const parts = into.map((urns, i) => ({ urns, pointer: `/into/${i}` }));
      checkParts(state, members, parts);
      checkCovered(members, parts);
      return parts.map((part, i) => (i === 0 ? { ...part, groupId } : part));
    }
    case "case.merge-groups": {
      const { groupIds } = command.data as { groupIds: string[] };
      requireGroups(state, groupIds, "validation/body");
      if (new Set(groupIds).size < groupIds.length)
        throw wrong([{ pointer: "/groupIds", detail: "names a group twice" }]);
      requireMembers(members, groupIds);
      const inOrder = groupIds.flatMap((id) => members.filter(({ groupId }) => groupId === id));
      const urns = inOrder.flatMap(({ passengers }) => passengers.map(({ urn }) => urn));
      const [groupId] = groupIds as [string];
      const whole = { groupId, urns, pointer: "/groupIds" };
      checkCabins(members, [whole]);
      return [whole];
    }
    default: {
      const { groups } = command.data as { groups: { passengerUrns: string[] }[] };
      const sets = groups.map(({ passengerUrns }, i) => ({
        urns: passengerUrns,
        pointer: `/groups/${i}/passengerUrns`,
      }));
      checkParts(state, members, sets);
      checkCabins(members, sets);
      return sets;
    }
  }
};

const wrong = (errors: FieldError[]): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors`.", { errors });

const requireGroups = (
  { groups }: CaseState,
  groupIds: string[],
  code: "not-found/resource" | "validation/body",
): void => {
  const known = new Set(groups.map(({ groupId }) => groupId));
  const unknown = groupIds.findIndex((groupId) => !known.has(groupId));
  if (unknown === -1) return;
  if (code === "not-found/resource") throw new Problem(code, "The case has no such group.");
  throw wrong([{ pointer: `/groupIds/${unknown}`, detail: "is no group of this case" }]);
};

/** Between the case's decision and its sub-cases', or against a group that another change has left otherwise. */
export const beingChanged = (): Problem =>
  new Problem("conflict/state", "The group is being changed. Load the case again and decide anew.", {
    state: "REGROUPING",
  });

/** A group that a change has just made may not have its sub-case yet. */
const requireMembers = (members: GroupMembers[], groupIds: string[]): void => {
  if (groupIds.some((id) => !members.some(({ groupId }) => groupId === id))) throw beingChanged();
};

const checkParts = (state: CaseState, members: GroupMembers[], parts: Wanted[]): void => {
  const known = new Set(members.flatMap(({ passengers }) => passengers.map(({ urn }) => urn)));
  const seen = new Set<string>();
  const errors = parts.flatMap(({ urns, pointer }) =>
    urns.flatMap((urn, i): FieldError[] => {
      const at = `${pointer}/${i}`;
      if (seen.has(urn)) return [{ pointer: at, detail: "stands in two places" }];
      seen.add(urn);
      return known.has(urn) ? [] : [{ pointer: at, detail: "is no passenger of the group" }];
    }),
  );
  if (errors.length === 0) return;
  // Whoever asks has seen the groups as they were before another change.
  const changed = state.groups.some(({ shape }) => (shape ?? 0) > 0);
  if (changed && errors.every(({ detail }) => detail === "is no passenger of the group"))
    throw beingChanged();
  throw wrong(errors);
};

const checkCovered = (members: GroupMembers[], parts: Wanted[]): void => {
  const named = new Set(parts.flatMap(({ urns }) => urns));
  const left = members.flatMap(({ passengers }) => passengers.filter(({ urn }) => !named.has(urn)));
  if (left.length > 0)
    throw wrong([{ pointer: "/into", detail: `leaves out ${left.map(({ urn }) => urn).join(", ")}` }]);
};

/** Who travels in different cabins has different policies: such a group could only be held. */
const checkCabins = (members: GroupMembers[], sets: Wanted[]): void => {
  const passengers = byUrn(members);
  const errors = sets.flatMap(({ urns, pointer }): FieldError[] => {
    if (urns.length > groupPassengersMax)
      return [{ pointer, detail: `a group has at most ${groupPassengersMax} passengers` }];
    const { tier } = groupOf("", "", "", inputs(urns.map((urn) => passengers.get(urn) as Passenger)));
    return tier === undefined ? [{ pointer, detail: "its passengers travel in different cabins" }] : [];
  });
  if (errors.length > 0) throw wrong(errors);
};

export const byUrn = (members: GroupMembers[]): Map<string, Passenger> =>
  new Map(members.flatMap(({ passengers }) => passengers.map((passenger) => [passenger.urn, passenger])));

/** As a manifest would bring them. */
export const inputs = (passengers: Passenger[]) =>
  passengers.map((passenger) => ({ ...passenger, passengerUrn: passenger.urn }));
