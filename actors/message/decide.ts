/** Owns what becomes of a message: whose turn it is, when the next number is tried, and when nobody is left. */
import type { MessageStatusReport } from "../../schemas/message.ts";
import type { VendorAnswer, VendorCall } from "../../schemas/vendor-call.ts";
import type { Channel } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import { type CallSettings, endOf, firstCall, reissued } from "../runtime/vendor-call.ts";
import {
  type Asked,
  type Attempt,
  attemptOf,
  attemptReference,
  evolveMessage,
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
}

export interface MessageSettings extends CallSettings {
  /** A carrier that tells nothing of what it has been sent: doubtful, it is asked so often in all, then it counts as failed. */
  doubtfulTriesMax(vendor: string): number;
}

export const messageCommands = ["send", "compose", "record-answer", "note-status", "reissue-call"] as const;

/** A carrier that cannot take it is asked so often before the next number's turn. */
const triesMax = 3;

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
        ...(asked === undefined ? {} : { asked }),
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
        noteStatus(writing, command.data as MessageStatusReport);
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

/** The next number's turn, or the end. */
const goOn = (writing: Writing): void => {
  const { gathered, now, settings } = writing;
  for (;;) {
    const n = writing.state.attempts.findIndex(({ status }) => status === "PLANNED");
    if (n === -1 || gathered.caseIsClosed) {
      giveUp(writing);
      return;
    }
    const { channel, mark } = writing.state.attempts[n] as Attempt;
    if (!gathered.optedOut.has(optOutKey(channel, mark))) {
      writing.tell({ type: "attempt.begun", data: { at: now, call: { n, ...firstCall(now, settings) } } });
      return;
    }
    const detail = "The recipient has opted out.";
    writing.tell({ type: "attempt.failed", data: { n, at: now, status: "SUPPRESSED", detail } });
  }
};

const detailCharactersMax = 300;

const giveUp = (writing: Writing): void => {
  const { state, now, gathered } = writing;
  if (state.givenUpAt !== undefined) return;
  const knownBefore = state.outcome !== undefined;
  const tried = state.attempts.filter(({ status }) => status !== "PLANNED");
  const why = gathered.caseIsClosed
    ? "The case is closed."
    : tried.map(({ channel, status, detail }) => `${channel}: ${detail ?? status}`).join(" ");
  const code = tried.length === 0 ? "NO_CONTACT" : (lastTried(state)?.status ?? "FAILED");
  const detail = (why === "" ? "Nobody can be written to." : why).slice(0, detailCharactersMax);
  // Whoever has sent it by hand has that in their answer.
  const isKnown = state.requested !== undefined && writing.events[0]?.type === "message.queued";
  const silent = gathered.caseIsClosed || isKnown;
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
  const end = endOf<MessageCall>(state.call, 0, answer, { now, triesMax });
  if (end.end === "later") writing.tell({ type: "attempt.postponed", data: { call: end.call } });
  if (end.end !== "refused") return;
  const status = end.code === "OPTED_OUT" ? "SUPPRESSED" : "FAILED";
  writing.tell({ type: "attempt.failed", data: { n, at: now, status, detail: end.detail } });
  goOn(writing);
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

/** What a carrier tells of a message it has, whether or not its answer has been heard. Told twice, or late, it is the same. */
const noteStatus = (writing: Writing, { reference, state: told, at }: MessageStatusReport): void => {
  const n = attemptOf(reference)?.n ?? -1;
  const attempt = writing.state.attempts[n];
  if (attempt === undefined || attempt.status === "PLANNED") return;
  // A carrier's clock may run ahead of ours.
  const when = new Date(Math.min(Date.parse(at), writing.now.getTime()));
  const before = attempt.told?.[told];
  if (before !== undefined && before >= when) return;
  if (told !== "opted-out") taken(writing, n);
  writing.tell({ type: "attempt.noted", data: { n, state: told, at: when } });
  const bounced = writing.state.attempts[n]?.status === "BOUNCED" && attempt.status !== "BOUNCED";
  const isLast = writing.state.attempts.slice(n + 1).every(({ status }) => status === "PLANNED");
  if (bounced && isLast) goOn(writing);
};

/** The timer: sends a postponed call, and puts one without an answer in doubt. */
const reissueCall = (writing: Writing): void => {
  const { state, now, settings, gathered } = writing;
  const { call } = state;
  if (call === undefined || call.dueAt > now) return;
  const next = reissued(call, now, settings);
  const { vendor } = state.attempts[call.n] as Attempt;
  const fail = (detail: string): void => {
    writing.tell({ type: "attempt.failed", data: { n: call.n, at: now, status: "FAILED", detail } });
    goOn(writing);
  };
  if (gathered.caseIsClosed) fail("The case is closed.");
  else if (next.doubt && next.tries > settings.doubtfulTriesMax(vendor))
    fail("Nobody knows whether it was sent.");
  else writing.tell({ type: "attempt.reissued", data: { call: next } });
};
