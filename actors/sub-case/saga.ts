/**
 * Owns the saga of one group: hold → (pay) → book → voucher → card → transport → notify → offer, and its rollback. Only a room
 * that nobody has left fails it; a card, ride or message that cannot be had opens a review item and the saga goes on. A
 * rollback undoes what it can before it counts as failed.
 */
import type { VendorAnswer } from "../../schemas/vendor-call.ts";
import { derivedId } from "../runtime/clock.ts";
import { retryDelayMs } from "../runtime/vendor-call.ts";
import { isUnmet, isWantedAgain } from "./amend-state.ts";
import { gainedBy } from "./gains.ts";
import { currentCandidate, requestOf } from "./requests.ts";
import {
  type AmendStep,
  amendSteps,
  type Call,
  evolve,
  forwardSteps,
  type Gained,
  leaveSteps,
  rollbackSteps,
  type Step,
  type SubCaseEvent,
  type SubCaseState,
} from "./state.ts";
import type { Left } from "./switch-state.ts";

export interface SagaSettings {
  /** Without an answer for this long a call is looked up and sent again. */
  stepDeadlineMs: number;
}

/** Tries of a call that the vendor could not take, before the step counts as refused. */
const triesMax = 3;
/** A rollback is insisted on for longer: an unneeded room costs money and takes a bed from somebody. */
const rollbackTriesMax = 8;

/** Collects events while following the state that they lead to. */
export class Story {
  readonly events: SubCaseEvent[] = [];
  state: SubCaseState;
  readonly id: string;
  readonly now: Date;
  readonly settings: SagaSettings;

  constructor(id: string, state: SubCaseState, now: Date, settings: SagaSettings) {
    this.id = id;
    this.state = state;
    this.now = now;
    this.settings = settings;
  }

  tell(event: SubCaseEvent): void {
    this.events.push(event);
    this.state = evolve(this.state, event);
  }
}

/** Runs from this step on, as far as it goes without a vendor's answer. */
export const runFrom = (story: Story, step: Step): void => {
  const steps = stepsOf(story.state);
  // Whatever is rolled back, what was left behind at another hotel comes first.
  run(story, step === rollbackSteps[0] ? steps : steps.slice(steps.indexOf(step)));
};

const run = (story: Story, steps: readonly Step[]): void => {
  for (const next of steps) if (!takeStep(story, next)) return;
  if (story.state.status !== "PROCESSING") endRollback(story);
};

/**
 * What could not be undone is a person's work; the rest has been undone all the same. A payment that could not be taken
 * back on the way forward counts by its last try; what an earlier round failed to undo was told then, and is not held here.
 */
const endRollback = (story: Story): void => {
  const { id, state, now } = story;
  const { steps } = state;
  const stuck = steps.filter(
    ({ name, result }, i) =>
      isRollback(name) &&
      result === "FAILED" &&
      !steps.slice(i + 1).some((later) => later.name === name) &&
      requestOf(id, state, name, now) !== undefined,
  );
  const [first] = stuck;
  if (first === undefined) {
    if (isWantedAgain(story.state)) {
      story.tell({ type: "subcase.waits-again", data: { at: story.now } });
      return;
    }
    if (story.state.released !== undefined) {
      story.tell({ type: "subcase.not-required", data: {} });
      return;
    }
    const ended = story.state.roomLost ? "subcase.failed" : "subcase.rolled-back";
    story.tell({ type: ended, data: { at: story.now } });
    return;
  }
  const detail = stuck.map((record) => `${record.name}: ${record.detail ?? "refused"}`).join(" ");
  story.tell({ type: "subcase.compensation-failed", data: { at: story.now, step: first.name, detail } });
};

/**
 * A message of other dates keeps nothing waiting: it is left for what matters more, and written again after it. One that was
 * taken all the same is known by its reference.
 */
export const leaveNotice = (story: Story): void => {
  if (story.state.call?.step !== "notify-stay") return;
  const detail = "Something else has come up.";
  story.tell({
    type: "subcase.step-failed",
    data: { step: "notify-stay", at: story.now, result: "SKIPPED", detail },
  });
};

/** The hotel has taken the room back: what goes with it is given back, and the group needs another one. */
export const loseRoom = (story: Story): void => {
  const hotelUrn = story.state.reservation?.hotelUrn ?? "";
  story.tell({ type: "subcase.room-lost", data: { at: story.now, hotelUrn } });
  runFrom(story, rollbackSteps[0]);
};

/** Giving something back, on the way back or at a hotel that the group leaves. */
const isRollback = (step: Step): boolean =>
  (rollbackSteps as readonly Step[]).includes(step) || (leaveSteps as readonly Step[]).includes(step);

const afterVoucher = forwardSteps.indexOf("voucher") + 1;
/** With a change of hotels: once the new room is booked the old one is given back. */
const switchSteps: readonly Step[] = [
  ...forwardSteps.slice(0, afterVoucher),
  ...leaveSteps,
  ...forwardSteps.slice(afterVoucher),
];

/** In their order, what the saga is on the way through. */
const stepsOf = ({ status, left }: SubCaseState): readonly Step[] => {
  if (status === "PROCESSING") return left === undefined ? forwardSteps : switchSteps;
  return left === undefined ? rollbackSteps : [...leaveSteps, ...rollbackSteps];
};

/** True: done at once or left out, the next one can run. */
const takeStep = (story: Story, step: Step): boolean => {
  const { id, state, now } = story;
  // Dates that were changed meanwhile: what is offered is what the guests need.
  if (step === "offer" && state.wanted !== undefined && !runAmend(story)) return false;
  if (step === "offer" && state.reservation?.status === "CANCELLED") {
    loseRoom(story);
    return false;
  }
  if (step === "offer" && state.left !== undefined) {
    story.tell({ type: "subcase.switched", data: { at: now } });
    if (state.reservation?.status === "CHECKED_IN" && state.left.offer.state === "READY")
      story.tell({ type: "subcase.resolved", data: { at: now } });
    return false;
  }
  if (step === "offer") {
    story.tell({ type: "subcase.offer-ready", data: { at: now } });
    // Whom the hotel received meanwhile has accepted.
    const arrived = state.reservation?.status === "CHECKED_IN" || state.reservation?.status === "CHECKED_OUT";
    if (arrived) story.tell({ type: "subcase.resolved", data: { at: now } });
    return false;
  }
  const record = {
    stepId: derivedId(id.slice(0, id.indexOf("-")), `${id}/${step}/${state.steps.length}`, now),
    name: step,
    startedAt: now,
  };
  const own = ownWork(story, step);
  if (own !== undefined) {
    story.tell({ type: "subcase.step-started", data: { record } });
    story.tell({ type: "subcase.step-completed", data: { step, at: now, gained: own } });
    return true;
  }
  const request = requestOf(id, state, step, now);
  if (request === undefined && step === "pay" && currentCandidate(state)?.payment === "CARD") {
    nextHotel(
      story,
      "NO_CARD_VENDOR",
      "The hotel takes only cards, and the airline has no vendor that issues them.",
    );
    return false;
  }
  if (request === undefined) return true;
  const again = state.steps.filter(({ name, result }) => name === step && result === "FAILED").length;
  const call: Call = {
    ...request,
    ...(again === 0 ? {} : { again }),
    step,
    tries: 1,
    doubt: false,
    postponed: false,
    dueAt: deadline(story, 1),
  };
  story.tell({ type: "subcase.step-started", data: { record, call } });
  return false;
};

const deadlineMsMax = 600_000;

/** Doubled with each try that nobody has answered: an adapter that is away finds a few calls, not a day's worth. */
const deadline = ({ now, settings }: Story, tries: number): Date =>
  new Date(now.getTime() + Math.min(settings.stepDeadlineMs * 2 ** (tries - 1), deadlineMsMax));

/** Steps that no vendor is needed for; undefined when the step is not of that kind or has nothing to do. */
const ownWork = ({ id, state, now }: Story, step: Step): Gained | undefined => {
  const { reservation } = state;
  if (step === "cancel-room" && reservation?.byHand !== undefined && reservation.status === "CONFIRMED") {
    return { reservation: { ...reservation, status: "CANCELLED" } };
  }
  if (step === "voucher") {
    const seed = `${id}/voucher/${state.round}/${state.candidate}`;
    const voucherId = derivedId(id.slice(0, id.indexOf("-")), seed, now);
    return { voucher: { voucherId, code: voucherId.slice(-8), status: "ISSUED", issuedAt: now } };
  }
  const leaving = state.left?.reservation;
  if (step === "leave-room" && leaving?.byHand !== undefined && leaving.status === "CONFIRMED") {
    return { left: { ...(state.left as Left), reservation: { ...leaving, status: "CANCELLED" } } };
  }
  if (step === "void-voucher" && state.voucher?.status === "ISSUED") {
    return { voucher: { ...state.voucher, status: "VOID" } };
  }
  return undefined;
};

/** Takes a vendor's answer. One that fits no call under way is late or repeated, and changes nothing. */
export const takeAnswer = (story: Story, answer: VendorAnswer): void => {
  const { call } = story.state;
  if (call === undefined || call.reference !== answer.reference || call.verb !== answer.verb) return;
  // Of an earlier try only its success counts: a later one is on its way, and may yet succeed.
  if (answer.outcome !== "done" && !answersThisTry(answer, call)) return;
  const triesAllowed = isRollback(call.step) ? rollbackTriesMax : triesMax;
  // What is not wanted any more is not tried again; only whether it was done must be known.
  const wanted = story.state.released === undefined || isRollback(call.step);
  const unsettled = answer.outcome === "unavailable" && (call.doubt || (wanted && call.tries < triesAllowed));
  if (answer.outcome === "done") completed(story, call, answer.result ?? {});
  else if (answer.outcome === "in-doubt") retryLater(story, call, true);
  else if (unsettled) retryLater(story, call, call.doubt);
  else
    refused(story, call, answer.code ?? "UNAVAILABLE", answer.detail ?? "The vendor could not be reached.");
};

const answersThisTry = ({ tries, again }: VendorAnswer, call: Call): boolean =>
  tries === undefined || (tries === call.tries && again === call.again);

/** A call in doubt is never given up, it is looked up again. */
const retryLater = (story: Story, call: Call, doubt: boolean): void => {
  const dueAt = new Date(story.now.getTime() + retryDelayMs(call.reference, call.tries));
  story.tell({ type: "subcase.call-postponed", data: { call: { ...call, doubt, postponed: true, dueAt } } });
};

/** The timer of a call: sends a postponed one, and puts one without an answer in doubt. */
export const reissueCall = (story: Story): void => {
  const { call } = story.state;
  if (call !== undefined && call.dueAt <= story.now) reissue(story, call);
};

const reissue = (story: Story, call: Call): void => {
  const next = {
    ...call,
    tries: call.tries + 1,
    doubt: call.doubt || !call.postponed,
    postponed: false,
    dueAt: deadline(story, call.tries + 1),
  };
  story.tell({ type: "subcase.call-reissued", data: { call: next } });
};

const completed = (story: Story, call: Call, result: Record<string, unknown>): void => {
  story.tell({
    type: "subcase.step-completed",
    data: { step: call.step, at: story.now, gained: gainedBy(story, call, result) },
  });
  goOn(story, call.step);
};

/** While the case is closed what comes late is put on record, and nothing follows from it. */
const goOn = (story: Story, step: Step): void => {
  if (story.state.closedAt !== undefined) return;
  if (story.state.released !== undefined && !isRollback(step)) {
    runFrom(story, rollbackSteps[0]);
    return;
  }
  if (isAmend(step)) {
    const next = amendSteps[amendSteps.indexOf(step) + 1];
    const isSettled = !isUnmet(story.state);
    if (!isSettled || next === undefined || runAmend(story, next)) afterAmend(story);
    return;
  }
  // The payment of a hotel that refused after all is taken back in the middle of the way forward.
  if (step === "cancel-payment" && story.state.status === "PROCESSING") {
    tryHotel(story);
    return;
  }
  const steps = stepsOf(story.state);
  run(story, steps.slice(steps.indexOf(step) + 1));
};

/** The dates may have changed again while the hotel was asked, or the hotel has taken the room back. */
const afterAmend = (story: Story): void => {
  const { status, reservation } = story.state;
  if (status === "PROCESSING") runFrom(story, "offer");
  else if (reservation?.status === "CANCELLED") loseRoom(story);
  else if (isUnmet(story.state)) runAmend(story);
};

const isAmend = (step: Step): step is AmendStep => (amendSteps as readonly Step[]).includes(step);

/** Asks for other dates, then for what the cards of a longer stay lack. True: nothing of it is to be waited for. */
export const runAmend = (story: Story, from: AmendStep = "modify"): boolean => {
  // No vendor knows of the room: a person asks the hotel.
  if (isUnmet(story.state) && story.state.reservation?.byHand !== undefined)
    story.tell({ type: "subcase.outgrown", data: { code: "BY_HAND" } });
  return amendSteps.slice(amendSteps.indexOf(from)).every((step) => takeStep(story, step));
};

const refused = (story: Story, call: Call, code: string, detail: string): void => {
  const { step } = call;
  const result = isRollback(step) ? "FAILED" : "REFUSED";
  story.tell({ type: "subcase.step-failed", data: { step, at: story.now, result, detail } });
  if (step === "modify") story.tell({ type: "subcase.outgrown", data: { code } });
  if (isCritical(step) && story.state.released === undefined) nextHotel(story, code, detail);
  else goOn(story, step);
};

const nextHotel = (story: Story, code: string, detail: string): void => {
  const hotelUrn = currentCandidate(story.state)?.hotelUrn ?? "";
  const providerError = detail.slice(0, 300);
  story.tell({ type: "subcase.hotel-refused", data: { hotelUrn, reason: code, providerError } });
  if (story.state.closedAt === undefined) afterRefusal(story);
};

const afterRefusal = (story: Story): void => {
  if (takeStep(story, "cancel-payment")) tryHotel(story);
};

/** Begins with the candidate whose turn it is; without one the group has no room. */
const tryHotel = (story: Story): void => {
  if (currentCandidate(story.state) !== undefined) runFrom(story, "hold");
  else if (story.state.left !== undefined) abandonSwitch(story);
  else
    story.tell({
      type: wereTaken(story.state) ? "subcase.returned" : "subcase.failed",
      data: { at: story.now },
    });
};

/** No hotel of the choice has a room: the group keeps the one that it has, if it has it still. */
const abandonSwitch = (story: Story): void => {
  const hotelUrn = story.state.assignment?.candidates[0]?.hotelUrn ?? "";
  story.tell({ type: "subcase.switch-abandoned", data: { at: story.now, hotelUrn } });
  const { reservation, offer } = story.state;
  if (reservation?.status === "CANCELLED") {
    loseRoom(story);
    return;
  }
  if (reservation?.status === "CHECKED_IN" && offer.state === "READY")
    story.tell({ type: "subcase.resolved", data: { at: story.now } });
  // The dates may have changed while it tried to move.
  if (story.state.wanted !== undefined) runAmend(story);
};

/** Others were faster at every hotel, or prices have risen: a new search may find what is left, before a person is called. */
const returnsMax = 2;
const takenByOthers: ReadonlySet<string> = new Set(["SOLD_OUT", "HOLD_EXPIRED", "PRICE_CHANGED"]);

const wereTaken = ({ returns, candidate, firstCandidate, attemptedHotels }: SubCaseState): boolean => {
  const tried = attemptedHotels.slice(firstCandidate - candidate);
  return returns < returnsMax && tried.length > 0 && tried.every(({ reason }) => takenByOthers.has(reason));
};

/** The case is open again: the saga goes on where the closing stopped it. */
export const resume = (story: Story): void => {
  const { status, call, steps } = story.state;
  if (status !== "PROCESSING" && status !== "ROLLING_BACK" && call === undefined) return;
  const last = steps.at(-1);
  if (call !== undefined) reissue(story, call);
  else if (last === undefined) runFrom(story, "hold");
  else if (last.result === "REFUSED" && isCritical(last.name) && status === "PROCESSING") afterRefusal(story);
  else goOn(story, last.name);
};

const isCritical = (step: Step): boolean => step === "hold" || step === "pay" || step === "book";
