/** Owns the operator rows about allocated rooms: booking them, running a wave again, and choosing a hotel by hand. */
import Type from "typebox";
import { BookingStarted, BookRoomsBody } from "../../../schemas/case.ts";
import { Urn } from "../../../schemas/urn.ts";
import { OverrideBody, OverrideStarted, RerunBody, RerunStarted } from "../../../schemas/wave.ts";
import type { Route } from "../../route.ts";

const waveParams = Type.Object({ waveUrn: Urn("wave") });

const asynchronous = {
  surface: "operator",
  method: "post",
  role: "OPS_SUPERVISOR",
  rate: "write",
  success: 202,
} as const;

const conflicts = ["conflict/state", "conflict/version", "conflict/concurrent-write"] as const;

export const allocationRoutes = [
  {
    ...asynchronous,
    id: "bookRooms",
    path: "/cases/{caseUrn}/book-rooms",
    prefixes: ["/v1"],
    summary: "Book allocated rooms",
    description:
      "Starts the booking of groups that are allocated and wait for it, because their policy has `autoBook` false: all of them, or those named. Each group's saga runs on its own. Parts of the answer whose owner has not answered within 3 s are left out and named in `partialFailures`.",
    params: Type.Object({ caseUrn: Urn("case") }),
    body: BookRoomsBody,
    command: "case.book-rooms",
    entity: "caseUrn",
    response: BookingStarted,
    problems: ["auth/foreign-airport", ...conflicts],
  },
  {
    ...asynchronous,
    id: "overrideWave",
    path: "/allocation/wave/{waveUrn}/override",
    prefixes: ["", "/v1"],
    summary: "Choose a group's hotel by hand",
    description:
      "The hotel may be one that the policy's gates refuse; rooms enough, and accessible ones where they are needed, it must have. The wave's own offers are taken for 15 minutes, then the vendors are asked again. A group with a room elsewhere changes hotels: the new room is booked first, then the old one is given back, and when the hotel has none after all the old one stands. Other groups are not touched. It runs on its own; the wave tells how it went.",
    params: waveParams,
    body: OverrideBody,
    command: "wave.override",
    entity: "waveUrn",
    response: OverrideStarted,
    problems: [
      "auth/foreign-airport",
      "conflict/demand-not-approved",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      ...conflicts,
    ],
  },
  {
    ...asynchronous,
    id: "rerunWave",
    path: "/allocation/wave/{waveUrn}/rerun",
    prefixes: ["", "/v1"],
    summary: "Run an allocation again",
    description:
      "Another wave of the same case, for whoever has no room: waiting, held, failed, or allocated and not booked. Groups with a room keep it; those named may change hotels. The wave that is run again stays readable. Only a case's newest wave can be.",
    params: waveParams,
    body: RerunBody,
    command: "wave.rerun",
    entity: "waveUrn",
    response: RerunStarted,
    problems: ["auth/foreign-airport", "conflict/demand-not-approved", ...conflicts],
  },
] as const satisfies readonly Route[];
