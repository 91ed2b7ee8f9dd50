/**
 * Owns Stripe Issuing's dialect: virtual cards under the airline's cardholder, whose spending limit is what is put on them. A card's
 * number is never asked for: it is shown by a page of the airline's own, which runs Issuing Elements.
 */
import { SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import type Stripe from "stripe";
import { decodeTime } from "ulid";
import type { Money } from "../../../schemas/vocabulary.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { ledgerPage, refusal, type VendorOptions } from "../http.ts";
import type {
  CallContext,
  Card,
  CardReveal,
  CardTransactionEntry,
  CardTransactionPage,
  LedgerEntry,
  LedgerPage,
  LedgerRequest,
  LoadRequest,
  LookupOutcome,
  PaymentPort,
  ReadOutcome,
  WriteOutcome,
} from "../ports.ts";
import {
  type CardObject,
  cardOf,
  isCard,
  isCardList,
  isoOf,
  loadedOf,
  referenceIn,
  spendingUpTo,
  stateOfStatus,
} from "./stripe-answers.ts";
import { StripeClient } from "./stripe-client.ts";
import {
  authorizationTypes,
  type EventObject,
  isAuthorization,
  isEventList,
  isTransaction,
  transactionTypes,
  usesOfAuthorization,
  usesOfTransaction,
} from "./stripe-events.ts";

/** The most that Stripe lists at once. */
const pageSize = 100;
/** Of the cards made since a group was, newest first: so many are looked through for one. */
const lookupPagesMax = 20;
/** Stripe's clock may be behind ours. */
const earlierSeconds = 3600;
const revealSeconds = 300;
const referencesMax = 10_000;

/** When the group that the reference names was made, in seconds; undefined: it names none. */
const madeAt = (reference: string): number | undefined => {
  const id = /^[A-Z0-9]+-([0-7][0-9A-HJKMNP-TV-Z]{25})\./.exec(reference)?.[1];
  return id === undefined ? undefined : Math.floor(decodeTime(id) / 1000);
};

/** Where in a list that has the newest first. */
interface Place {
  /** Nothing older, in seconds. */
  from: number;
  /** The last that was read. */
  after?: string | undefined;
}

/** Undefined: the cursor is none of ours. */
const placeOf = ({ since, cursor }: LedgerRequest): Place | undefined => {
  if (cursor === undefined) return { from: since === undefined ? 0 : Math.floor(Date.parse(since) / 1000) };
  const [, from, after] = /^(\d{1,12})\.([\w-]{1,200})$/.exec(cursor) ?? [];
  return from === undefined ? undefined : { from: Number(from), after };
};

const cursorAt = ({ from }: Place, page: readonly { id: string }[]): string => `${from}.${page.at(-1)?.id}`;

const pageAt = ({ from, after }: Place) => ({
  created: { gte: from },
  limit: pageSize,
  ...(after !== undefined && { starting_after: after }),
});

const foreignCursor = refusal("INVALID_REQUEST", "The cursor is none of ours.", {});
const malformed = (detail: string) => ({ outcome: "unavailable", detail }) as const;
const endless = malformed("more is there, and nothing before it");
const oddCard = malformed("a card of ours is not what cards are");

type Uses = ReturnType<typeof usesOfTransaction>;

/** Undefined: the event's object is not what its type says. */
const usesIn = ({ type, created, data: { object } }: EventObject): Uses | undefined => {
  if (authorizationTypes.includes(type))
    return isAuthorization(object) ? usesOfAuthorization(object, created) : undefined;
  return isTransaction(object) ? usesOfTransaction(object) : undefined;
};

export class StripeIssuing implements PaymentPort {
  readonly #client: StripeClient;
  readonly #cardholder: string;
  readonly #revealPage: string;
  readonly #revealKey: Buffer;
  readonly #clock: Clock;
  /** Of cards, by their ids: none ever gets another. Empty: the card is none of ours. */
  readonly #references = new LRUCache<string, string>({ max: referencesMax });

  /**
   * @param options account `cardholder`: whose the cards are; `revealPage`: where one is shown; apiSecret: what the addresses of that
   * page are signed with
   */
  constructor(options: VendorOptions, clock: Clock = systemClock) {
    const { account = {}, apiSecret = "" } = options;
    this.#client = new StripeClient(options);
    this.#cardholder = account.cardholder ?? "";
    this.#revealPage = account.revealPage ?? "";
    this.#revealKey = Buffer.from(apiSecret);
    this.#clock = clock;
  }

  /**
   * Under one key for a day (docs.stripe.com/api/idempotent_requests), after which the look-up that comes before each doubtful call finds
   * the card. Stripe keeps its own failures, too: what it keeps is looked up, and what is not there is asked for once more.
   */
  async issueCard(
    request: { reference: string; balance: Money; label: string },
    context: CallContext,
  ): Promise<WriteOutcome<Card>> {
    const { reference } = request;
    const key = context.again === undefined ? reference : `${reference}.again.${context.again}`;
    const issued = await this.#issue(request, context, key);
    if (issued.outcome !== "in-doubt" || !issued.isKeptFailure) return issued;
    const found = await this.#find(reference, context);
    if (found.outcome === "done") return { outcome: "done", ...cardOf(found.card) };
    if (found.outcome !== "none") return { outcome: "in-doubt", detail: found.detail };
    return this.#issue(request, context, `${key}.2`);
  }

  async #issue(
    { reference, balance, label }: { reference: string; balance: Money; label: string },
    context: CallContext,
    key: string,
  ) {
    const spending = spendingUpTo(balance);
    const params: Stripe.Issuing.CardCreateParams = {
      cardholder: this.#cardholder,
      currency: balance.currency.toLowerCase(),
      type: "virtual",
      status: "active",
      ...spending,
      metadata: { reference, label, ...spending.metadata },
    };
    const end = await this.#client.write(
      (stripe, options) => stripe.issuing.cards.create(params, options),
      isCard,
      context,
      key,
    );
    return end.outcome === "success" ? ({ outcome: "done", ...cardOf(end.body) } as const) : end;
  }

  /** The limit is set to the total; a key of ours would keep a failure for a day, and setting it twice is setting it once. */
  async loadCard({ cardId, loaded }: LoadRequest, context: CallContext): Promise<WriteOutcome<Card>> {
    const card = await this.#card(cardId, context);
    if (card.outcome !== "success") return card;
    const before = loadedOf(card.body);
    const isLess = before.currency !== loaded.currency || loaded.amountMinor < before.amountMinor;
    if (card.body.status === "canceled" || isLess)
      return refusal("PAYMENT_DECLINED", "The card cannot be loaded to this total.", {});
    if (loaded.amountMinor === before.amountMinor) return { outcome: "done", ...cardOf(card.body) };
    return this.#update(cardId, spendingUpTo(loaded), context);
  }

  async cancelCard(
    { cardId }: { reference: string; cardId: string },
    context: CallContext,
  ): Promise<WriteOutcome<Card>> {
    const card = await this.#card(cardId, context);
    if (card.outcome !== "success") return card;
    if (card.body.status === "canceled") return { outcome: "done", ...cardOf(card.body) };
    return this.#update(cardId, { status: "canceled" }, context);
  }

  #card(cardId: string, context: CallContext) {
    return this.#client.read(
      (stripe, options) => stripe.issuing.cards.retrieve(cardId, {}, options),
      isCard,
      context,
    );
  }

  async #update(
    cardId: string,
    params: Stripe.Issuing.CardUpdateParams,
    context: CallContext,
  ): Promise<WriteOutcome<Card>> {
    const end = await this.#client.write(
      (stripe, options) => stripe.issuing.cards.update(cardId, params, options),
      isCard,
      context,
    );
    return end.outcome === "success" ? { outcome: "done", ...cardOf(end.body) } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<Card & { state: "ACTIVE" | "CANCELLED" }>> {
    const found = await this.#find(reference, context);
    if (found.outcome !== "done") return found;
    const state = found.card.status === "canceled" ? "CANCELLED" : "ACTIVE";
    return { outcome: "done", state, ...cardOf(found.card) };
  }

  /**
   * Stripe finds no cards by what we name them: those that were made since the group was are looked through. Where they are too many,
   * nothing is learnt: a card that is not among the first is not said to be missing.
   */
  async #find(reference: string, context: CallContext): Promise<LookupOutcome<{ card: CardObject }>> {
    let place: Place = { from: Math.max(0, (madeAt(reference) ?? 0) - earlierSeconds) };
    for (let page = 0; page < lookupPagesMax; page++) {
      const end = await this.#cards(place, context);
      if (end.outcome !== "success") return end;
      const card = end.body.data.find((one) => referenceIn(one) === reference);
      if (card !== undefined) return isCard(card) ? { outcome: "done", card } : oddCard;
      if (!end.body.has_more) return { outcome: "none" };
      if (end.body.data.length === 0) return endless;
      place = { ...place, after: end.body.data.at(-1)?.id };
    }
    return malformed(`it is not among the newest ${lookupPagesMax * pageSize} cards`);
  }

  /** Newest first. */
  #cards(place: Place, context: CallContext) {
    const params = { cardholder: this.#cardholder, ...pageAt(place) };
    return this.#client.read(
      (stripe, options) => stripe.issuing.cards.list(params, options),
      isCardList,
      context,
    );
  }

  async referenceOf(
    { cardId }: { cardId: string },
    context: CallContext,
  ): Promise<LookupOutcome<{ reference: string }>> {
    let reference = this.#references.get(cardId);
    if (reference === undefined) {
      const card = await this.#card(cardId, context);
      if (card.outcome === "refused" && card.code === "NOT_FOUND") return { outcome: "none" };
      if (card.outcome !== "success") return card;
      reference = referenceIn(card.body) ?? "";
      this.#references.set(cardId, reference);
    }
    return reference === "" ? { outcome: "none" } : { outcome: "done", reference };
  }

  /**
   * The address of the airline's page, with a token in its fragment, which browsers don't send on: a JWT (HS256, by the account's second
   * secret) that names the card for five minutes. The page's server checks it before it makes the card's ephemeral key.
   */
  async reveal({ cardId }: { cardId: string }, context: CallContext): Promise<ReadOutcome<CardReveal>> {
    const card = await this.#card(cardId, context);
    if (card.outcome !== "success") return card;
    if (card.body.status !== "active") return refusal("NOT_FOUND", "The card is not active.", {});
    const expires = Math.floor(this.#clock.now().getTime() / 1000) + revealSeconds;
    const token = await new SignJWT()
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(cardId)
      .setAudience(new URL(this.#revealPage).origin)
      .setExpirationTime(expires)
      .sign(this.#revealKey);
    return { outcome: "done", url: `${this.#revealPage}#${token}`, expiresAt: isoOf(expires) };
  }

  /**
   * From Stripe's events, which are the bodies of its webhooks and stand for 30 days. They are listed newest first, and so they come:
   * a cursor is the time that the first page began at and the last event of the page before.
   */
  async transactions(
    request: LedgerRequest,
    context: CallContext,
  ): Promise<ReadOutcome<CardTransactionPage>> {
    const place = placeOf(request);
    if (place === undefined) return foreignCursor;
    const params: Stripe.EventListParams = {
      types: [...authorizationTypes, ...transactionTypes],
      ...pageAt(place),
    };
    const end = await this.#client.read(
      (stripe, options) => stripe.events.list(params, options),
      isEventList,
      context,
    );
    if (end.outcome !== "success") return end;
    const { data, has_more: hasMore } = end.body;
    if (hasMore && data.length === 0) return endless;
    const entries: CardTransactionEntry[] = [];
    const unreadable: string[] = [];
    for (const event of data.toReversed()) {
      const told = await this.#entriesOf(event, context);
      if (told !== undefined && "outcome" in told) return told;
      if (told === undefined) unreadable.push(event.id);
      entries.push(...(told ?? [{ changedAt: isoOf(event.created) }]));
    }
    const nextCursor = hasMore ? { nextCursor: cursorAt(place, data) } : {};
    return { outcome: "done", entries, ...(unreadable.length > 0 && { unreadable }), ...nextCursor };
  }

  /** At least one: its time counts even when it tells of nothing. Undefined: it cannot be read, and must not stop those behind it. */
  async #entriesOf(
    event: EventObject,
    context: CallContext,
  ): Promise<CardTransactionEntry[] | ReturnType<typeof malformed> | undefined> {
    const changedAt = isoOf(event.created);
    const uses = usesIn(event);
    if (uses === undefined) return undefined;
    const entries: CardTransactionEntry[] = [];
    for (const { reference: named, ...use } of uses) {
      const found = named === undefined ? await this.referenceOf(use, context) : undefined;
      if (found?.outcome === "refused" || found?.outcome === "unavailable") return malformed(found.detail);
      const reference = named ?? (found?.outcome === "done" ? found.reference : undefined);
      if (reference !== undefined) entries.push({ changedAt, transaction: { ...use, reference } });
    }
    return entries.length > 0 ? entries : [{ changedAt }];
  }

  /** Every card, newest first, as it stands: Stripe tells when one was made, not when it was changed. */
  async reconcile(request: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const place = placeOf(request);
    if (place === undefined) return foreignCursor;
    const end = await this.#cards(place, context);
    if (end.outcome !== "success") return end;
    const { data, has_more: hasMore } = end.body;
    if (hasMore && data.length === 0) return endless;
    const entries: LedgerEntry[] = [];
    for (const card of data) {
      const reference = referenceIn(card);
      if (reference === undefined) continue;
      if (!isCard(card)) return oddCard;
      const state = stateOfStatus[card.status as keyof typeof stateOfStatus];
      entries.push({ kind: "card", id: card.id, reference, state, changedAt: isoOf(card.created) });
    }
    return ledgerPage(entries, hasMore ? cursorAt(place, data) : "");
  }
}
