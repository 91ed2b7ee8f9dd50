/** Owns which rule answers which command to a case; the rules stand in intake, planning and progress. */
import { flightKeyOf, type OpenDetected } from "../../schemas/flight.ts";
import { Problem } from "../../schemas/problems.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { decideBookRooms, decideNoteOverride, decideRerun, withRenewed } from "./booking.ts";
import { decideClose, decideReopen } from "./closing.ts";
import {
  decideAmendDetected,
  decideMissManifest,
  decideOpenDetected,
  decideWithdrawDetected,
  takenInHand,
} from "./detected.ts";
import { flightIn } from "./detected-state.ts";
import { decideOpen, decideProvisioned, reissueAfterMs } from "./intake.ts";
import { decideAmendManifest, decideApplyCorrection } from "./manifest-patch.ts";
import {
  type DemandTerms,
  decideAllocate,
  decideApplyFreeze,
  decideApprove,
  decidePlan,
  decideReject,
  decideRequestDemand,
  runBatch,
  thenPlace,
} from "./planning.ts";
import { decidePrioritise } from "./priority.ts";
import { decideNoteGroup, decideNoteWave } from "./progress.ts";
import { decideReaccommodate, decideReplaceGroup } from "./reaccommodate.ts";
import { decideRegroup } from "./regroup.ts";
import { decideRelax } from "./relax.ts";
import { decideNoteReview } from "./review-notes.ts";
import type { CaseEvent, CaseState } from "./state.ts";

export const commands = [
  "open",
  "open-manually",
  "open-first",
  "open-manually-first",
  "open-detected",
  "amend-detected",
  "withdraw-detected",
  "miss-manifest",
  "note-provisioned",
  "plan",
  "request-demand",
  "approve-demand",
  "reject-demand",
  "apply-freeze",
  "allocate",
  "rerun",
  "relax",
  "book-rooms",
  "note-override",
  "split-group",
  "merge-groups",
  "group-passengers",
  "reaccommodate",
  "replace-group",
  "amend-manifest",
  "add-passengers",
  "take-push",
  "apply-correction",
  "prioritise",
  "note-wave",
  "note-group",
  "note-review",
  "close",
  "reopen",
  "reissue",
] as const;

export const decide = (state: CaseState | undefined, command: Received, gathered: unknown): CaseEvent[] => {
  const events = decideVerb(state, command, gathered);
  if (state === undefined || events.length === 0) return events;
  return thenPlace(state, command, [...events, ...takenInHand(state, command, events)]);
};

type Verb = (typeof commands)[number];

const isOpening = (verb: Verb): verb is Extract<Verb, `open${"" | "-manually"}${"" | "-first"}`> =>
  /^open(-manually)?(-first)?$/.test(verb);

const decideVerb = (state: CaseState | undefined, command: Received, gathered: unknown): CaseEvent[] => {
  const verb = command.name.slice("case.".length) as Verb;
  if (isOpening(verb)) return decideOpen(state, command);
  if (verb === "open-detected")
    return decideOpenDetected(state, command, flightKeyOf(flightIn((command.data as OpenDetected).flight)));
  if (verb === "note-provisioned") return decideProvisioned(state, command);
  const system = command.principal.surface === "system";
  if (state === undefined) {
    if (system) throw new NotYet("The case does not exist yet.");
    throw new Problem("not-found/resource", "No such case.");
  }
  // Drills don't exist for partners, closed ones no more than others.
  if (command.principal.surface === "partner" && state.kind !== undefined)
    throw new Problem("not-found/resource", "No such case.");
  requireAirport(command.principal, state.airport);
  if (verb === "reopen") return decideReopen(state, command);
  // A person's word counts also when it arrives after the closing; nothing follows from it until the case is open again.
  if (verb === "note-review") return decideNoteReview(state, command, gathered);
  if (state.status === "CLOSED") {
    if (system) return [];
    throw new Problem("conflict/state", "A closed case takes no further change.", { state: "CLOSED" });
  }
  switch (verb) {
    case "plan":
      return decidePlan(state, command, gathered);
    case "request-demand": {
      const { policies, freeze } = gathered as DemandTerms;
      return withRenewed(state, policies, (now) => decideRequestDemand(now, command, freeze));
    }
    case "approve-demand": {
      const { policies, freeze } = gathered as DemandTerms;
      return withRenewed(state, policies, (now) => decideApprove(now, command, freeze));
    }
    case "apply-freeze":
      return decideApplyFreeze(state, command, gathered);
    case "reject-demand":
      return decideReject(state, command);
    case "allocate":
      return decideAllocate(state, command);
    case "rerun":
      return decideRerun(state, command);
    case "relax":
      return withRenewed(state, (gathered as DemandTerms).policies, (now) => decideRelax(now, command));
    case "book-rooms":
      return decideBookRooms(state, command);
    case "note-override":
      return decideNoteOverride(state, command);
    case "split-group":
    case "merge-groups":
    case "group-passengers":
      return decideRegroup(state, command, gathered);
    case "reaccommodate":
      return decideReaccommodate(state, command, gathered);
    case "replace-group":
      return decideReplaceGroup(state, command);
    case "amend-detected":
      return decideAmendDetected(state, command);
    case "withdraw-detected":
      return decideWithdrawDetected(state, command);
    case "miss-manifest":
      return decideMissManifest(state, command);
    case "amend-manifest":
    case "add-passengers":
    case "take-push":
      return decideAmendManifest(state, command, gathered);
    case "apply-correction":
      return decideApplyCorrection(state, command, gathered);
    case "prioritise":
      return decidePrioritise(state, command, gathered);
    case "note-wave":
      return decideNoteWave(state, command);
    case "note-group":
      return decideNoteGroup(state, command);
    case "close":
      return decideClose(command);
    case "reissue":
      return decideReissue(state, command);
    default:
      return verb satisfies never;
  }
};

/** The step has not answered in time: its command is sent again, under a new id. */
const decideReissue = (state: CaseState, command: Received): CaseEvent[] => {
  if (state.awaiting === undefined || state.awaiting.dueAt > command.now) return [];
  if (state.awaiting.step === "batch") return runBatch(state, command);
  return [{ type: "case.step-reissued", data: { dueAt: new Date(command.now.getTime() + reissueAfterMs) } }];
};
