/** Owns one stream of one passenger's session: what is written on it, how far it has come, how it ends. What it hears is `passenger-streams.ts`'s. */
import { createHash } from "node:crypto";
import type { Principal } from "../../schemas/command.ts";
import type { PassengerEventData } from "../../schemas/passenger-events.ts";
import { isSessionOf } from "../../schemas/passenger-session.ts";
import type { PresentedToken } from "../../streams/revocations.ts";
import type { Told } from "./passenger-mapping.ts";
import { EventQueue } from "./passenger-queue.ts";
import { type Position, positionText, readPosition } from "./position.ts";

/** What the streams of a passenger's session go by. */
export interface Session {
  principal: Principal;
  presented: PresentedToken;
}

export type Revocation = PassengerEventData<"session.revoked">["reason"];

/** A client that has lost its stream comes back after this long. */
const retryMs = 3000;

/** Tells whose place it is without naming anybody. */
const markOf = (subCaseId: string): string =>
  createHash("sha256").update(`stream of ${subCaseId}`).digest("hex").slice(0, 8);

const idForm = /^([\d.]{1,40})-([0-9a-f]{8})$/;

/** The place that a client has come to; undefined: it is no place, or of another group than the one it would go on with. */
export const placeIn = (lastEventId: string, subCaseId: string): Position | undefined => {
  const [, place, mark] = idForm.exec(lastEventId) ?? [];
  return place === undefined || mark !== markOf(subCaseId) ? undefined : readPosition(place);
};

/** What can be known of it before anybody is asked. */
export const claimedPlace = (lastEventId: string): Position | undefined =>
  readPosition(idForm.exec(lastEventId)?.[1] ?? "");

/** Server-Sent Events: JSON holds no line ends. */
const frame = (name: string, data: string, id: string): string =>
  `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;

export class PassengerStream {
  readonly session: Session;
  readonly queue: EventQueue;
  /** What it has been told up to. */
  position: Position = { EVENTS: 0, INTERNAL: 0 };
  #subCaseId = "";
  #mark = "";
  /** Of the offer, as it was told last. */
  #offerState: string | undefined;

  constructor(session: Session, onEnd: () => void) {
    this.session = session;
    this.queue = new EventQueue(onEnd);
    this.queue.push(`retry: ${retryMs}\n\n`);
  }

  get subCaseId(): string {
    return this.#subCaseId;
  }

  /** From here on it is told of this group. */
  follow(subCaseId: string, position: Position): void {
    this.#subCaseId = subCaseId;
    this.#mark = markOf(subCaseId);
    this.position = position;
  }

  /** The whole, as of its position. False: its reader is too slow. */
  snapshot(data: PassengerEventData<"snapshot">): boolean {
    this.#offerState = data.offer.state;
    return this.queue.push(frame("snapshot", JSON.stringify(data), this.#id()));
  }

  /**
   * What one entry of the log has told, in one piece: the place is passed when all of it has been.
   * @param offer as it stands, written as JSON; undefined: it could not be read. False: its reader is too slow.
   */
  tell(heard: readonly Told[], offer: KnownOffer | undefined, position: Position): boolean {
    this.position = position;
    const own = heard.filter(
      ({ onlyFor }) => onlyFor === undefined || isSessionOf(this.session.principal.urn, onlyFor),
    );
    const text = own.map(({ name, data, showsOffer }) => {
      if (showsOffer) this.#offerState = offer?.state ?? this.#offerState;
      return frame(name, showsOffer ? withOffer(data, offer) : JSON.stringify(data), this.#id());
    });
    return text.length === 0 || this.queue.push(text.join(""));
  }

  /**
   * A comment keeps proxies from taking the stream for dead, and an id without data is the place alone (HTML, 9.2.6). Only where
   * nothing waits.
   */
  beat(): void {
    if (this.queue.idle) this.queue.push(`:\nid: ${this.#id()}\n\n`);
  }

  /** Its last event. A closing withdraws an offer that nobody has decided on, of which the group is told no more. */
  revoke(reason: Revocation): void {
    if (this.queue.ended) return;
    const withdrawn = reason === "CASE_CLOSED" && this.#offerState === "READY";
    this.queue.push(
      `${withdrawn ? "event: offer.withdrawn\ndata: {}\n\n" : ""}event: session.revoked\ndata: ${JSON.stringify({ reason })}\n\n`,
    );
    this.queue.end();
  }

  #id(): string {
    return `${positionText(this.position)}-${this.#mark}`;
  }
}

/** An offer that is sent to many, written once. */
export interface KnownOffer {
  state: string;
  json: string;
}

const withOffer = (data: Record<string, unknown>, offer: KnownOffer | undefined): string => {
  const text = JSON.stringify(data);
  return offer === undefined ? text : `${text.slice(0, -1)}${text === "{}" ? "" : ","}"offer":${offer.json}}`;
};
