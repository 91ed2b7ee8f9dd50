/** Owns the rules of a run: how seats are taken and left, when a vehicle is ordered or given back, and who is told of it. */
import {
  type LeaveSeats,
  type RideReport,
  type RunFacts,
  rideReference,
  type SeatHolder,
  type TakeSeats,
} from "../../schemas/transport.ts";
import type { VendorAnswer } from "../../schemas/vendor-call.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { evolveRun, isGone, isSame, type RunEvent, type RunState, type Vehicle } from "./run-state.ts";
import { seating } from "./seating.ts";
import { type CallSettings, endOf, firstCall, reissued, type VehicleCall } from "./vehicle-call.ts";

/** Collects events while following the state that they lead to. */
class Course {
  readonly events: RunEvent[] = [];
  readonly now: Date;
  readonly settings: CallSettings;
  #state: RunState | undefined;

  constructor(state: RunState | undefined, now: Date, settings: CallSettings) {
    this.#state = state;
    this.now = now;
    this.settings = settings;
  }

  get state(): RunState {
    return this.#state as RunState;
  }

  tell(event: RunEvent): void {
    this.events.push(event);
    this.#state = evolveRun(this.#state, event);
  }

  vehicle(number: number): Vehicle {
    return this.state.vehicles.find((one) => one.number === number) as Vehicle;
  }

  get hasDeparted(): boolean {
    return this.state.pickupAt <= this.now;
  }
}

export const runCommands = [
  "take-seats",
  "leave-seats",
  "record-answer",
  "reissue-call",
  "record-ride",
] as const;

/** @throws NotYet for what came before the first seat was taken, or before a vehicle's booking was answered */
export const runDecider =
  (settings: CallSettings) =>
  (state: RunState | undefined, command: Received): RunEvent[] => {
    const course = new Course(state, command.now, settings);
    const verb = command.name.slice("transport.".length) as (typeof runCommands)[number];
    if (verb === "take-seats") {
      const data = command.data as TakeSeats;
      if (state === undefined) begin(course, command.entity, data.run);
      takeSeats(course, data);
      forget(course);
      return course.events;
    }
    // A run is there before its vendor hears of it.
    if (state === undefined && verb === "record-ride") return [];
    if (state === undefined) throw new NotYet("The run does not exist yet.");
    switch (verb) {
      case "leave-seats":
        leaveSeats(course, command.data as LeaveSeats);
        break;
      case "record-answer":
        takeAnswer(course, command.data as VendorAnswer);
        break;
      case "reissue-call":
        reissueDue(course);
        break;
      case "record-ride":
        recordRide(course, command.data as RideReport);
        break;
      default:
        verb satisfies never;
    }
    forget(course);
    return course.events;
  };

const neverDrives: ReadonlySet<string> = new Set(["CANCELLED", "REFUSED", "LOST"]);

/** Vehicles that never drive and that nobody sits in: a run that many join and leave stays small. */
const forget = (course: Course): void => {
  const numbers = course.state.vehicles
    .filter(({ status, riders }) => neverDrives.has(status) && riders.length === 0)
    .map(({ number }) => number);
  if (numbers.length > 0) course.tell({ type: "run.vehicles-forgotten", data: { numbers } });
};

const begin = (course: Course, runId: string, facts: RunFacts): void =>
  course.tell({ type: "run.begun", data: { runId, facts } });

const holderOf = ({ transferId, segmentId, attempt }: SeatHolder): SeatHolder => ({
  transferId,
  segmentId,
  attempt,
});

const vehiclesOf = ({ vehicles }: RunState, holder: SeatHolder): Vehicle[] =>
  vehicles.filter(({ riders }) => riders.some((rider) => isSame(rider, holder)));

const takesRiders: ReadonlySet<string> = new Set(["ORDERED", "BOOKED"]);

const lost = { code: "CANCELLED", detail: "The vendor has cancelled the vehicle." };
const tooLate = { code: "TOO_LATE", detail: "The vehicle would have left already." };

/** Asked again for seats that it has, or had, a group hears how that stands. */
const takeSeats = (course: Course, wanted: TakeSeats): void => {
  const { state } = course;
  const holder = holderOf(wanted);
  if (vehiclesOf(state, holder).length > 0) {
    tellSeats(course, holder);
    return;
  }
  if (isGone(state, holder)) return;
  if (course.hasDeparted) {
    course.tell({ type: "run.seats-told", data: { holder, outcome: "refused", vehicles: [], ...tooLate } });
    return;
  }
  const shared = state.vehicleType === "SHUTTLE";
  const open = state.vehicles
    .filter(({ status }) => takesRiders.has(status))
    .map(({ number, seats, needs, riders }) => ({ number, seats, needs, taken: seatsTaken(riders) }));
  for (const { number, passengers } of seating(open, { ...wanted, shared })) {
    const seat = number ?? order(course, wanted, shared ? wanted.seats : passengers);
    course.tell({ type: "run.seats-taken", data: { number: seat, rider: { ...holder, passengers } } });
    releaseLeavers(course, seat);
  }
  tellSeats(course, holder);
};

const seatsTaken = (riders: readonly { passengers: number }[]): number =>
  riders.reduce((sum, { passengers }) => sum + passengers, 0);

/** A vehicle is ordered whole, with all its seats: who joins later changes nothing at the vendor. */
const order = (course: Course, { transferId, needs }: TakeSeats, seats: number): number => {
  const { state, now, settings } = course;
  const number = (state.ordered ?? state.vehicles.length) + 1;
  const vehicle: Vehicle = {
    number,
    reference: rideReference(transferId, state.runId, number),
    seats,
    needs,
    status: "ORDERED",
    riders: [],
    leavers: [],
    again: 0,
    call: firstCall("book-ride", now, settings),
  };
  course.tell({ type: "run.vehicle-ordered", data: { vehicle } });
  return number;
};

/** Somebody sits in a vehicle that was to be given back: who had left it has nothing to wait for. */
const releaseLeavers = (course: Course, number: number): void => {
  const { leavers } = course.vehicle(number);
  if (leavers.length === 0) return;
  course.tell({ type: "run.leavers-released", data: { number } });
  for (const leaver of leavers) tellLeft(course, leaver);
};

/** Says nothing while one of the group's vehicles is still being ordered. Whoever sits in one that is given back was too late for it. */
const tellSeats = (course: Course, holder: SeatHolder): void => {
  const own = vehiclesOf(course.state, holder);
  if (own.some(({ status }) => status === "LOST")) {
    course.tell({ type: "run.seats-told", data: { holder, outcome: "lost", vehicles: [], ...lost } });
    return;
  }
  const refused = own.find(({ status }) => !takesRiders.has(status));
  if (own.length === 0 || (refused === undefined && own.some(({ status }) => status !== "BOOKED"))) return;
  const vehicles = own.map(({ riders, plate }) => ({
    passengers: seatsTaken(riders.filter((rider) => isSame(rider, holder))),
    ...(plate === undefined ? {} : { plate }),
  }));
  course.tell({
    type: "run.seats-told",
    data:
      refused === undefined
        ? { holder, outcome: "booked", vehicles }
        : {
            holder,
            outcome: "refused",
            vehicles: [],
            ...((refused.status === "REFUSED" ? refused.refusal : undefined) ?? tooLate),
          },
  });
};

/** Frees the seats at once. A vehicle that this empties is given back before it has left. */
const leaveSeats = (course: Course, { again, ...data }: LeaveSeats): void => {
  const holder = holderOf(data);
  const own = vehiclesOf(course.state, holder);
  if (own.length > 0 || !isGone(course.state, holder))
    course.tell({ type: "run.seats-left", data: { holder } });
  for (const { number } of own) {
    const { riders, status } = course.vehicle(number);
    if (riders.length > 0) continue;
    if (status === "ORDERED") course.tell({ type: "run.vehicle-emptied", data: { number, leaver: holder } });
    if (status !== "BOOKED" || course.hasDeparted) continue;
    course.tell({ type: "run.vehicle-emptied", data: { number, leaver: holder } });
    giveBack(course, number, 0);
  }
  for (const vehicle of course.state.vehicles)
    if (
      vehicle.status === "STUCK" &&
      vehicle.again < again &&
      isLeaver(vehicle, holder) &&
      !course.hasDeparted
    )
      giveBack(course, vehicle.number, again);
  tellLeft(course, holder, again);
};

const isLeaver = ({ leavers }: Vehicle, holder: SeatHolder): boolean =>
  leavers.some((leaver) => isSame(leaver, holder));

const giveBack = (course: Course, number: number, again: number): void => {
  const call = firstCall("cancel-ride", course.now, course.settings);
  course.tell({ type: "run.cancellation-begun", data: { number, call, again } });
};

/**
 * Says nothing while a vehicle that its leaving has emptied is still being ordered or given back. One that could not be given
 * back before it left has left: nobody can do anything about it. @param asked how often a person has had it asked again, if that is known
 */
const tellLeft = (course: Course, holder: SeatHolder, asked = 0): void => {
  const own = course.state.vehicles.filter((vehicle) => isLeaver(vehicle, holder));
  if (own.some(({ status }) => status === "ORDERED" || status === "CANCELLING")) return;
  const stuck = course.hasDeparted ? undefined : own.find(({ status }) => status === "STUCK");
  const again = Math.max(asked, ...own.map((vehicle) => vehicle.again));
  const refusal = stuck?.refusal;
  const told = { holder, again, ...(refusal === undefined ? {} : { refusal }) };
  course.tell({ type: "run.left-told", data: told });
};

/** A vendor's answer about one vehicle; one that fits no call under way changes nothing. */
const takeAnswer = (course: Course, answer: VendorAnswer): void => {
  const vehicle = course.state.vehicles.find(({ reference }) => reference === answer.reference);
  if (vehicle === undefined) return;
  const { number, call, again } = vehicle;
  const end = endOf(call, again, answer, course.now);
  switch (end.end) {
    case "nothing":
      return;
    case "later":
      if (isPointless(course, end.call)) tooLateFor(course, number);
      else course.tell({ type: "run.call-postponed", data: { number, call: end.call } });
      return;
    case "done":
      if (call?.verb === "book-ride") booked(course, number, answer.result ?? {});
      else settled(course, number, { type: "run.vehicle-cancelled", data: { number } });
      return;
    case "refused": {
      const { code, detail } = end;
      const type = call?.verb === "book-ride" ? "run.vehicle-refused" : "run.vehicle-stuck";
      settled(course, number, { type, data: { number, code, detail } });
      return;
    }
    default:
      end satisfies never;
  }
};

/** An order that the vendor surely has not taken is not sent again for a vehicle that would have left; one in doubt has to be known. */
const isPointless = ({ hasDeparted }: Course, { verb, postponed, doubt }: VehicleCall): boolean =>
  hasDeparted && verb === "book-ride" && postponed && !doubt;

const tooLateFor = (course: Course, number: number): void =>
  settled(course, number, { type: "run.vehicle-refused", data: { number, ...tooLate } });

/** Everybody may have left it while it was ordered; and nobody knew of one that is confirmed past its own pickup. */
const booked = (course: Course, number: number, { rideId, plate }: Record<string, unknown>): void => {
  const data = { number, rideId: String(rideId), ...(plate === undefined ? {} : { plate: String(plate) }) };
  course.tell({ type: "run.vehicle-booked", data });
  const { riders, leavers } = course.vehicle(number);
  const isEmpty = riders.length === 0 && leavers.length > 0;
  if (isEmpty || course.hasDeparted) giveBack(course, number, 0);
  if (!isEmpty) settledFor(course, number);
};

const settled = (course: Course, number: number, event: RunEvent): void => {
  course.tell(event);
  settledFor(course, number);
};

const settledFor = (course: Course, number: number): void => {
  const { riders, leavers } = course.vehicle(number);
  for (const rider of riders) tellSeats(course, holderOf(rider));
  for (const leaver of leavers) tellLeft(course, leaver);
};

/**
 * The vendor has cancelled a vehicle, by itself or before we have its answer: it never drives, and each of its riders hears of it. One that
 * had left by then has driven; of what never came, and of another ride under the same reference, it is no news.
 * @throws NotYet while the answer to its booking is still on its way
 */
const recordRide = (course: Course, { reference, rideId, at }: RideReport): void => {
  const vehicle = course.state.vehicles.find((one) => one.reference === reference);
  if (vehicle?.status === "ORDERED") throw new NotYet("The vehicle's booking is not answered yet.");
  if (vehicle === undefined || vehicle.rideId !== rideId) return;
  const { number, status } = vehicle;
  if (status === "CANCELLING" || status === "STUCK")
    settled(course, number, { type: "run.vehicle-cancelled", data: { number } });
  if (status === "BOOKED" && new Date(at) < course.state.pickupAt)
    settled(course, number, { type: "run.vehicle-lost", data: { number } });
};

/** The timer: sends postponed calls, and puts those without an answer in doubt. */
const reissueDue = (course: Course): void => {
  for (const { number, call } of course.state.vehicles) {
    if (call === undefined || call.dueAt > course.now) continue;
    if (isPointless(course, call)) tooLateFor(course, number);
    else
      course.tell({
        type: "run.call-reissued",
        data: { number, call: reissued(call, course.now, course.settings) },
      });
  }
};
