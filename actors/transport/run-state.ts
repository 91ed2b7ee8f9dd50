/** Owns what a run is: the vehicles that leave one place for another at one time, and who sits in each. */
import type { RunFacts, SeatHolder } from "../../schemas/transport.ts";
import type { VehicleCall } from "./vehicle-call.ts";

/** Passengers of one group in one vehicle. */
export interface Rider extends SeatHolder {
  passengers: number;
}

/**
 * ORDERED: the vendor is being asked. REFUSED: it said no. CANCELLING: empty, and being given back. STUCK: the vendor does not
 * take it back. LOST: the vendor has cancelled it by itself. A vehicle that has left empty stays BOOKED: there is nothing to give back.
 */
export type VehicleStatus = "ORDERED" | "BOOKED" | "REFUSED" | "CANCELLING" | "CANCELLED" | "STUCK" | "LOST";

export interface Vehicle {
  /** From 1, in the run. */
  number: number;
  /** Begins with the id of the group that it was ordered for first. The vendor's idempotency key. */
  reference: string;
  seats: number;
  needs: string[];
  status: VehicleStatus;
  riders: Rider[];
  /** Whose leaving has emptied it: they wait for what becomes of it. */
  leavers: SeatHolder[];
  /** How often a person has had its refused cancellation asked again. */
  again: number;
  call?: VehicleCall;
  rideId?: string;
  plate?: string;
  refusal?: { code: string; detail: string };
}

export interface RunState extends Omit<RunFacts, "pickupAt"> {
  runId: string;
  pickupAt: Date;
  vehicles: Vehicle[];
  /** How many were ever ordered; of a run that is older than this count, as many as it has. */
  ordered?: number;
  /** `<segment>.<attempt>` of who has left, each segment's latest: seats asked for later than left are not taken. */
  gone: string[];
}

export type RunEvent =
  | { type: "run.begun"; data: { runId: string; facts: RunFacts } }
  | { type: "run.vehicle-ordered"; data: { vehicle: Vehicle } }
  | { type: "run.seats-taken"; data: { number: number; rider: Rider } }
  | { type: "run.seats-left"; data: { holder: SeatHolder } }
  /** `leaver`: whose leaving has emptied it, if it is empty. */
  | { type: "run.vehicle-emptied"; data: { number: number; leaver: SeatHolder } }
  /** Somebody sits in it again. */
  | { type: "run.leavers-released"; data: { number: number } }
  /** Nobody has anything to do with them any more. */
  | { type: "run.vehicles-forgotten"; data: { numbers: number[] } }
  | { type: "run.cancellation-begun"; data: { number: number; call: VehicleCall; again: number } }
  | { type: "run.call-postponed"; data: { number: number; call: VehicleCall } }
  | { type: "run.call-reissued"; data: { number: number; call: VehicleCall } }
  | { type: "run.vehicle-booked"; data: { number: number; rideId: string; plate?: string } }
  | { type: "run.vehicle-refused"; data: { number: number; code: string; detail: string } }
  | { type: "run.vehicle-cancelled"; data: { number: number } }
  | { type: "run.vehicle-stuck"; data: { number: number; code: string; detail: string } }
  | { type: "run.vehicle-lost"; data: { number: number } }
  /** Said to a group; the state is as before. */
  | {
      type: "run.seats-told";
      data: {
        holder: SeatHolder;
        outcome: "booked" | "refused" | "lost";
        vehicles: { passengers: number; plate?: string }[];
        code?: string;
        detail?: string;
      };
    }
  | {
      type: "run.left-told";
      data: { holder: SeatHolder; again: number; refusal?: { code: string; detail: string } };
    };

const holderKey = ({ segmentId, attempt }: SeatHolder): string => `${segmentId}.${attempt}`;
export const isSame = (a: SeatHolder, b: SeatHolder): boolean => holderKey(a) === holderKey(b);

/** Its searches count up and each is given up, or has found its seats, before the next: who has left has left all earlier ones, too. */
const latestGone = ({ gone }: RunState, segmentId: string): number =>
  Math.max(
    0,
    ...gone
      .filter((key) => key.slice(0, key.lastIndexOf(".")) === segmentId)
      .map((key) => Number(key.slice(key.lastIndexOf(".") + 1))),
  );

/** Whether these seats were given up before, so that nobody waits for them. */
export const isGone = (state: RunState, { segmentId, attempt }: SeatHolder): boolean =>
  attempt <= latestGone(state, segmentId);

const goneWith = (state: RunState, holder: SeatHolder): string[] =>
  isGone(state, holder)
    ? state.gone
    : [
        ...state.gone.filter((key) => key.slice(0, key.lastIndexOf(".")) !== holder.segmentId),
        holderKey(holder),
      ];

const changed = (state: RunState, number: number, change: (vehicle: Vehicle) => Vehicle): RunState => ({
  ...state,
  vehicles: state.vehicles.map((vehicle) => (vehicle.number === number ? change(vehicle) : vehicle)),
});

const withoutCall = ({ call: _, ...vehicle }: Vehicle): Vehicle => vehicle;

export const evolveRun = (before: RunState | undefined, event: RunEvent): RunState => {
  if (event.type === "run.begun") {
    const { runId, facts } = event.data;
    return { ...facts, runId, pickupAt: new Date(facts.pickupAt), vehicles: [], ordered: 0, gone: [] };
  }
  const state = before as RunState;
  switch (event.type) {
    case "run.vehicle-ordered":
      return {
        ...state,
        vehicles: [...state.vehicles, event.data.vehicle],
        ordered: event.data.vehicle.number,
      };
    case "run.seats-taken": {
      const { number, rider } = event.data;
      return changed(state, number, (vehicle) => ({ ...vehicle, riders: [...vehicle.riders, rider] }));
    }
    case "run.seats-left": {
      const { holder } = event.data;
      return {
        ...state,
        gone: goneWith(state, holder),
        vehicles: state.vehicles.map((vehicle) => ({
          ...vehicle,
          riders: vehicle.riders.filter((rider) => !isSame(rider, holder)),
        })),
      };
    }
    case "run.vehicle-emptied": {
      const { number, leaver } = event.data;
      return changed(state, number, (vehicle) => ({ ...vehicle, leavers: [...vehicle.leavers, leaver] }));
    }
    case "run.leavers-released":
      return changed(state, event.data.number, (vehicle) => ({ ...vehicle, leavers: [] }));
    case "run.vehicles-forgotten": {
      const { numbers } = event.data;
      return { ...state, vehicles: state.vehicles.filter(({ number }) => !numbers.includes(number)) };
    }
    case "run.cancellation-begun": {
      const { number, call, again } = event.data;
      return changed(state, number, ({ refusal: _, ...vehicle }) => ({
        ...vehicle,
        status: "CANCELLING",
        call,
        again,
      }));
    }
    case "run.call-postponed":
    case "run.call-reissued": {
      const { number, call } = event.data;
      return changed(state, number, (vehicle) => ({ ...vehicle, call }));
    }
    case "run.vehicle-booked": {
      const { number, rideId, plate } = event.data;
      return changed(state, number, (vehicle) => ({
        ...withoutCall(vehicle),
        status: "BOOKED",
        rideId,
        ...(plate === undefined ? {} : { plate }),
      }));
    }
    case "run.vehicle-refused":
    case "run.vehicle-stuck": {
      const { number, code, detail } = event.data;
      const status = event.type === "run.vehicle-stuck" ? "STUCK" : "REFUSED";
      return changed(state, number, (vehicle) => ({
        ...withoutCall(vehicle),
        status,
        refusal: { code, detail },
      }));
    }
    case "run.vehicle-cancelled":
    case "run.vehicle-lost": {
      const status = event.type === "run.vehicle-lost" ? "LOST" : "CANCELLED";
      return changed(state, event.data.number, (vehicle) => ({ ...withoutCall(vehicle), status }));
    }
    case "run.seats-told":
    case "run.left-told":
      return state;
    default:
      return event satisfies never;
  }
};
