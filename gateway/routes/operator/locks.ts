/** Owns the operator rows about a sub-case's lock, and the closing of a session that gives them all back. */
import Type from "typebox";
import { LockBody, LockView, SessionClosed, UnlockBody, UnlockedView } from "../../../schemas/lock.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const ofSubCase = {
  surface: "operator",
  method: "post",
  prefixes: ["/v1"],
  role: "AIRPORT_OPERATOR",
  rate: "write",
  params: Type.Object({ subCaseUrn: Urn("sub-case") }),
  entity: "subCaseUrn",
  success: 200,
} as const;

export const lockRoutes = [
  {
    ...ofSubCase,
    id: "lockSubCase",
    path: "/subcases/{subCaseUrn}/lock",
    summary: "Lock a group",
    description:
      "Yours alone for five minutes: until then other operators' writes on the group are refused, with your name. Lock it again to renew it; the fencing token stays the same. Whoever locks it after you gets a greater token, and yours is refused from then on. Neither passengers nor the group's saga are stopped by a lock.",
    body: LockBody,
    command: "sub-case.lock",
    response: LockView,
    problems: [
      "auth/foreign-airport",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      "conflict/state",
      "conflict/version",
      "conflict/concurrent-write",
    ],
  },
  {
    ...ofSubCase,
    id: "unlockSubCase",
    path: "/subcases/{subCaseUrn}/unlock",
    summary: "Give a group's lock back",
    description:
      "Where nobody holds one nothing is to do. Another operator's lock is refused with their name, unless a supervisor gives a `reason`: then it is taken away.",
    body: UnlockBody,
    command: "sub-case.unlock",
    response: UnlockedView,
    problems: [
      "auth/foreign-airport",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      "conflict/concurrent-write",
    ],
  },
  {
    id: "closeSession",
    surface: "operator",
    method: "post",
    path: "/session/close",
    prefixes: ["/v1"],
    summary: "Close your live session",
    description:
      "The first step of a logout: gives back every lock that you hold. Then revoke the refresh token at the issuer, and clear what the client keeps. Closing it again releases what was locked since.",
    role: ["AIRPORT_OPERATOR", "FINANCE_AUDIT"],
    rate: "write",
    command: "sub-case.close-session",
    success: 200,
    response: SessionClosed,
    problems: ["conflict/concurrent-write"],
  },
] as const satisfies readonly Route[];
