/** Owns the operator rows that change a case's groups: who is in which, and when they fly on. */
import Type from "typebox";
import { ReaccommodateBody, ReaccommodationView } from "../../../schemas/reaccommodate.ts";
import {
  GroupPassengersBody,
  MergeGroupsBody,
  RegroupView,
  SplitGroupBody,
} from "../../../schemas/regroup.ts";
import { Urn } from "../../../schemas/urn.ts";
import { GroupId } from "../../../schemas/vocabulary.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

const when =
  "Groups change while they are WAITING, HELD or FAILED, before a room is sought for them: later it is refused with the state. Rooms that are needed on top are asked for with an INCREMENTAL demand. Sessions follow their passengers.";

const regrouping = {
  surface: "operator",
  method: "post",
  role: "AIRPORT_OPERATOR",
  rate: "write",
  entity: "caseUrn",
  success: 200,
  response: RegroupView,
  problems: [
    "not-found/resource",
    "auth/foreign-airport",
    "conflict/sub-case-locked",
    "conflict/stale-fencing-token",
    "conflict/state",
    "conflict/version",
    "conflict/concurrent-write",
  ],
} as const;

export const groupRoutes = [
  {
    ...regrouping,
    id: "groupPassengers",
    path: "/cases/{caseUrn}/passenger-groups",
    prefixes: ["/v1"],
    summary: "Put passengers into groups",
    description: `Each set becomes one group; a set that holds a whole group keeps its id. Passengers who are not named stay where they are. ${when}`,
    params: caseParams,
    body: GroupPassengersBody,
    command: "case.group-passengers",
  },
  {
    ...regrouping,
    id: "splitGroup",
    path: "/cases/{caseUrn}/groups/{groupId}/split",
    prefixes: ["", "/v1"],
    summary: "Split a group",
    description: `The first part keeps the group's id and sub-case. A split into parts of one cabin each settles the group's MIXED_TIER_GROUP item. ${when}`,
    params: Type.Object({ caseUrn: Urn("case"), groupId: GroupId }),
    body: SplitGroupBody,
    command: "case.split-group",
  },
  {
    ...regrouping,
    id: "mergeGroups",
    path: "/cases/{caseUrn}/groups:merge",
    prefixes: ["", "/v1"],
    summary: "Merge groups",
    description: `Into the first one named; the others' sub-cases become NOT_REQUIRED. Groups of different cabins cannot be merged. ${when}`,
    params: caseParams,
    body: MergeGroupsBody,
    command: "case.merge-groups",
  },
  {
    id: "reaccommodate",
    surface: "operator",
    method: "patch",
    path: "/cases/{caseUrn}/reaccommodate",
    prefixes: ["", "/v1"],
    summary: "Follow a changed next flight",
    description:
      "Stays are lengthened or shortened at the hotels that have them; where a hotel cannot, another one is sought and the room is given back once that is booked. Who has no night to bridge any more is a LOCAL_RESIDENT, and what was got for them is given back. It runs on its own. Groups that another operator has locked cannot be named; what is for the whole case is stopped by no lock.",
    role: "AIRPORT_OPERATOR",
    rate: "write",
    params: caseParams,
    body: ReaccommodateBody,
    command: "case.reaccommodate",
    entity: "caseUrn",
    success: 202,
    response: ReaccommodationView,
    problems: [
      "not-found/resource",
      "auth/foreign-airport",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      "conflict/state",
      "conflict/version",
      "conflict/concurrent-write",
    ],
  },
] as const satisfies readonly Route[];
