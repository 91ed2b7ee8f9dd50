/** Owns the shapes of the operators' live channel (contract, "Operator WebSocket events"): what the server tells, what a client may ask. */
import Type, { type Static, type TObject } from "typebox";
import { CaseKind } from "./drill.ts";
import { Urn } from "./urn.ts";
import { AirportCode, caseStatuses, channels, GroupId, subCaseStatuses, Timestamp } from "./vocabulary.ts";

/** Sub-cases that one case:updated names; of more it tells how many there were. */
export const namedSubCasesMax = 50;
/** Operators that one presence:changed names. */
export const namedWatchersMax = 100;

const kind = Type.Optional(CaseKind);
const SubCaseStatusField = Type.Enum([...subCaseStatuses]);
const LockedBy = Type.Union([Type.String(), Type.Null()], {
  examples: [null],
  description: "User URN of the operator who holds its lock; null: nobody.",
});

export const CaseUpdated = Type.Object({
  caseUrn: Urn("case"),
  status: Type.Enum([...caseStatuses]),
  occurredAt: Type.String({ ...Timestamp, description: "Of the last change that it tells of." }),
  subCases: Type.Array(
    Type.Object({ subCaseUrn: Urn("sub-case"), groupId: GroupId, status: SubCaseStatusField }),
    { maxItems: namedSubCasesMax, description: "Which groups have changed, and to what." },
  ),
  subCasesChanged: Type.Integer({
    minimum: 0,
    description: "How many groups have changed, with those that are not named; 0: the case itself.",
  }),
  kind,
});
export type CaseUpdated = Static<typeof CaseUpdated>;

const Watcher = Type.Object({
  operatorUrn: Type.String({ examples: ["urn:user:0c2f"] }),
  since: Timestamp,
});
export type Watcher = Static<typeof Watcher>;

const watching = {
  watchers: Type.Array(Watcher, {
    maxItems: namedWatchersMax,
    description: "Operators with a live socket on this case, those there longest first.",
  }),
  watcherCount: Type.Integer({ minimum: 0 }),
};

export const PresenceChanged = Type.Object({ caseUrn: Urn("case"), ...watching });
export type PresenceChanged = Static<typeof PresenceChanged>;

const step = { caseUrn: Urn("case"), subCaseUrn: Urn("sub-case"), stepUrn: Urn("step") };

/** What the server tells, by the event's name: contract, "Operator WebSocket events", and what came beside it. */
export const operatorEvents = {
  "case:updated": {
    summary: "The case has changed, or a group of it.",
    payload: CaseUpdated,
  },
  "subcase:state-changed": {
    summary: "A group has come to another state, or its lock was taken, renewed, given back or has lapsed.",
    payload: Type.Object({
      subCaseUrn: Urn("sub-case"),
      caseUrn: Urn("case"),
      groupId: GroupId,
      status: SubCaseStatusField,
      lockedBy: LockedBy,
      kind,
    }),
  },
  "graph:step:started": {
    summary: "A step of a group's saga has begun.",
    payload: Type.Object({ ...step, name: Type.String({ examples: ["book"] }), startedAt: Timestamp, kind }),
  },
  "graph:step:completed": {
    summary: "A step has ended.",
    payload: Type.Object({
      ...step,
      name: Type.String({ examples: ["book"] }),
      completedAt: Timestamp,
      result: Type.Enum(["DONE", "REFUSED", "SKIPPED", "FAILED"]),
      kind,
    }),
  },
  "graph:step:progress": {
    summary: "A step that a vendor keeps waiting is still under way.",
    payload: Type.Object({
      ...step,
      name: Type.String({ examples: ["book"] }),
      progress: Type.Number({ minimum: 0, maximum: 1 }),
      message: Type.Optional(Type.String()),
      kind,
    }),
  },
  "notification:dispatched": {
    summary: "A carrier has taken a message to a passenger.",
    payload: Type.Object({
      caseUrn: Urn("case"),
      subCaseUrn: Urn("sub-case"),
      messageUrn: Urn("message"),
      templateId: Type.String({ examples: ["offer-ready"] }),
      channel: Type.Enum([...channels]),
      recipient: Type.String({ description: "Masked.", examples: ["•••0142"] }),
      kind,
    }),
  },
  "presence:changed": {
    summary: "Somebody has begun to watch the case, or watches it no more.",
    payload: PresenceChanged,
  },
  "session:ready": {
    summary:
      "All that was missed is told, and everything from now on follows. The first event of a connection without rooms.",
    payload: Type.Object({
      resumed: Type.Boolean({ description: "The rooms of the session before are these." }),
      complete: Type.Boolean({
        description:
          "False: more was missed than the last 60 s, or than is kept of them; load what you show again.",
      }),
      rooms: Type.Array(
        Type.Union([Type.Object({ caseUrn: Urn("case") }), Type.Object({ airport: AirportCode })]),
      ),
    }),
  },
  "session:position": {
    summary: "Nothing that concerns you has happened up to this position.",
    payload: Type.Object({}),
  },
  "session:ended": {
    summary: "The connection is about to be closed with 4401.",
    payload: Type.Object({
      reason: Type.Enum(["token-expired", "access-withdrawn", "logged-out"]),
    }),
  },
} as const satisfies Record<string, { summary: string; payload: TObject }>;
export type OperatorEvent = keyof typeof operatorEvents;

const Refused = Type.Object({
  ok: Type.Literal(false),
  problem: Type.Object({
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
  }),
});

const Room = Type.Union(
  [
    Type.Object({ caseUrn: Urn("case") }, { additionalProperties: false }),
    Type.Object({ airport: AirportCode }, { additionalProperties: false }),
  ],
  { description: "One case, or all of an airport's." },
);

const HeldLock = Type.Object({
  subCaseUrn: Urn("sub-case"),
  groupId: GroupId,
  lockedBy: Type.String(),
  expiresAt: Timestamp,
});

/** What a client may send, and the acknowledgement of each. */
export const operatorRequests = {
  subscribe: {
    summary: "Hear of a case, or of all cases of an airport.",
    payload: Room,
    acknowledgements: [
      Type.Object({
        ok: Type.Literal(true),
        caseUrn: Urn("case"),
        status: Type.Enum([...caseStatuses]),
        position: Type.String(),
        locks: Type.Array(HeldLock),
        ...watching,
      }),
      Type.Object({
        ok: Type.Literal(true),
        airport: AirportCode,
        position: Type.String(),
        cases: Type.Array(Type.Object({ caseUrn: Urn("case"), status: Type.Enum([...caseStatuses]) }), {
          description: "Those that are not closed.",
        }),
      }),
      Refused,
    ],
  },
  unsubscribe: {
    summary: "Hear of it no more.",
    payload: Room,
    acknowledgements: [Type.Object({ ok: Type.Literal(true) }), Refused],
  },
  authenticate: {
    summary: "Go on under a newer token of the same operator before the one of the handshake expires.",
    payload: Type.Object({ token: Type.String() }),
    acknowledgements: [Type.Object({ ok: Type.Literal(true), expiresAt: Timestamp }), Refused],
  },
} as const;
