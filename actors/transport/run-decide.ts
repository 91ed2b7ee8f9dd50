/** Owns the rules of a run: how seats are taken and left, when a vehicle is ordered or given back, and who is told of it. */
import type { LeaveSeats, RunFacts, SeatHolder, TakeSeats } from "../../schemas/transport.ts";
import type { VendorAnswer } from "../../schemas/vendor-call.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { evolveRun, holderKey, isSame, type RunEvent, type RunState, type Vehicle } from "./run-state.ts";
import { seating } from "./seating.ts";
import { type CallSettings, endOf, firstCall, reissued } from "./vehicle-call.ts";

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
}

export const runCommands = ["take-seats", "leave-seats", "record-answer", "reissue-call"] as const;

/** @throws NotYet for what came before the first seat was taken */
export const runDecider =
  (settings: CallSettings) =>
  (state: RunState | undefined, command: Received): RunEvent[] => {
    const course = new Course(state, command.now, settings);
    const verb = command.name.slice("transport.".length) as (typeof runCommands)[number];
    if (verb === "take-seats") {
      const data = command.data as TakeSeats;
      if (state === undefined) begin(course, command.entity, data.run);
      takeSeats(course, data);
      return course.events;
    }
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
      default:
        verb satisfies never;
    }
    return course.events;
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

/** Asked again for seats that it has, or had, a group hears how that stands. */
const takeSeats = (course: Course, wanted: TakeSeats): void => {
  const { state, now } = course;
  const holder = holderOf(wanted);
  if (state.gone.includes(holderKey(holder))) return;
  if (vehiclesOf(state, holder).length > 0) {
    tellSeats(course, holder);
    return;
  }
  if (state.pickupAt <= now) {
    const detail = "The vehicle would have left already.";
    const code = "TOO_LATE";
    course.tell({ type: "run.seats-told", data: { holder, outcome: "refused", vehicles: [], code, detail } });
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
  const number = state.vehicles.length + 1;
  const vehicle: Vehicle = {
    number,
    reference: `${transferId}.ride.${state.runId}.${number}`,
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

/** Says nothing while one of the group's vehicles is still being ordered. */
const tellSeats = (course: Course, holder: SeatHolder): void => {
  const own = vehiclesOf(course.state, holder);
  const refused = own.find(({ status }) => status === "REFUSED");
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
        : { holder, outcome: "refused", vehicles: [], ...refused.refusal },
  });
};

/** Frees the seats at once. A vehicle that this empties is given back before it has left. */
const leaveSeats = (course: Course, { again, ...data }: LeaveSeats): void => {
  const holder = holderOf(data);
  const own = vehiclesOf(course.state, holder);
  if (!course.state.gone.includes(holderKey(holder)))
    course.tell({ type: "run.seats-left", data: { holder } });
  for (const { number } of own) {
    const { riders, status } = course.vehicle(number);
    if (riders.length > 0) continue;
    const departed = course.state.pickupAt <= course.now;
    if (status === "ORDERED") course.tell({ type: "run.vehicle-emptied", data: { number, leaver: holder } });
    if (status !== "BOOKED" || departed) continue;
    course.tell({ type: "run.vehicle-emptied", data: { number, leaver: holder } });
    giveBack(course, number, 0);
  }
  for (const vehicle of course.state.vehicles)
    if (vehicle.status === "STUCK" && vehicle.again < again && isLeaver(vehicle, holder))
      giveBack(course, vehicle.number, again);
  tellLeft(course, holder);
};

const isLeaver = ({ leavers }: Vehicle, holder: SeatHolder): boolean =>
  leavers.some((leaver) => isSame(leaver, holder));

const giveBack = (course: Course, number: number, again: number): void => {
  const call = firstCall("cancel-ride", course.now, course.settings);
  course.tell({ type: "run.cancellation-begun", data: { number, call, again } });
};

/** Says nothing while a vehicle that its leaving has emptied is still being ordered or given back. */
const tellLeft = (course: Course, holder: SeatHolder): void => {
  const own = course.state.vehicles.filter((vehicle) => isLeaver(vehicle, holder));
  if (own.some(({ status }) => status === "ORDERED" || status === "CANCELLING")) return;
  const stuck = own.find(({ status }) => status === "STUCK");
  const again = Math.max(0, ...own.map((vehicle) => vehicle.again));
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
      course.tell({ type: "run.call-postponed", data: { number, call: end.call } });
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

/** Everybody may have left it while it was ordered. */
const booked = (course: Course, number: number, { rideId, plate }: Record<string, unknown>): void => {
  const data = { number, rideId: String(rideId), ...(plate === undefined ? {} : { plate: String(plate) }) };
  course.tell({ type: "run.vehicle-booked", data });
  const { riders, leavers } = course.vehicle(number);
  if (riders.length === 0 && leavers.length > 0 && course.state.pickupAt > course.now)
    giveBack(course, number, 0);
  else settledFor(course, number);
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

/** The timer: sends postponed calls, and puts those without an answer in doubt. */
const reissueDue = (course: Course): void => {
  for (const { number, call } of course.state.vehicles)
    if (call !== undefined && call.dueAt <= course.now)
      course.tell({
        type: "run.call-reissued",
        data: { number, call: reissued(call, course.now, course.settings) },
      });
};
