// The saga against vendors that answer late, lose answers, refuse and are busy, in random orders: whatever happens, somebody owns the
// group, no second room is booked beside a first, no card pays for nothing unless somebody is told, and in the end what the saga
// believes is what the vendors hold.
import fc from "fast-check";
import t from "tap";
import { outgoing } from "../../../actors/sub-case/reactions.ts";
import type { SubCaseEvent, SubCaseState } from "../../../actors/sub-case/state.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { OpenReview } from "../../../schemas/review.ts";
import type { VendorAnswer, VendorCall, VendorVerb } from "../../../schemas/vendor-call.ts";
import { evening, folded, received, trace } from "../../harness/given.ts";
import { type Turn, turns, type VendorsInMemory, vendorsInMemory } from "../../harness/vendors-in-memory.ts";
import { assign, cardHotel, hotel, opened, rules } from "./group-story.ts";

interface Sent {
  vendor: string;
  verb: VendorVerb;
  call: VendorCall;
  /** Which delivery of the command this is, from 1. */
  attempt: number;
}

/** One group's saga with all that is under way around it. */
class Night {
  state: SubCaseState = folded(rules, [opened()]) as SubCaseState;
  now = evening;
  readonly commands: Sent[] = [];
  readonly answers: VendorAnswer[] = [];
  /** What review items were opened about: `<origin> <occurrence>`. */
  readonly reviews: string[] = [];
  readonly #turns: Turn[] = [];
  readonly vendors: VendorsInMemory = vendorsInMemory(() => this.#turns.shift() ?? "done");

  tell(name: string, data: unknown = {}): void {
    const command = received(`sub-case.${name}`, data, { now: this.now });
    const events: SubCaseEvent[] = rules.decide(this.state, command);
    this.state = folded(rules, events, this.state) as SubCaseState;
    for (const message of events.flatMap((event) => outgoing(event, this.state))) {
      const [, vendor, verb] = (message.to === "command" && /^vendor-(.+)\.(.+)$/.exec(message.name)) || [];
      if (message.to === "command" && message.name === "review.open") {
        const { origin, occurrence } = message.data as OpenReview;
        this.reviews.push(`${origin} ${occurrence ?? ""}`.trim());
      }
      if (vendor === undefined || message.to !== "command") continue;
      this.commands.push({
        vendor,
        verb: verb as VendorVerb,
        call: message.data as VendorCall,
        attempt: 1,
      });
    }
  }

  /** A passenger's decision; one that comes too early or twice is refused. */
  decide(name: string): void {
    try {
      this.tell(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  async carryOut(which: number, turn: Turn, lookup: Turn): Promise<void> {
    const [sent] = this.commands.splice(which % this.commands.length, 1);
    if (sent === undefined) return;
    const { hotel, payment, transport, message } = this.vendors;
    const instance = [hotel, payment, transport, message].find(({ name }) => name === sent.vendor) ?? hotel;
    const { call, attempt } = sent;
    this.#turns.splice(0, 2, ...(call.doubt || attempt > 1 ? [lookup, turn] : [turn]));
    const answer = await carryOut(instance, sent.verb, call, { traceparent: trace.traceparent, attempt });
    this.answers.push(answer);
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

  bookedRooms(): string[] {
    return this.heldIn("BOOKED").filter((reference) => reference.includes(".room."));
  }

  /** Cards that pay for hotels. */
  activePayments(): string[] {
    return this.heldIn("ACTIVE").filter((reference) => reference.includes(".payment."));
  }

  /** What must be true at every moment. */
  check(): void {
    const { status, call } = this.state;
    const settled = ["OFFER_READY", "RESOLVED", "DECLINED", "FAILED", "COMPENSATION_FAILED"].includes(status);
    if (settled === (call !== undefined)) throw new Error(`nobody works on it, or two do: ${status}`);
    if (this.bookedRooms().length > 1) throw new Error(`two rooms: ${this.bookedRooms().join(", ")}`);
    const wallets = [...this.vendors.held.keys()].filter((reference) => reference.includes(".card."));
    if (wallets.length > 1) throw new Error(`two wallet cards: ${wallets.join(", ")}`);
  }

  /** From now on everybody answers. */
  async settle(): Promise<void> {
    for (
      let round = 0;
      this.state.call !== undefined || this.commands.length + this.answers.length > 0;
      round++
    ) {
      if (round > 500) throw new Error("the saga comes to no end");
      if (this.commands.length > 0) await this.carryOut(0, "done", "done");
      else if (this.answers.length > 0) this.deliver(0);
      else this.wake();
      this.check();
    }
  }

  /** What the saga believes is what the vendors hold. */
  checkEnd(): void {
    const { status, reservation, card, ride } = this.state;
    const holds = (believed: boolean, what: string, found: string[]) => {
      if (found.length !== (believed ? 1 : 0))
        throw new Error(`${status}: ${what} ${found.join(", ") || "none"}`);
    };
    holds(reservation?.status === "CONFIRMED", "room", this.bookedRooms());
    if (status === "OFFER_READY" || status === "RESOLVED")
      holds(true, "room of the offer", this.bookedRooms());
    if (status === "DECLINED" || status === "FAILED") holds(false, "room", this.bookedRooms());
    holds(
      card?.status === "ACTIVE",
      "card",
      this.heldIn("ACTIVE").filter((reference) => reference.includes(".card.")),
    );
    this.#checkPayments();
    holds(
      ride?.status === "booked",
      "ride",
      this.heldIn("BOOKED").filter((reference) => reference.includes(".ride.")),
    );
  }

  /** A card is active for the room that it pays, or because it could not be taken back, of which somebody was told. */
  #checkPayments(): void {
    const { status, assignment, candidate } = this.state;
    const paying = this.bookedRooms().map((reference) => reference.replace(".room.", ".payment."));
    const told = (reference: string) =>
      this.reviews.includes(`payment ${reference}`) || status === "COMPENSATION_FAILED";
    for (const reference of this.activePayments())
      if (!paying.includes(reference) && !told(reference))
        throw new Error(`${status}: ${reference} is active for no room`);
    const offered = status === "OFFER_READY" || status === "RESOLVED";
    if (!offered || assignment?.candidates[candidate]?.payment !== "CARD") return;
    if (!this.activePayments().includes(paying[0] as string))
      throw new Error(`${status}: ${paying[0]} is not active`);
  }
}

const hotels = ["astor", "biltmore", "carlton"];
/** Which of the hotels take nothing but cards. */
const byCard = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean());
type ByCard = typeof byCard extends fc.Arbitrary<infer Each> ? Each : never;

const turn = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Turn>("done") },
  { weight: 3, arbitrary: fc.constantFrom(...turns) },
);
const which = fc.nat({ max: 5 });
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("carry-out" as const), which, turn, lookup: turn }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("deliver" as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wake" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("carry-out-twice" as const),
      which,
      turn,
      lookup: turn,
      answered: fc.boolean(),
    }),
  },
);
const actions = fc.array(action, { maxLength: 60, size: "max" });
type Steps = typeof actions extends fc.Arbitrary<infer Each> ? Each : never;
const decision = fc.constantFrom("accept-offer", "decline-offer");

t.test("whatever vendors do", async (t) => {
  const ends = new Map<string, number>();
  const live = async (night: Night, steps: Steps) => {
    for (const step of steps) {
      if (step.do === "carry-out") await night.carryOut(step.which, step.turn, step.lookup);
      else if (step.do === "carry-out-twice") await night.carryOutTwice(step.which, step);
      else if (step.do === "deliver") night.deliver(step.which);
      else night.wake();
      night.check();
    }
  };
  let paidByCard = 0;
  const story = async (cards: ByCard, before: Steps, decided: string, after: Steps) => {
    const night = new Night();
    const candidates = hotels.map((name, i) => (cards[i] ? cardHotel(name) : hotel(name)));
    night.tell("assign", assign({ candidates }).data);
    await live(night, before);
    night.decide(decided);
    await night.settle();
    night.checkEnd();
    if (night.activePayments().length > 0) paidByCard += 1;
    night.decide(decided);
    await live(night, after);
    await night.settle();
    night.checkEnd();
    ends.set(night.state.status, (ends.get(night.state.status) ?? 0) + 1);
  };
  await fc.assert(fc.asyncProperty(byCard, actions, decision, actions, story), {
    numRuns: 400,
    seed: 20_261_121,
  });
  for (const status of ["RESOLVED", "DECLINED", "FAILED", "COMPENSATION_FAILED"])
    t.ok(ends.has(status), `some nights end ${status}`);
  t.ok(paidByCard > 20, "some rooms are paid by card");
  t.comment(JSON.stringify([...ends]), { paidByCard });
});
