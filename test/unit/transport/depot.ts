// Some groups' rides and the vehicles that they share, with all that is under way between them and a vendor: for the random model.
import { NotYet, type Received } from "../../../actors/runtime/decider.ts";
import type { RunState } from "../../../actors/transport/run-state.ts";
import { runs } from "../../../actors/transport/runs.ts";
import type { TransferState } from "../../../actors/transport/transfer-state.ts";
import { transfers } from "../../../actors/transport/transfers.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import { Problem } from "../../../schemas/problems.ts";
import {
  type RideNote,
  type RideOrder,
  type RideParty,
  type RideReport,
  runOfReference,
} from "../../../schemas/transport.ts";
import type { VendorAnswer, VendorCall, VendorVerb } from "../../../schemas/vendor-call.ts";
import type { Direction, VehicleType } from "../../../schemas/vocabulary.ts";
import { evening, received, supervisor, trace } from "../../harness/given.ts";
import { type Turn, vendorsInMemory } from "../../harness/vendors-in-memory.ts";

const settings = { stepDeadlineMs: 30_000 };
export const transferRules = transfers(settings);
export const runRules = runs(settings);

export const idOfGroup = (group: number): string =>
  `XN-01KAMVW9G0GROUP00000000${String(group).padStart(3, "0")}`;
export const referenceOf = (group: number, round = 1): string => `${idOfGroup(group)}.ride.${round}`;

const at = (label: string, latitude: number) => ({ label, coordinates: { latitude, longitude: -73.78 } });

/** @param more e.g. how many they are */
export const orderOf = (group: number, more: Partial<RideOrder> = {}): RideOrder => ({
  vendor: "ridefleet",
  caseId: "XN-01KAMVW9G0CASECASECASECASE",
  groupId: `G${group}`,
  airport: "JFK",
  reservationId: `XN-01KAMVW9G0ROOM000000000${String(group).padStart(3, "0")}`,
  hotelUrn: "urn:hotel:astor",
  airportPlace: at("John F Kennedy", 40.64),
  hotelPlace: at("Astor", 40.6),
  passengers: 2,
  needs: [],
  vehicleType: "SHUTTLE",
  seats: { SHUTTLE: 4, PRIVATE_CAR: 4, WHEELCHAIR_VAN: 6 },
  minutesBeforePickup: 180,
  onDemand: false,
  departure: "2026-11-22T14:00:00.000Z",
  shape: 0,
  ...more,
});

interface Sent {
  name: string;
  entity: string;
  data: unknown;
  id: string;
  /** Of a vendor's command: which delivery it is, from 1. */
  attempt: number;
}

export class Depot {
  now = evening;
  readonly transfers = new Map<string, TransferState>();
  readonly runs = new Map<string, RunState>();
  readonly sent: Sent[] = [];
  /** What came too early: it comes again once anything else has happened. */
  readonly #early: Sent[] = [];
  /** What the groups' sagas were answered, newest last. */
  readonly answers: VendorAnswer[] = [];
  readonly notes: { group: string; note: RideNote }[] = [];
  /** Origins of the items that were opened. */
  readonly items: string[] = [];
  readonly #handled = new Set<string>();
  readonly #turns: Turn[] = [];
  readonly vendors = vendorsInMemory(() => this.#turns.shift() ?? "done");
  #count = 0;

  /** Handles one command, as the runtime does: a repeated id is nothing, what is too early comes again. */
  handle(
    name: string,
    entity: string,
    data: unknown,
    more: Partial<Received> = {},
    gathered?: unknown,
  ): void {
    const id = more.id ?? `${name} ${++this.#count}`;
    if (this.#handled.has(`${entity} ${id}`)) return;
    const command = received(name, data, { now: this.now, entity, ...more, id });
    const verb = name.slice("transport.".length);
    if (runRules.commands.includes(verb)) this.#commit(runRules, this.runs, command, gathered);
    else this.#commit(transferRules, this.transfers, command, gathered);
    this.#handled.add(`${entity} ${id}`);
  }

  #commit<State extends object, Event extends { type: string }>(
    rules: Pick<
      import("../../../actors/runtime/decider.ts").Decider<State, Event>,
      "decide" | "evolve" | "outgoing"
    >,
    states: Map<string, State>,
    command: Received,
    gathered: unknown,
  ): void {
    const before = states.get(command.entity);
    const events = rules.decide(before, command, gathered);
    const after = events.reduce<State | undefined>(rules.evolve, before);
    this.#checkTimes(events, after);
    if (after === undefined || events.length === 0) return;
    states.set(command.entity, after);
    for (const message of events.flatMap(
      (event) => rules.outgoing?.(event, after, command, command.entity) ?? [],
    ))
      if (message.to === "command") this.#take(message.name, message.entity, message.data);
  }

  /** Nobody gets into what has left already. */
  #checkTimes(events: { type: string }[], after: object | undefined): void {
    const booked = events.filter(({ type }) => type === "segment.booked") as unknown as {
      data: { segmentId: string };
    }[];
    for (const { data } of booked) {
      const segment = (after as TransferState).segments.find(({ segmentId }) => segmentId === data.segmentId);
      if (segment !== undefined && segment.scheduledAt <= this.now)
        throw new Error(`${data.segmentId} is booked past its own pickup`);
    }
  }

  #take(name: string, entity: string, data: unknown): void {
    if (name === "sub-case.record-answer") this.answers.push(data as VendorAnswer);
    else if (name === "sub-case.note-ride") this.notes.push({ group: entity, note: data as RideNote });
    else if (name === "review.open") this.items.push((data as { origin: string }).origin);
    else this.sent.push({ name, entity, data, id: `sent ${++this.#count}`, attempt: 1 });
  }

  /** What a person does; what comes too late or is not so is refused. */
  byHand(verb: string, group: number, data: object, party?: RideParty): void {
    if (!this.transfers.has(idOfGroup(group)) && party === undefined) return;
    const gathered = { caseIsClosed: false, ...(party === undefined ? {} : { party }) };
    try {
      this.handle(`transport.${verb}`, idOfGroup(group), data, { principal: supervisor }, gathered);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  #ask(verb: VendorVerb, group: number, request: object, { round = 1, tries = 1, again }: Asking): void {
    const data: VendorCall = {
      reference: referenceOf(group, round),
      tries,
      doubt: tries > 1,
      ...(again === undefined ? {} : { again }),
      request: { ...request },
      replyTo: { name: "sub-case.record-answer", entity: idOfGroup(group) },
    };
    this.#take(`transport.${verb}`, idOfGroup(group), data);
  }

  order(group: number, more: Partial<RideOrder> = {}, asking: Asking = {}): void {
    this.#ask("book-ride", group, orderOf(group, more), asking);
  }

  giveBack(group: number, asking: Asking = {}): void {
    this.#ask("cancel-ride", group, {}, asking);
  }

  follow(group: number, departure: string, shape: number, round = 1): void {
    this.#take("transport.follow-flight", idOfGroup(group), {
      reference: referenceOf(group, round),
      departure,
      shape,
    });
  }

  segment(group: number, direction: Direction) {
    return this.transfers.get(idOfGroup(group))?.segments.find((one) => one.direction === direction);
  }

  retime(group: number, direction: Direction, scheduledAt: string): void {
    const { segmentId } = this.segment(group, direction) ?? {};
    if (segmentId !== undefined)
      this.byHand("retime-segment", group, { segmentId, scheduledAt, reason: "Snow" });
  }

  changeVehicle(group: number, direction: Direction, vehicleType: VehicleType): void {
    const { segmentId } = this.segment(group, direction) ?? {};
    if (segmentId !== undefined)
      this.byHand("change-vehicle", group, { segmentId, vehicleType, reason: "A chair" });
  }

  cancel(group: number, direction: Direction): void {
    const { segmentId } = this.segment(group, direction) ?? {};
    if (segmentId !== undefined) this.byHand("cancel-segment", group, { segmentId, reason: "Taxi" });
  }

  /** One message of those under way arrives. @param again it will come once more */
  async deliver(which: number, turn: Turn, lookup: Turn, again: boolean): Promise<void> {
    const [message] = this.sent.splice(which % Math.max(1, this.sent.length), 1);
    if (message === undefined) return;
    if (again) this.sent.push({ ...message, attempt: message.attempt + 1 });
    if (message.name.startsWith("vendor-")) {
      await this.#atVendor(message, turn, lookup);
      return;
    }
    try {
      this.handle(message.name, message.entity, message.data, { id: message.id });
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      if (!again) this.#early.push(message);
      return;
    }
    this.sent.push(...this.#early.splice(0));
  }

  /** The vendor drives a ride no more, by itself, while it has not left; of all that it has, the which-th. @returns its reference */
  recall(which = 0): string | undefined {
    const ahead = [...this.vendors.held].filter(([reference, state]) => {
      const run = this.runs.get(runOfReference(reference) ?? "");
      return state === "BOOKED" && run !== undefined && run.pickupAt > this.now;
    });
    const [reference] = ahead[which % Math.max(1, ahead.length)] ?? [];
    if (reference !== undefined) {
      this.vendors.held.set(reference, "CANCELLED");
      this.report(reference);
    }
    return reference;
  }

  /** The vendor's word of it is under way. */
  report(reference: string, more: Partial<RideReport> = {}): void {
    const data: RideReport = {
      ...{ reference, rideId: `R-${reference}`, state: "CANCELLED", at: this.now.toISOString() },
      ...more,
    };
    this.#take("transport.record-ride", runOfReference(reference) ?? "", data);
  }

  async #atVendor({ name, data, attempt }: Sent, turn: Turn, lookup: Turn): Promise<void> {
    const call = data as VendorCall;
    const verb = name.slice(name.indexOf(".") + 1) as VendorVerb;
    this.#turns.splice(0, 2, ...(call.doubt || attempt > 1 ? [lookup, turn] : [turn]));
    const { traceparent } = trace;
    const answer = await carryOut(this.vendors.transport, verb, call, { traceparent, attempt });
    this.#take(call.replyTo.name, call.replyTo.entity, answer);
  }

  /** The earliest timer is due. False: there is none. */
  wake(): boolean {
    const due = [
      ...[...this.runs].flatMap(([id, state]) =>
        (runRules.timers?.(state) ?? []).map((timer) => ({ id, ...timer })),
      ),
      ...[...this.transfers].flatMap(([id, state]) =>
        (transferRules.timers?.(state) ?? []).map((timer) => ({ id, ...timer })),
      ),
    ].sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
    const [first] = due;
    if (first === undefined) return false;
    this.now = new Date(Math.max(first.dueAt.getTime(), this.now.getTime()));
    this.handle(`transport.${first.name}`, first.id, { dueAt: first.dueAt.toISOString() });
    this.sent.push(...this.#early.splice(0));
    return true;
  }

  /** From now on everybody answers. */
  async settle(): Promise<void> {
    for (let step = 0; ; step++) {
      if (step > 5_000) throw new Error("it comes to no end");
      if (this.sent.length > 0) await this.deliver(step, "done", "done", false);
      else if (!this.wake()) return;
      this.check();
    }
  }

  /** What must be true at every moment. */
  check(): void {
    for (const { vehicles, vehicleType } of this.runs.values())
      for (const { reference, riders, seats } of vehicles) {
        const taken = riders.reduce((sum, { passengers }) => sum + passengers, 0);
        if (taken > seats) throw new Error(`${reference} has ${seats} seats and ${taken} riders`);
        const groups = new Set(riders.map(({ transferId }) => transferId));
        if (vehicleType !== "SHUTTLE" && groups.size > 1)
          throw new Error(`${reference} is shared by strangers`);
      }
  }

  /** Once all has come to rest: groups, runs and vendor say the same. */
  checkEnd(): void {
    if (this.#early.length > 0) throw new Error("something still waits for what must come first");
    const vehicles = [...this.runs].flatMap(([runId, run]) => run.vehicles.map((one) => ({ runId, ...one })));
    const standing = vehicles.filter(({ status }) => status === "BOOKED" || status === "STUCK");
    const held = [...this.vendors.held]
      .filter(([, state]) => state === "BOOKED")
      .map(([reference]) => reference);
    same(
      "what the vendor holds",
      held,
      standing.map(({ reference }) => reference),
    );
    for (const { reference, status, riders } of vehicles)
      if ((status === "BOOKED") !== riders.length > 0 && !this.#hasLeft(reference))
        throw new Error(`${reference} is ${status} with ${riders.length} riders`);
    const sums = new Map<string, number>();
    for (const { runId, riders } of vehicles)
      for (const { segmentId, attempt, passengers } of riders) {
        const key = `${segmentId}.${attempt}@${runId}`;
        sums.set(key, (sums.get(key) ?? 0) + passengers);
      }
    const wanted = [...this.transfers.values()].flatMap(({ segments }) =>
      segments.flatMap(({ segmentId, passengers, seat }) =>
        seat === undefined ? [] : [`${segmentId}.${seat.attempt}@${seat.runId} ${passengers}`],
      ),
    );
    same(
      "who sits where",
      [...sums].map(([key, sum]) => `${key} ${sum}`),
      wanted,
    );
    for (const { asked, segments, orders, leaving } of this.transfers.values()) {
      if (asked !== undefined) throw new Error(`${asked.verb} ${asked.reference} has no answer`);
      if (leaving.some(({ refusal }) => refusal === undefined)) throw new Error("seats are still being left");
      for (const { reference, status, seat } of segments) {
        const released = orders.find((order) => order.reference === reference)?.releasedAt !== undefined;
        if (released && status !== "cancelled")
          throw new Error(`${reference} is released, its ride ${status}`);
        if ((status === "booked") !== (seat !== undefined))
          throw new Error(`${status} with seats: ${!!seat}`);
      }
    }
  }

  #hasLeft(reference: string): boolean {
    return [...this.runs.values()].some(
      ({ pickupAt, vehicles }) => pickupAt <= this.now && vehicles.some((one) => one.reference === reference),
    );
  }
}

interface Asking {
  round?: number;
  tries?: number;
  again?: number;
}

const same = (what: string, found: string[], expected: string[]): void => {
  const [a, b] = [found.toSorted().join(", "), expected.toSorted().join(", ")];
  if (a !== b) throw new Error(`${what}: ${a || "nothing"}, expected ${b || "nothing"}`);
};
