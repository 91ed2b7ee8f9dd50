/** Owns what leaves with a case's events: public events and the next step's command; items for people stand in `items.ts`. */
import type { KnownStage, Stage } from "../../schemas/group-note.ts";
import { urn } from "../../schemas/urn.ts";
import type { Outgoing, Received } from "../runtime/decider.ts";
import {
  detectedOut,
  flightOf,
  manifestCame,
  manifestProvisioned,
  noteFlight,
  openedByFeed,
} from "./detected.ts";
import { chunkSize } from "./intake.ts";
import {
  afterReviewItems,
  heldItems,
  incompleteItems,
  partialItem,
  strandedItem,
  unmovedItem,
} from "./items.ts";
import type { ManifestPatchEvent } from "./manifest-patch-state.ts";
import { priorityRequested } from "./priority-state.ts";
import { roundOf } from "./progress.ts";
import { reaccommodatedOut } from "./reaccommodate-state.ts";
import { regrouped } from "./regroup-reactions.ts";
import type { WaveReview } from "./relax-state.ts";
import type { CaseEvent, CaseState, GroupHead } from "./state.ts";

export const outgoing = (
  event: CaseEvent,
  state: CaseState,
  command: Received,
  caseId: string,
): Outgoing[] => {
  switch (event.type) {
    case "case.registered":
      return state.source === "FEED" ? openedByFeed(state, caseId) : [provisionNext(state, caseId)];
    case "case.manifest-received":
      return [
        ...detectedOut(event, state, caseId),
        ...(state.groups.length === 0 ? [] : [provisionNext(state, caseId)]),
      ];
    case "case.prediction-amended":
    case "case.manifest-missed":
    case "case.facts-amended":
    case "case.difference-noted":
    case "case.prediction-noted":
    case "case.withdrawal-noted":
    case "case.taken-in-hand":
      return detectedOut(event, state, caseId);
    case "case.chunk-provisioned":
      return [provisionNext(state, caseId)];
    case "case.opened":
      return [
        ...(state.source === "FEED" ? manifestProvisioned(state, caseId) : [opened(state, caseId)]),
        { to: "command", name: "case.plan", entity: caseId, data: {} },
        ...incompleteItems(state, caseId),
      ];
    case "case.planned":
      return [...heldItems(state, caseId), ...notRequired(state), ...correctionCheck(state, caseId)];
    case "case.wave-requested":
      return [runWave(event.data.waveId, event.data.demandId, caseId, event.data.review)];
    case "case.step-reissued":
      return reissued(state, caseId);
    case "demand.requested":
      return [
        { to: "internal", type: event.type, id: caseId, caseId, data: { ...event.data } },
        ...freezeCheck(state, caseId),
      ];
    case "demand.approved":
    case "demand.rejected":
      return [{ to: "internal", type: event.type, id: caseId, caseId, data: { ...event.data } }];
    case "demand.settled":
      return [
        { to: "internal", type: event.type, id: caseId, caseId, data: { ...event.data } },
        ...partialItem(state, caseId, event.data),
      ];
    case "case.group-noted":
      // When the group told it, not when the case heard: an item that has arisen in between is of a room lost since.
      return event.data.housed.map((groupId) => ({
        to: "command",
        name: "review.note-housed",
        entity: caseId,
        data: { groupId, at: command.issuedAt },
      }));
    case "case.review-noted":
      return [
        ...afterReviewItems(state, caseId, event.data),
        ...event.data.retryRollback.map(toGroup("sub-case.compensate")),
        ...event.data.settled.map(toGroup("sub-case.settle")),
      ];
    case "case.groups-stranded":
      return [strandedItem(state, caseId, event.data)];
    case "case.closed":
      return closed(state, caseId, event);
    case "case.reopened":
      return reopened(state, caseId, event);
    case "case.resolved":
      return [
        {
          to: "public",
          type: "case.resolved",
          caseId,
          data: { resolvedAt: event.data.at, subCaseCount: state.groups.length, outcomes: outcomesOf(state) },
        },
      ];
    case "case.replanned":
      return notRequired(state);
    case "case.booking-requested":
      return event.data.started.map(({ groupId, subCaseId, waveId }) => {
        const { shape = 0 } = state.groups.find((group) => group.groupId === groupId) ?? {};
        return toGroup("sub-case.book", { waveId, shape })(subCaseId);
      });
    case "case.reaccommodated":
      return reaccommodatedOut(event, state, caseId);
    case "case.regrouped":
      return regrouped(event.data, state, caseId);
    case "case.manifest-amended":
      return manifestAmended(event, state, caseId);
    case "case.priority-requested":
      return priorityRequested(event, caseId);
    case "case.wave-noted": {
      const { waveId, unmoved } = event.data;
      const items = unmoved === undefined ? [] : [unmovedItem(state, caseId, waveId, unmoved)];
      return [...items, ...correctionCheck(state, caseId)];
    }
    case "case.replacement-asked":
    case "case.policies-renewed":
    case "case.policy-relaxed":
    case "case.override-noted":
    case "case.batch-awaited":
    case "case.batch-ended":
    case "case.repeated-differently":
      return [];
    default:
      return event satisfies never;
  }
};

const opened = (state: CaseState, caseId: string): Outgoing => ({
  to: "public",
  type: "case.opened",
  caseId,
  data: {
    externalEventId: state.externalEventId,
    status: state.status,
    airport: state.airport,
    flight: flightOf(state),
    disruption: { type: state.disruption.type, reason: state.disruption.reason },
    subCaseCount: state.groups.length,
  },
});

/**
 * What is pending is looked at once more after its commit: a freeze that was declared in between has not seen it. Between
 * the two orders there is none in which both miss each other.
 */
const freezeCheck = (state: CaseState, caseId: string): Outgoing[] =>
  state.demands.some((demand) => demand.state === "REQUESTED")
    ? [{ to: "command", name: "case.apply-freeze", entity: caseId, data: {} }]
    : [];

/** A next flight that came during the provisioning or an allocation is applied once nothing of that is under way. */
const correctionCheck = ({ pendingNextFlight, awaiting }: CaseState, caseId: string): Outgoing[] =>
  pendingNextFlight === undefined || awaiting?.step === "wave"
    ? []
    : [{ to: "command", name: "case.apply-correction", entity: caseId, data: {} }];

/** Before the case is opened the new groups go with its chunks, and are told of with it. */
const manifestAmended = ({ data }: ManifestPatchEvent, state: CaseState, caseId: string): Outgoing[] => {
  if (data.provisionDueAt !== undefined)
    return [provisionNext(state, caseId), ...manifestCame(state, caseId)];
  if (data.groups === undefined || state.provisionedAt === undefined) return [];
  return [
    ...regrouped(data.groups, state, caseId, "PASSENGERS"),
    ...incompleteItems(state, caseId, data.groups),
  ];
};

const outcomesOf = ({ progress }: CaseState) => {
  const count = (stages: string) => [...progress].filter((stage) => stages.includes(stage)).length;
  return {
    resolved: count("RCO"),
    declined: count("D"),
    notRequired: count("N"),
    settledByHand: count("MX"),
  };
};

const provisionNext = (state: CaseState, caseId: string): Outgoing => {
  const from = state.provisioned;
  const owned = state.manifest.slice(from);
  const groups = owned.slice(0, chunkSize(owned));
  return {
    to: "command",
    name: "sub-case.open-many",
    entity: caseId,
    data: {
      from,
      airport: state.airport,
      ...(state.kind === undefined ? {} : { kind: state.kind }),
      flight: state.flight,
      nextFlight: state.nextFlight,
      groups: groups.map((group, i) => ({ ...group, subCaseId: state.groups[from + i]?.subCaseId })),
    },
  };
};

const runWave = (waveId: string, demandId: string, caseId: string, review?: WaveReview): Outgoing => ({
  to: "command",
  name: "wave.run",
  entity: waveId,
  data: { caseId, demandId, ...(review === undefined ? {} : { review }) },
});

const reissued = (state: CaseState, caseId: string): Outgoing[] => {
  const { awaiting } = state;
  if (awaiting?.step === "provisioning") return [provisionNext(state, caseId)];
  if (awaiting?.step === "planning") return [{ to: "command", name: "case.plan", entity: caseId, data: {} }];
  if (awaiting?.waveId === undefined || awaiting.demandId === undefined) return [];
  return [runWave(awaiting.waveId, awaiting.demandId, caseId, awaiting.review)];
};

const notRequired = (state: CaseState): Outgoing[] =>
  state.groups
    .filter((_, i) => state.progress[i] === "N")
    .map(({ subCaseId }) => ({
      to: "command",
      name: "sub-case.mark-not-required",
      entity: subCaseId,
      data: {},
    }));

const toGroup =
  (name: `sub-case.${string}`, data: object = {}) =>
  (subCaseId: string): Outgoing => ({ to: "command", name, entity: subCaseId, data });

/** Sub-cases that stand, or are about to: the chunk under way arrives, whatever becomes of the case meanwhile. */
const standing = ({ groups, provisioned, manifest }: CaseState): GroupHead[] =>
  groups.slice(0, provisioned + chunkSize(manifest.slice(provisioned)));

/** Where the case thinks that each of its groups stands. */
const knownOf = ({ groups, progress, rounds, toBook = [] }: CaseState): KnownStage[] => {
  const loose = new Set(toBook.map(({ groupId }) => groupId));
  return groups.map(({ groupId, shape = 0 }, i) => ({
    stage: progress[i] as Stage,
    round: roundOf(rounds[i]),
    shape,
    toBook: loose.has(groupId),
  }));
};

/** Sessions end, sagas stand still, offers are withdrawn, items are off the desks (contract, "Case"). */
const closed = (
  state: CaseState,
  caseId: string,
  { type, data }: Extract<CaseEvent, { type: "case.closed" }>,
): Outgoing[] => [
  { to: "internal", type, id: caseId, caseId, data: { ...data, airport: state.airport } },
  {
    to: "command",
    name: "identity.close-case",
    entity: caseId,
    data: { closedAt: data.at, changedAt: data.at },
  },
  {
    to: "command",
    name: "review.close-case",
    entity: caseId,
    data: { reason: data.reason, changedAt: data.at },
  },
  ...standing(state).map(({ subCaseId }) => toGroup("sub-case.suspend", { changedAt: data.at })(subCaseId)),
  ...noteFlight(state, caseId, "ELSEWHERE"),
];

const reopened = (
  state: CaseState,
  caseId: string,
  { type, data }: Extract<CaseEvent, { type: "case.reopened" }>,
): Outgoing[] => {
  const known = knownOf(state);
  return [
    { to: "internal", type, id: caseId, caseId, data: { ...data, airport: state.airport } },
    {
      to: "command",
      name: "identity.reopen-case",
      entity: caseId,
      data: { closedAt: data.closedAt, changedAt: data.at },
    },
    { to: "command", name: "review.reopen-case", entity: caseId, data: { changedAt: data.at } },
    ...standing(state).map(({ subCaseId }, i) =>
      toGroup("sub-case.resume", { changedAt: data.at, known: known[i] })(subCaseId),
    ),
    ...(state.awaiting?.step === "wave" ? [] : reissued(state, caseId)),
    ...freezeCheck(state, caseId),
    ...correctionCheck(state, caseId),
    ...noteFlight(state, caseId, "OPENED"),
  ];
};

/** For whoever watches: told at every change, whatever has caused it. */
export const statusChanged = (
  caseId: string,
  before: CaseState | undefined,
  { status, airport }: CaseState,
): Outgoing[] =>
  before === undefined || before.status === status
    ? []
    : [
        {
          to: "internal",
          type: "case.status-changed",
          id: caseId,
          caseId,
          data: { caseUrn: urn("case", caseId), airport, from: before.status, to: status },
        },
      ];
