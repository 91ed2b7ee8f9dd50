/** Owns what becomes of a message: whose turn it is, when the next number is tried, and when nobody is left. */
import { carrierSkewMsMax, type MessageStatusReport, type NoticeFacts } from "../../schemas/message.ts";
import type { VendorAnswer, VendorCall } from "../../schemas/vendor-call.ts";
import type { Channel } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import { type CallSettings, endOf, firstCall, jitteredMs, reissued } from "../runtime/vendor-call.ts";
import { tellSame } from "./facts.ts";
import {
  type Asked,
  type Attempt,
  attemptOf,
  attemptReference,
  evolveMessage,
  hasArrived,
  lastTried,
  type MessageCall,
  type MessageEvent,
  type MessageState,
} from "./state.ts";

/** What a decision goes by beside the message itself. */
export interface Gathered {
  /** The message as it begins; set where there is none yet. */
  begun?: Omit<MessageState, "messageId" | "queuedAt" | "asked">;
  /** `<channel> <mark>` of those who have opted out. */
  optedOut: ReadonlySet<string>;
  /** Nobody of a closed case is written to any more. */
  caseIsClosed: boolean;
  /** Why the message has nothing to tell as it begins. */
  untellable?: string;
  /** The group as it is now, where a message that has begun may go on; null: it is no more. */
  present?: Present | null;
}

export interface Present {
  passengerUrns: ReadonlySet<string>;
  /** `optOutKey` of all numbers and addresses. */
  contacts: ReadonlySet<string>;
  /** As it is, and as it will be. */
  facts: readonly NoticeFacts[];
}

export interface MessageSettings extends CallSettings {
  /** A carrier that cannot be asked what it has: doubtful, it is sent the message so often in all, then it counts as failed. */
  doubtfulTriesMax(vendor: string): number;
  /** Times `stepDeadlineMs`, of this carrier's calls: some of them stand in a long queue. */
  patience(vendor: string): number;
}

export const messageCommands = ["send", "compose", "record-answer", "note-status", "reissue-call"] as const;

/** A carrier that cannot take it is asked so often before another one's turn. */
const triesMax = 3;
/** With nobody else to carry it: with waits of up to a minute, some three minutes. */
const triesMaxOfLast = 10;
/** So often one is asked what it has, while somebody waits or there is another way. */
const doubtfulTriesMax = 5;
/** A carrier may ask for more patience than that; so much it gets. */
const retryAfterMsMax = 300_000;
/** Times `stepDeadlineMs`: longer nobody is kept waiting for an answer. */
const answerPatience = 10;
/** What is told later than this helps nobody. */
const tellableMs = 12 * 3_600_000;

export const optOutKey = (channel: Channel, mark: string): string => `${channel} ${mark}`;

/** Collects events while following the state that they lead to. */
class Writing {
  readonly events: MessageEvent[] = [];
  state: MessageState;
  readonly now: Date;
  readonly settings: MessageSettings;
  readonly gathered: Gathered;

  constructor(state: MessageState, now: Date, settings: MessageSettings, gathered: Gathered | undefined) {
    this.state = state;
    this.now = now;
    this.settings = settings;
    this.gathered = gathered ?? { optedOut: new Set(), caseIsClosed: false };
  }

  tell(event: MessageEvent): void {
    this.events.push(event);
    this.state = evolveMessage(this.state, event);
  }
}

/** @param idOf the id of a message that is made now */
export const messageDecider =
  (settings: MessageSettings, idOf: (command: Received) => string) =>
  (before: MessageState | undefined, command: Received, gathered: unknown): MessageEvent[] => {
    const seen = gathered as Gathered | undefined;
    const verb = command.name.slice("message.".length) as (typeof messageCommands)[number];
    const { now } = command;
    if (before === undefined) {
      if ((verb !== "send" && verb !== "compose") || seen?.begun === undefined) return [];
      const asked = verb === "send" ? askedOf(command.data as VendorCall) : undefined;
      const queued: MessageState = {
        messageId: idOf(command),
        ...seen.begun,
        queuedAt: now,
        ...(asked === undefined
          ? {}
          : { asked, answerBy: new Date(now.getTime() + answerPatience * settings.stepDeadlineMs) }),
      };
      const writing = new Writing(queued, now, settings, seen);
      writing.events.push({ type: "message.queued", data: queued });
      goOn(writing);
      return writing.events;
    }
    const writing = new Writing(before, now, settings, seen);
    switch (verb) {
      case "send":
        askAgain(writing, askedOf(command.data as VendorCall));
        break;
      case "compose":
        break;
      case "record-answer":
        takeAnswer(writing, command.data as VendorAnswer);
        break;
      case "note-status":
        noteStatus(writing, command.data as MessageStatusReport, command.id);
        break;
      case "reissue-call":
        reissueCall(writing);
        break;
      default:
        verb satisfies never;
    }
    return writing.events;
  };

const askedOf = ({ reference, tries, again, replyTo }: VendorCall): Asked => ({
  reference,
  tries,
  ...(again === undefined ? {} : { again }),
  replyTo,
});

/** A saga that has not heard asks again: what is known it is told again. */
const askAgain = (writing: Writing, asked: Asked): void => {
  const { state } = writing;
  if (state.asked !== undefined && state.asked.tries > asked.tries) return;
  writing.tell({ type: state.outcome === undefined ? "message.asked" : "message.answered", data: { asked } });
};

/** Whoever waits hears how it went, once it is known; of what comes later the log tells. */
const answerOnce = (writing: Writing, knownBefore: boolean): void => {
  const { asked, outcome } = writing.state;
  if (!knownBefore && outcome !== undefined && asked !== undefined)
    writing.tell({ type: "message.answered", data: { asked } });
};

/** Of the calls to this carrier. */
const callSettings = ({ settings, state }: Writing, n: number): CallSettings => ({
  stepDeadlineMs: settings.stepDeadlineMs * settings.patience((state.attempts[n] as Attempt).vendor),
});

/** The next number's turn, or the end. Once somebody has it nothing more is written. */
const goOn = (writing: Writing): void => {
  if (hasArrived(writing.state) || writing.state.givenUpAt !== undefined) return;
  const over = overBecause(writing);
  if (over !== undefined) {
    giveUp(writing, over);
    return;
  }
  const { now } = writing;
  for (;;) {
    const n = writing.state.attempts.findIndex(({ status }) => status === "PLANNED");
    if (n === -1) {
      giveUp(writing);
      return;
    }
    const ended = notTried(writing, writing.state.attempts[n] as Attempt);
    if (ended === undefined) {
      const call = { n, ...firstCall(now, callSettings(writing, n)) };
      writing.tell({ type: "attempt.begun", data: { at: now, call } });
      return;
    }
    writing.tell({ type: "attempt.failed", data: { n, at: now, ...ended } });
  }
};

interface Over {
  code: string;
  detail: string;
  /** Nobody has to see to it. */
  silent: boolean;
}

/** Why nobody at all is written to any more; undefined: whoever's turn it is, is. */
const overBecause = ({ state, now, gathered }: Writing): Over | undefined => {
  const { caseIsClosed, untellable, present } = gathered;
  if (caseIsClosed) return { code: "CASE_CLOSED", detail: "The case is closed.", silent: true };
  if (untellable !== undefined) return { code: "NOTHING_TO_TELL", detail: untellable, silent: true };
  const isSo =
    present === undefined ||
    present?.facts.some((facts) => tellSame(state.template, facts, state.facts)) === true;
  if (!isSo) return { code: "OUTDATED", detail: "What it tells is no longer so.", silent: true };
  return now.getTime() - state.queuedAt.getTime() > tellableMs
    ? { code: "EXPIRED", detail: "It comes too late.", silent: true }
    : undefined;
};

/** Why this number or address is passed over; undefined: it is not. */
const notTried = (
  { gathered: { optedOut, present } }: Writing,
  { channel, mark, passengerUrn }: Attempt,
): { status: "FAILED" | "SUPPRESSED"; detail: string } | undefined => {
  const key = optOutKey(channel, mark);
  if (optedOut.has(key)) return { status: "SUPPRESSED", detail: "The recipient has opted out." };
  const isThere = !present || (present.passengerUrns.has(passengerUrn) && present.contacts.has(key));
  return isThere
    ? undefined
    : { status: "FAILED", detail: "The group has no such number or address any more." };
};

const detailCharactersMax = 300;

const giveUp = (writing: Writing, over?: Over): void => {
  const { state, now } = writing;
  const knownBefore = state.outcome !== undefined;
  const tried = state.attempts.filter(({ status }) => status !== "PLANNED");
  const why =
    over?.detail ?? tried.map(({ channel, status, detail }) => `${channel}: ${detail ?? status}`).join(" ");
  const code = over?.code ?? (tried.length === 0 ? "NO_CONTACT" : (lastTried(state)?.status ?? "FAILED"));
  const detail = (why === "" ? "Nobody can be written to." : why).slice(0, detailCharactersMax);
  // Whoever has sent it by hand has that in their answer.
  const isKnown = state.requested !== undefined && writing.events[0]?.type === "message.queued";
  const silent = over?.silent === true || isKnown;
  writing.tell({ type: "message.given-up", data: { at: now, code, detail, silent } });
  answerOnce(writing, knownBefore);
};

const takeAnswer = (writing: Writing, answer: VendorAnswer): void => {
  const { state, now } = writing;
  const n = attemptOf(answer.reference)?.n ?? -1;
  const attempt = state.attempts[n];
  if (attempt === undefined || answer.reference !== attemptReference(state, n)) return;
  if (answer.outcome === "done") {
    const { messageId } = (answer.result ?? {}) as { messageId?: string };
    taken(writing, n, messageId);
    return;
  }
  if (state.call?.n !== n) return;
  const end = endOf<MessageCall>(state.call, 0, answer, { now, triesMax: triesAllowed(state, n) });
  if (end.end === "later") {
    const call = { ...end.call, dueAt: notBefore(end.call, now, answer) };
    writing.tell({ type: "attempt.postponed", data: { call } });
  }
  if (end.end !== "refused") return;
  const status = end.code === "OPTED_OUT" ? "SUPPRESSED" : "FAILED";
  const also = {
    ...(answer.outcome === "refused" ? {} : { unanswered: true as const }),
    ...(status === "SUPPRESSED" ? { optedOut: true as const } : {}),
  };
  writing.tell({ type: "attempt.failed", data: { n, at: now, status, detail: end.detail, ...also } });
  goOn(writing);
};

/** With whom nobody else can take its place, patience is longer; a carrier that has used it up is asked once for each other number. */
const triesAllowed = ({ attempts }: MessageState, n: number): number => {
  const { vendor } = attempts[n] as Attempt;
  if (attempts.some((one) => one.vendor === vendor && one.unanswered)) return 1;
  const another = attempts.some((one) => one.status === "PLANNED" && one.vendor !== vendor);
  return another ? triesMax : triesMaxOfLast;
};

/** Many are told to come back after the same time: each comes a little later, as without being told. */
const notBefore = ({ dueAt, tries }: MessageCall, now: Date, answer: VendorAnswer): Date => {
  const { reference, retryAfterMs = 0 } = answer;
  const waitMs = jitteredMs(Math.min(retryAfterMs, retryAfterMsMax), reference, tries);
  return new Date(Math.max(dueAt.getTime(), now.getTime() + waitMs));
};

/** Also one that had been given up: the log says what is so. */
const taken = (writing: Writing, n: number, carrierId?: string): void => {
  const { state, now } = writing;
  const { sentAt, status } = state.attempts[n] as Attempt;
  if (sentAt !== undefined || status === "PLANNED") return;
  const knownBefore = state.outcome !== undefined;
  const id = carrierId === undefined ? {} : { carrierId };
  writing.tell({ type: "attempt.sent", data: { n, at: now, ...id } });
  answerOnce(writing, knownBefore);
};

/**
 * What a carrier tells of a message it has, whether or not its answer has been heard. Told twice, or late, it is the same; of another's
 * messages it has nothing to tell.
 * @param toldId the same whenever the same is told again
 */
const noteStatus = (
  writing: Writing,
  { vendor, reference = "", state: told, at, detail }: MessageStatusReport,
  toldId: string,
): void => {
  const n = attemptOf(reference)?.n ?? -1;
  const attempt = writing.state.attempts[n];
  if (attempt === undefined || attempt.status === "PLANNED" || attempt.vendor !== vendor) return;
  // A carrier's clock may run ahead of ours: the order of what it tells is its own all the same.
  const when = new Date(Math.min(Date.parse(at), writing.now.getTime() + carrierSkewMsMax));
  const before = attempt.told?.[told];
  if (before !== undefined && before >= when) return;
  const isOptWord = told === "opted-out" || told === "opted-in";
  if (!isOptWord) taken(writing, n);
  const more = {
    ...(when > writing.now && { shownAt: writing.now }),
    ...(detail !== undefined && { detail }),
    ...(isOptWord && { toldId }),
  };
  writing.tell({ type: "attempt.noted", data: { n, state: told, at: when, ...more } });
  const bounced = writing.state.attempts[n]?.status === "BOUNCED" && attempt.status !== "BOUNCED";
  if (bounced && writing.state.call === undefined) goOn(writing);
};

/** The timer: sends a postponed call, puts one without an answer in doubt, and answers who has waited long enough. */
const reissueCall = (writing: Writing): void => {
  const { state, now } = writing;
  const { call } = state;
  if (call !== undefined && call.dueAt <= now) sendAgain(writing, call);
  const { answerBy, outcome, asked } = writing.state;
  if (answerBy === undefined || answerBy > now || outcome !== undefined || asked === undefined) return;
  const detail = "No carrier has taken it yet; it is still being tried.";
  writing.tell({ type: "message.overdue", data: { code: "UNAVAILABLE", detail } });
  answerOnce(writing, false);
};

const sendAgain = (writing: Writing, call: MessageCall): void => {
  const { state, now, settings } = writing;
  const { n } = call;
  const next = reissued(call, now, callSettings(writing, n));
  const doubtfulTries = (call.doubtfulTries ?? 0) + (next.doubt ? 1 : 0);
  const ended = notSentAgain(writing, state.attempts[n] as Attempt, { ...next, doubtfulTries }, settings);
  if (ended === undefined) {
    const again = next.doubt ? { ...next, doubtfulTries } : next;
    writing.tell({ type: "attempt.reissued", data: { call: again } });
    return;
  }
  writing.tell({ type: "attempt.failed", data: { n, at: now, ...ended } });
  goOn(writing);
};

type Ended = Omit<Extract<MessageEvent, { type: "attempt.failed" }>["data"], "n" | "at">;

/** Why it is not sent again; undefined: it is. Whether a carrier has it is asked also of somebody who wants nothing more. */
const notSentAgain = (
  writing: Writing,
  attempt: Attempt,
  next: MessageCall & { doubtfulTries: number },
  settings: MessageSettings,
): Ended | undefined => {
  const { state, gathered } = writing;
  if (gathered.caseIsClosed) return { status: "FAILED", detail: "The case is closed." };
  if (!next.doubt) {
    if (hasArrived(state)) return { status: "FAILED", detail: "It has arrived by another way." };
    const over = overBecause(writing);
    return over === undefined ? notTried(writing, attempt) : { status: "FAILED", detail: over.detail };
  }
  const isWaitedFor = state.asked !== undefined && state.outcome === undefined;
  const others = state.attempts.some(({ status }) => status === "PLANNED");
  const isTooLate = writing.now.getTime() - state.queuedAt.getTime() > tellableMs;
  const max = Math.min(
    settings.doubtfulTriesMax(attempt.vendor),
    isWaitedFor || others ? doubtfulTriesMax : Number.POSITIVE_INFINITY,
  );
  return next.doubtfulTries > max || isTooLate
    ? { status: "FAILED", detail: "Nobody knows whether it was sent.", unanswered: true }
    : undefined;
};
