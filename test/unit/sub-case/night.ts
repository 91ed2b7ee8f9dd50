// One group's night for the random model: its saga with all that is under way around it, and what must be true of it at every moment
// and in the end.
import { NotYet, type Received } from "../../../actors/runtime/decider.ts";
import { outgoing } from "../../../actors/sub-case/reactions.ts";
import { amendSteps, type SubCaseEvent, type SubCaseState } from "../../../actors/sub-case/state.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { Assignment, HotelCandidate } from "../../../schemas/assignment.ts";
import type { GroupNote } from "../../../schemas/group-note.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { OpenReview } from "../../../schemas/review.ts";
import type { StayReport, VendorAnswer, VendorCall, VendorVerb } from "../../../schemas/vendor-call.ts";
import { evening, folded, received, supervisor, trace } from "../../harness/given.ts";
import { type Turn, type VendorsInMemory, vendorsInMemory } from "../../harness/vendors-in-memory.ts";
import * as cases from "../case/planned-case.ts";
import { assign, bookedByPhone, opened, rules, terms } from "./group-story.ts";
import { letterAfter, letters, NightCase } from "./night-case.ts";

const live = ["BOOKED", "CHECKED_IN", "CHECKED_OUT", "NO_SHOW"];

interface Sent {
  vendor: string;
  verb: VendorVerb;
  call: VendorCall;
  /** Which delivery of the command this is, from 1. */
  attempt: number;
}

/** One group's saga with all that is under way around it. */
export class Night {
  state: SubCaseState = folded(rules, [opened()]) as SubCaseState;
  now = evening;
  readonly case = new NightCase();
  readonly commands: Sent[] = [];
  readonly answers: VendorAnswer[] = [];
  /** What review items were opened about: `<origin> <occurrence>`. */
  readonly reviews: string[] = [];
  /** How often, by event. */
  readonly happened = new Map<string, number>();
  /** What the case is told, in order. */
  readonly notes: GroupNote[] = [];
  /** What hotels tell of stays: they tell it again whenever they are asked. */
  readonly stays: StayReport[] = [];
  /** Once it may have been let go its notes alone don't tell where it stands: the case itself has said so. */
  #mayNeedNone = false;
  #overrides = 0;
  readonly #refusedAnew = new Set<string>();
  readonly #turns: Turn[] = [];
  readonly vendors: VendorsInMemory = vendorsInMemory(() => this.#turns.shift() ?? "done");

  tell(name: string, data: unknown = {}, more: Partial<Received> = {}, gathered?: unknown): void {
    const command = received(`sub-case.${name}`, data, { now: this.now, ...more });
    const events: SubCaseEvent[] = rules.decide(this.state, command, gathered);
    this.state = folded(rules, events, this.state) as SubCaseState;
    for (const { type } of events) this.happened.set(type, (this.happened.get(type) ?? 0) + 1);
    for (const message of events.flatMap((event) => outgoing(event, this.state))) {
      // The transport actor answers as the vendor of rides does, the message actor as that of messages.
      const [, asked, verb] =
        (message.to === "command" &&
          /^(vendor-.+|transport(?=\.\w+-ride)|message(?=\.send))\.(.+)$/.exec(message.name)) ||
        [];
      const own = { transport: "ridefleet", message: "sendwell" }[asked ?? ""];
      const vendor = own ?? asked?.slice("vendor-".length);
      if (message.to === "command" && message.name === "review.open") {
        const { origin, occurrence } = message.data as OpenReview;
        this.reviews.push(`${origin} ${occurrence ?? ""}`.trim());
      }
      if (message.to === "command" && message.name === "case.note-group")
        this.#note(message.data as GroupNote);
      if (message.to === "command" && message.name === "case.replace-group")
        this.case.toCase.push(
          received(message.name, { ...(message.data as object), groupId: this.case.groupId }),
        );
      if (vendor === undefined || message.to !== "command") continue;
      this.commands.push({
        vendor,
        verb: verb as VendorVerb,
        call: message.data as VendorCall,
        attempt: 1,
      });
    }
  }

  #note(note: GroupNote): void {
    this.notes.push(note);
    this.case.hear(note);
  }

  /** What a person does; what comes too early, too late or twice is refused. */
  decide(name: string, data: unknown = {}, gathered?: unknown): void {
    try {
      this.tell(name, data, { principal: supervisor }, gathered);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** The next flight has changed: the group needs a room for so many nights. */
  amend(nights: number): void {
    this.case.reaccommodate(nights);
    if (nights === 0) this.#mayNeedNone = true;
  }

  /** A person finds a room by phone. */
  reserveByHand(): void {
    this.decide("reserve-manually", bookedByPhone(), { known: null, terms });
  }

  /** A supervisor chooses a hotel, which the wave passes on to the group. */
  override(candidate: HotelCandidate): void {
    const assignment = {
      ...(assign().data as Assignment),
      ...this.case.need,
      candidates: [candidate],
      waveId: this.case.state.waveId as string,
    };
    this.tell("override", { overrideId: `XN-OVERRIDE${++this.#overrides}`, assignment });
  }

  /** The wave that the case has asked for, if any, has hotels for whoever waits. @param finds another one for whoever has a room */
  wave(candidates: HotelCandidate[], finds = true, book = true): void {
    const placing = this.case.runWave(finds, book);
    if (placing === undefined) return;
    const { moves, ...given } = placing;
    const command = assign({ candidates, book, ...given });
    this.case.toGroup.push(moves ? received("sub-case.override", { assignment: command.data }) : command);
  }

  bookRooms(): void {
    this.case.decide(cases.human("book-rooms", {}));
  }

  /** What the case has sent to the group, or is to hear, arrives in any order; what cannot be decided yet comes again. */
  hear(which: number): void {
    const { toCase, toGroup } = this.case;
    if (toGroup.length === 0 || (which % 2 === 0 && toCase.length > 0)) this.case.deliver(which);
    else {
      const [command] = toGroup.splice(which % toGroup.length, 1);
      if (command === undefined) return;
      try {
        this.tell(command.name.slice("sub-case.".length), command.data);
      } catch (error) {
        if (!(error instanceof NotYet)) throw error;
        toGroup.push(command);
      }
    }
  }

  close(): void {
    this.case.decide(cases.close);
  }

  reopen(): void {
    this.case.decide(cases.reopen);
  }

  /** What the case, or a person, does for a group that has come to rest without a room. */
  helpOn(candidates: HotelCandidate[]): void {
    if (this.state.status === "COMPENSATION_FAILED") this.decide("compensate");
    else {
      this.case.decide(cases.human("allocate", {}));
      this.wave(candidates);
    }
  }

  /** Guests come, go, stay away, or find that the hotel has given their room to somebody else. */
  stay(state: StayReport["state"]): void {
    const { reservation } = this.state;
    const { reference = "", bookingId = "" } = reservation ?? {};
    const from = this.vendors.held.get(reference) ?? "";
    // Who has declined doesn't come; what a hotel makes of a cancellation after an arrival is its own affair.
    const comes = ["PROCESSING", "OFFER_READY", "RESOLVED"].includes(this.state.status);
    const may = from === "BOOKED" || (from === "CHECKED_IN" && state === "CHECKED_OUT");
    if (reservation?.status === "PENDING" || !may || !(comes || state === "CANCELLED")) return;
    this.vendors.held.set(reference, state);
    this.stays.push({ reference, bookingId, state, at: this.now.toISOString() });
    this.report(this.stays.length - 1);
  }

  report(which: number): void {
    const told = this.stays[which % this.stays.length];
    if (told === undefined) return;
    try {
      this.tell("record-stay", told);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
    }
  }

  async carryOut(which: number, turn: Turn, lookup: Turn): Promise<void> {
    const [sent] = this.commands.splice(which % this.commands.length, 1);
    if (sent === undefined) return;
    const { hotel, payment, transport, message } = this.vendors;
    const instance = [hotel, payment, transport, message].find(({ name }) => name === sent.vendor) ?? hotel;
    const { call, attempt } = sent;
    if (call.again !== undefined) {
      this.answers.push(this.#anew(sent, turn));
      return;
    }
    this.#turns.splice(0, 2, ...(call.doubt || attempt > 1 ? [lookup, turn] : [turn]));
    const answer = await carryOut(instance, sent.verb, call, { traceparent: trace.traceparent, attempt });
    this.answers.push(answer);
  }

  /** Asked again by a person a vendor decides anew, once; the vendors in memory would only repeat what they said. */
  #anew({ vendor, verb, call, attempt }: Sent, turn: Turn): VendorAnswer {
    const { reference, tries, again = 0 } = call;
    const answer = { verb, vendor, reference, tries, again };
    if (this.vendors.held.get(reference) === "CANCELLED") return { ...answer, outcome: "done", result: {} };
    if (attempt > 1) return { ...answer, outcome: "in-doubt", detail: "Delivered before." };
    const key = `${verb} ${reference} ${again}`;
    if (turn === "refused") this.#refusedAnew.add(key);
    if (this.#refusedAnew.has(key) && turn !== "unavailable" && !turn.startsWith("lost"))
      return { ...answer, outcome: "refused", code: "INVALID_REQUEST", detail: "no" };
    if (this.#refusedAnew.has(key)) return { ...answer, outcome: "in-doubt", detail: "no answer" };
    if (turn === "done" || turn === "lost-done") this.vendors.held.set(reference, "CANCELLED");
    if (turn === "done") return { ...answer, outcome: "done", result: {} };
    return { ...answer, outcome: turn === "unavailable" ? "unavailable" : "in-doubt", detail: "no answer" };
  }

  /** An adapter dies after its work, before or after its answer: the command comes again. */
  async carryOutTwice(which: number, step: { turn: Turn; lookup: Turn; answered: boolean }): Promise<void> {
    const sent = this.commands[which % this.commands.length];
    if (sent === undefined) return;
    await this.carryOut(which, step.turn, step.lookup);
    if (!step.answered) this.answers.pop();
    this.commands.push({ ...sent, attempt: sent.attempt + 1 });
  }

  deliver(which: number): void {
    const [answer] = this.answers.splice(which % this.answers.length, 1);
    if (answer !== undefined) this.tell("record-answer", answer);
  }

  wake(): void {
    const { call } = this.state;
    if (call === undefined) return;
    this.now = new Date(Math.max(call.dueAt.getTime(), this.now.getTime()));
    this.tell("reissue-call");
  }

  heldIn(...states: string[]): string[] {
    return [...this.vendors.held]
      .filter(([, state]) => states.includes(state))
      .map(([reference]) => reference);
  }

  /** Of one kind: `room`, `ride`, `card`. */
  #of(kind: string, ...states: string[]): string[] {
    return this.heldIn(...states).filter(
      (reference) => reference.includes(`.${kind}.`) && !this.#isTold(reference),
    );
  }

  /** A person has what a former hotel, or its ride, would not take back. */
  #isTold(reference: string): boolean {
    return this.reviews.some((told) => told.startsWith("former-hotel") && told.endsWith(reference));
  }

  bookedRooms(): string[] {
    return this.#of("room", "BOOKED");
  }

  /** Cards that pay for hotels. */
  activePayments(): string[] {
    return this.heldIn("ACTIVE").filter((reference) => reference.includes(".payment."));
  }

  /** What must be true at every moment. */
  check(): void {
    const { status, call, closedAt } = this.state;
    const amending = (amendSteps as readonly (string | undefined)[]).includes(call?.step);
    const working = status === "PROCESSING" || status === "ROLLING_BACK" || amending;
    if (closedAt === undefined && working !== (call !== undefined))
      throw new Error(`nobody works on it, or two do: ${status}`);
    // Who changes hotels has the new room before the old one is given back.
    const most = this.state.left === undefined ? 1 : 2;
    if (this.#of("room", ...live).length > most) throw new Error("more rooms than there may be");
    for (const held of [this.#of("card", "ACTIVE"), this.#of("ride", "BOOKED")])
      if (held.length > 1) throw new Error(`two of a kind: ${held.join(", ")}`);
  }

  /** From now on everybody answers. */
  async settle(): Promise<void> {
    this.reopen();
    await this.#quiet();
    // A reconciliation finds what was told while nobody listened.
    for (const [i] of this.stays.entries()) {
      this.report(i);
      await this.#quiet();
    }
  }

  #underWay(): number {
    const { toCase, toGroup } = this.case;
    return this.commands.length + this.answers.length + toCase.length + toGroup.length;
  }

  async #quiet(): Promise<void> {
    for (let round = 0; ; round++) {
      if (this.state.call === undefined && this.#underWay() === 0) {
        if (!this.case.waitsForBooking) return;
        this.bookRooms();
      }
      if (round > 500) throw new Error("the saga comes to no end");
      if (this.case.toCase.length + this.case.toGroup.length > 0) this.hear(round);
      else if (this.commands.length > 0) await this.carryOut(0, "done", "done");
      else if (this.answers.length > 0) this.deliver(0);
      else this.wake();
      this.check();
    }
  }

  /** What the saga believes is what the vendors hold, of this round and no other. */
  checkEnd(): void {
    const { status, reservation, card, ride } = this.state;
    const holds = (believed: boolean, what: string, found: string[]) => {
      if (found.length !== (believed ? 1 : 0))
        throw new Error(`${status}: ${what} ${found.join(", ") || "none"}`);
      const known = [reservation, card, ride].map((one) => one?.reference);
      for (const reference of found)
        if (!known.includes(reference)) throw new Error(`${reference} is not the group's`);
    };
    const rooms = this.bookedRooms();
    const byHand = reservation?.byHand !== undefined;
    const [cards, rides] = [this.#of("card", "ACTIVE"), this.#of("ride", "BOOKED")];
    // What was booked by phone no vendor holds.
    holds(reservation?.status === "CONFIRMED" && !byHand, "room", rooms);
    if (status === "OFFER_READY" || status === "RESOLVED") {
      holds(!byHand, "room of the offer", this.#of("room", ...live));
      if (byHand && reservation.status !== "CONFIRMED") throw new Error("an offer of a room given up");
    }
    if (byHand && reservation.status === "CANCELLED" && !this.#toldToCancel(reservation.reference))
      throw new Error("nobody is told to cancel what was booked by phone");
    holds(card?.status === "ACTIVE", "card", cards);
    holds(ride?.status === "booked", "ride", rides);
    if (status === "DECLINED" || status === "FAILED" || status === "PENDING")
      for (const [what, found] of Object.entries({ rooms, cards, rides })) holds(false, what, found);
    this.#checkDates();
    this.#checkPayments();
    this.#checkCase();
  }

  /** A room is for the nights that are needed, or another one is being sought, or a person has heard; passengers have been written to. */
  #checkDates(): void {
    const { status, wanted, assignment, unfit, reservation, untold } = this.state;
    if (status === "NOT_REQUIRED" && (wanted?.nights ?? 0) > 0)
      throw new Error("let go, and there is a night");
    const stands = (status === "OFFER_READY" || status === "RESOLVED") && reservation?.status === "CONFIRMED";
    if (!stands || wanted === undefined) return;
    if (wanted.nights === 0) throw new Error("a room for no night");
    if (untold !== undefined) throw new Error("its passengers have not heard of their dates");
    if (wanted.checkOut === assignment?.stay.checkOut) return;
    if (!unfit)
      throw new Error(
        `${status}: a room until ${assignment?.stay.checkOut}, needed until ${wanted.checkOut}`,
      );
    const told = [...this.reviews, ...this.case.reviews].some((about) => /^(amendment|override)/.test(about));
    if (!told && !this.case.isToBePlaced) throw new Error("nobody has heard that the hotel refuses");
  }

  #toldToCancel(reference: string): boolean {
    return this.reviews.includes(`manual-cancellation ${reference}`);
  }

  /** In whatever order the case hears of it. */
  #checkCase(): void {
    const { status, reservation } = this.state;
    const stayed = reservation?.status === "CHECKED_OUT" || reservation?.status === "NO_SHOW";
    const expected = stayed ? undefined : letters[status];
    this.case.check(expected);
    if (stayed || this.#mayNeedNone || this.case.letter !== expected) return;
    for (const notes of [this.notes, [...this.notes].reverse()]) {
      const letter = letterAfter(notes);
      if (letter !== expected)
        throw new Error(`${status}, but ${letter} by ${notes.map((n) => n.stage + n.round).join(" ")}`);
    }
  }

  /** A card is active for the room that it pays, or because it could not be taken back, of which somebody was told. */
  #checkPayments(): void {
    const { status, assignment, candidate } = this.state;
    // A room that a former hotel keeps is paid, too.
    const paying = this.heldIn(...live).map((reference) => reference.replace(".room.", ".payment."));
    const told = (reference: string) =>
      this.#isTold(reference) ||
      this.reviews.includes(`payment ${reference}`) ||
      status === "COMPENSATION_FAILED";
    for (const reference of this.activePayments())
      if (!paying.includes(reference) && !told(reference))
        throw new Error(`${status}: ${reference} is active for no room`);
    const offered = status === "OFFER_READY" || status === "RESOLVED";
    if (!offered || assignment?.candidates[candidate]?.payment !== "CARD") return;
    const own = this.state.reservation?.reference.replace(".room.", ".payment.") ?? "";
    if (!this.activePayments().includes(own)) throw new Error(`${status}: ${own} is not active`);
  }
}
