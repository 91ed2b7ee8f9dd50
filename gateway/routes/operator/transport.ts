/** Owns the operator rows about ground transport (contract, "Transport"): asking for it, and each ride by itself. */
import Type from "typebox";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import {
  CancelSegmentBody,
  ChangeVehicleBody,
  CreateSegmentBody,
  RequestTransfersBody,
  RetimeSegmentBody,
  SegmentView,
  TransfersRequested,
} from "../../../schemas/transport.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

const write = {
  surface: "operator",
  method: "post",
  prefixes: ["", "/v1"],
  role: "AIRPORT_OPERATOR",
  rate: "write",
  response: SegmentView,
  problems: [
    "auth/foreign-airport",
    "not-found/resource",
    "conflict/sub-case-locked",
    "conflict/stale-fencing-token",
    "conflict/state",
    "conflict/version",
    "conflict/concurrent-write",
  ],
} as const;

const change = {
  ...write,
  params: Type.Object({ segmentUrn: Urn("segment") }),
  entity: "segmentUrn",
  success: 200,
} as const;

export const transportRoutes = [
  {
    ...write,
    id: "requestTransfers",
    path: "/transport/cases/{caseUrn}/transfers/request",
    prefixes: ["/v1"],
    summary: "Request ground transport for a case",
    description:
      "Seeks what is lacking: for each group with a room, a ride to the hotel and one back, where none is booked or sought. Nobody is driven back while no next flight is known. It goes on behind the answer. Groups that another operator has locked cannot be named; what is asked for a whole case is stopped by no lock.",
    params: caseParams,
    body: RequestTransfersBody,
    command: "transport.request-transfers",
    success: 202,
    response: TransfersRequested,
    problems: [
      "auth/foreign-airport",
      "not-found/resource",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      "conflict/state",
    ],
  },
  {
    id: "listSegments",
    surface: "operator",
    method: "get",
    path: "/transport/cases/{caseUrn}/segments",
    prefixes: ["/v1"],
    summary: "List a case's transport segments",
    description: "All rides, also cancelled ones, in the order in which they were made.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: caseParams,
    querystring: Type.Object(PageQuery),
    query: "transport.segments",
    success: 200,
    response: pageOf(SegmentView, "TransportSegmentPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    ...write,
    id: "createSegment",
    path: "/transport/segments",
    summary: "Plan a transport segment",
    description:
      "One more ride of the group that has the reservation. It is `pending` until a vehicle is booked; a review item tells if none can be had.",
    body: CreateSegmentBody,
    command: "transport.create-segment",
    success: 201,
  },
  {
    ...change,
    id: "retimeSegment",
    path: "/transport/segments/{segmentUrn}/retime",
    summary: "Move a segment to another time",
    description:
      "Seats are sought for the new time; those that stand are given back once others are found, and kept when none are.",
    body: RetimeSegmentBody,
    command: "transport.retime-segment",
  },
  {
    ...change,
    id: "changeSegmentVehicle",
    path: "/transport/segments/{segmentUrn}/vehicle",
    summary: "Change a segment's vehicle",
    description: "As with another time: what stands is kept until the other vehicle is booked.",
    body: ChangeVehicleBody,
    command: "transport.change-vehicle",
  },
  {
    ...change,
    id: "cancelSegment",
    path: "/transport/segments/{segmentUrn}/cancel",
    summary: "Cancel a segment",
    description:
      "Its seats are free at once. A vehicle that nobody sits in any more is cancelled at the vendor.",
    body: CancelSegmentBody,
    command: "transport.cancel-segment",
  },
] as const satisfies readonly Route[];
