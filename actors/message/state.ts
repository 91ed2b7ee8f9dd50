/** Owns what a message is: one thing told to one group or passenger, tried number by number until somebody has taken it. */
import type { CaseKind } from "../../schemas/drill.ts";
import type { MessageState as CarrierState } from "../../schemas/message.ts";
import type { NotificationStatus, NotificationTemplate } from "../../schemas/notification.ts";
import type { VendorCall } from "../../schemas/vendor-call.ts";
import type { Channel, Language } from "../../schemas/vocabulary.ts";
import type { Sealed } from "../runtime/seal.ts";
import type { PendingCall } from "../runtime/vendor-call.ts";
import type { MessageFacts } from "./facts.ts";

/** One number or address in one channel. */
export interface Attempt {
  channel: Channel;
  /** Who carries it. */
  vendor: string;
  passengerUrn: string;
  /** Absent: the message's. */
  language?: Language;
  /** Masked. */
  recipient: string;
  /** Absent: it cannot be tried again. */
  contact?: Sealed;
  /** Of the contact, the same for the same one in every case of the airline: what an opt-out is found by. */
  mark: string;
  /** Digest of the token in its link, which logs its reader in. Absent: it has no link. */
  link?: string;
  /** PLANNED: its turn has not come. */
  status: "PLANNED" | NotificationStatus;
  /** Of that status. */
  at?: Date;
  sentAt?: Date;
  /** What the carrier has told, by its own clock: the latest of each kind. */
  told?: Partial<Record<CarrierState, Date>>;
  /** Of what its clock was ahead of ours in: when we heard it, which is what is shown. */
  shown?: Partial<Record<CarrierState, Date>>;
  /** The carrier's own id. */
  carrierId?: string;
  detail?: string;
  /** Set: its carrier was away, or told nothing, until it was given up. */
  unanswered?: true;
}

/** The call under way, for the attempt with this index. */
export interface MessageCall extends PendingCall {
  n: number;
  /** Of its tries, those that were in doubt when they were sent. Absent: none. */
  doubtfulTries?: number;
}

/** Who waits for an answer: a saga, as for a vendor's. */
export type Asked = Pick<VendorCall, "reference" | "tries" | "again" | "replyTo">;

export type Outcome =
  | { outcome: "done"; at: Date; channel: Channel; recipient: string }
  | { outcome: "refused"; code: string; detail: string };

export interface MessageState {
  messageId: string;
  /** Ours, of the order. Each attempt's is this with its number, from 1. */
  reference: string;
  caseId: string;
  subCaseId: string;
  groupId: string;
  /** Set: of a drill or shadow case. No real carrier is asked. */
  kind?: CaseKind;
  airport: string;
  template: NotificationTemplate;
  /** Of whoever is tried first. */
  language: Language;
  facts: MessageFacts;
  /** Set: a person has sent it to this passenger alone. */
  onlyFor?: string;
  /** A person wants it in these alone. Absent: in any. */
  channels?: Channel[];
  /** In the order in which they are tried. */
  attempts: Attempt[];
  call?: MessageCall;
  asked?: Asked;
  /** Whoever asked is answered by then, whatever is known. Absent: nobody waits. */
  answerBy?: Date;
  /** What whoever asked was told, or would have been; absent: not known yet. */
  outcome?: Outcome;
  queuedAt: Date;
  /** When a carrier first took it. */
  sentAt?: Date;
  /** Set: no attempt is left. */
  givenUpAt?: Date;
  /** Why; one of `notificationReasons`. */
  endCode?: string;
  /** Set while nothing of it is under way; its document goes {@link keptSeconds} later. */
  endedAt?: Date;
  /** Absent: the service itself. */
  requested?: { by: string; reason: string };
}

/** Ninety days. */
export const keptSeconds = 90 * 86_400;

export type MessageEvent =
  | { type: "message.queued"; data: MessageState }
  | { type: "message.asked"; data: { asked: Asked } }
  /** The outcome as it stands after the decision is told to whoever asks. */
  | { type: "message.answered"; data: { asked: Asked } }
  /** Whoever asked has waited long enough; it is tried on all the same. */
  | { type: "message.overdue"; data: { code: string; detail: string } }
  /** `silent`: nobody has to see to it, as the case is closed, or as whoever has sent it by hand knows at once. */
  | { type: "message.given-up"; data: { at: Date; code: string; detail: string; silent: boolean } }
  | { type: "attempt.begun"; data: { at: Date; call: MessageCall } }
  | { type: "attempt.postponed"; data: { call: MessageCall } }
  | { type: "attempt.reissued"; data: { call: MessageCall } }
  | { type: "attempt.sent"; data: { n: number; at: Date; carrierId?: string } }
  | {
      type: "attempt.failed";
      data: {
        n: number;
        at: Date;
        status: "FAILED" | "SUPPRESSED";
        detail: string;
        unanswered?: true;
        /** Set: the carrier says that its recipient has opted out, and it was not known here. */
        optedOut?: true;
      };
    }
  | {
      type: "attempt.noted";
      data: {
        n: number;
        state: CarrierState;
        /** By the carrier's clock. */
        at: Date;
        /** Set: that is ahead of ours, and this is shown. */
        shownAt?: Date;
        detail?: string;
        /** Of a wish: whose repeat is no new one. */
        toldId?: string;
      };
    };

/** Calls sent again, and a saga that asks again, are work under way. */
export const technicalEvents: ReadonlySet<string> = new Set<MessageEvent["type"]>([
  "message.asked",
  "message.answered",
  "message.overdue",
  "attempt.postponed",
  "attempt.reissued",
]);

const without = <K extends keyof MessageState>(state: MessageState, key: K): MessageState => {
  const { [key]: _, ...rest } = state;
  return rest as MessageState;
};

const withAttempt = (state: MessageState, n: number, change: Partial<Attempt>): MessageState => ({
  ...state,
  attempts: state.attempts.map((attempt, i) => (i === n ? { ...attempt, ...change } : attempt)),
});

const withoutContact = ({ contact: _, ...attempt }: Attempt): Attempt => attempt;

/** The same without the number or address of this attempt, or of all: nobody writes there any more. */
const forgotten = (state: MessageState, n?: number): MessageState => ({
  ...state,
  attempts: state.attempts.map((attempt, i) =>
    n === undefined || i === n ? withoutContact(attempt) : attempt,
  ),
});

/** A call for this attempt is over. */
const over = (state: MessageState, n: number): MessageState =>
  state.call?.n === n ? without(state, "call") : state;

/** Of what was told, in whichever order: it has arrived unless it came back afterwards; who answers has it. */
const statusTold = (
  { told = {}, shown = {} }: Pick<Attempt, "told" | "shown">,
  sentAt: Date,
): Pick<Attempt, "status" | "at"> => {
  const { delivered, replied, bounced } = told;
  const last: CarrierState =
    replied !== undefined && (delivered === undefined || replied > delivered) ? "replied" : "delivered";
  const arrived = told[last];
  if (bounced !== undefined && (arrived === undefined || bounced >= arrived))
    return { status: "BOUNCED", at: shown.bounced ?? bounced };
  return arrived === undefined
    ? { status: "SENT", at: sentAt }
    : { status: "DELIVERED", at: shown[last] ?? arrived };
};

/** When its reader answered, as it is shown; undefined: they have not. */
export const repliedAt = ({ told, shown }: Attempt): Date | undefined => shown?.replied ?? told?.replied;

const sent = (state: MessageState, { n, at, carrierId }: { n: number; at: Date; carrierId?: string }) => {
  const attempt = state.attempts[n] as Attempt;
  const { channel, recipient } = attempt;
  const taken = withAttempt(forgotten(over(state, n), n), n, {
    ...statusTold(attempt, at),
    sentAt: at,
    ...(carrierId === undefined ? {} : { carrierId }),
  });
  return {
    ...taken,
    sentAt: state.sentAt ?? at,
    ...(state.call === undefined || state.call.n === n ? { endedAt: at } : {}),
    outcome: state.outcome ?? { outcome: "done" as const, at, channel, recipient },
  };
};

export const evolveMessage = (before: MessageState | undefined, event: MessageEvent): MessageState => {
  if (event.type === "message.queued") return event.data;
  const state = before as MessageState;
  switch (event.type) {
    case "message.asked":
    case "message.answered":
      return { ...state, asked: event.data.asked };
    case "message.given-up": {
      const { at, code, detail } = event.data;
      return {
        ...forgotten(state),
        givenUpAt: at,
        endCode: code,
        endedAt: at,
        outcome: state.outcome ?? { outcome: "refused", code, detail },
      };
    }
    case "message.overdue":
      return { ...state, outcome: { outcome: "refused", ...event.data } };
    case "attempt.begun": {
      const { at, call } = event.data;
      return { ...without(withAttempt(state, call.n, { status: "QUEUED", at }), "endedAt"), call };
    }
    case "attempt.postponed":
    case "attempt.reissued":
      return { ...state, call: event.data.call };
    case "attempt.sent":
      return sent(state, event.data);
    case "attempt.failed": {
      const { n, at, status, detail, unanswered } = event.data;
      const failed = withAttempt(forgotten(over(state, n), n), n, {
        ...{ status, at, detail },
        ...(unanswered === undefined ? {} : { unanswered }),
      });
      // Somebody else has it: nothing follows.
      return hasArrived(failed) && failed.call === undefined ? { ...failed, endedAt: at } : failed;
    }
    case "attempt.noted": {
      const { n, state: what, at, shownAt, detail } = event.data;
      const attempt = state.attempts[n] as Attempt;
      const { [what]: _, ...others } = attempt.shown ?? {};
      const shown = shownAt === undefined ? others : { ...others, [what]: shownAt };
      const all = { told: { ...attempt.told, [what]: at }, shown };
      const status = attempt.sentAt === undefined ? {} : statusTold(all, attempt.sentAt);
      const why = what === "bounced" && detail !== undefined ? { detail } : {};
      const kept = shownAt === undefined && attempt.shown === undefined ? { told: all.told } : all;
      return withAttempt(state, n, { ...kept, ...status, ...why });
    }
    default:
      return event satisfies never;
  }
};

/** A carrier has it, and it has not come back. */
export const hasArrived = ({ attempts }: Pick<MessageState, "attempts">): boolean =>
  attempts.some(({ status }) => status === "SENT" || status === "DELIVERED");

/** In which it is written. */
export const languageOf = (message: Pick<MessageState, "language">, { language }: Attempt): Language =>
  language ?? message.language;

/** The one that was tried last; undefined: none could be. */
export const lastTried = ({ attempts }: Pick<MessageState, "attempts">): Attempt | undefined =>
  attempts.findLast(({ status }) => status !== "PLANNED");

/** Of its attempt in `n`: what the carrier's idempotency key is, and what it tells of the message under. */
export const attemptReference = ({ reference }: Pick<MessageState, "reference">, n: number): string =>
  `${reference}.${n + 1}`;

/** The order's reference, and the attempt's index, of what {@link attemptReference} has made; undefined: none of ours. */
export const attemptOf = (reference: string): { reference: string; n: number } | undefined => {
  const found = /^(.+)\.(\d{1,2})$/.exec(reference);
  const [, order = "", number = ""] = found ?? [];
  return found === null ? undefined : { reference: order, n: Number(number) - 1 };
};
