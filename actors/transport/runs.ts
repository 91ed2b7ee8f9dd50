/** Owns what leaves with a run's events: vehicles ordered and given back at the vendor, and what groups are told of their seats. */
import { drillVendor } from "../../schemas/drill.ts";
import type { SeatsLeft, SeatsNote } from "../../schemas/transport.ts";
import type { VendorCall } from "../../schemas/vendor-call.ts";
import type { Decider, Outgoing, Timer } from "../runtime/decider.ts";
import { runCommands, runDecider } from "./run-decide.ts";
import { evolveRun, type RunEvent, type RunState, type Vehicle } from "./run-state.ts";
import type { CallSettings, VehicleCall } from "./vehicle-call.ts";

const technical: ReadonlySet<string> = new Set<RunEvent["type"]>([
  "run.call-postponed",
  "run.call-reissued",
  "run.seats-told",
  "run.left-told",
  "run.vehicles-forgotten",
]);

export const runCollection = "transportRuns";

export const runs = (settings: CallSettings): Decider<RunState, RunEvent> => ({
  actor: "transport",
  kind: "transport-run",
  collection: runCollection,
  schemaVersion: 1,
  remembered: 64,
  commands: runCommands,
  indexes: [],
  decide: runDecider(settings),
  evolve: evolveRun,
  outgoing,
  technical,
  timers: ({ vehicles }): Timer[] =>
    vehicles.flatMap(({ call }) => (call === undefined ? [] : [{ name: "reissue-call", dueAt: call.dueAt }])),
  view: () => null,
});

const outgoing = (event: RunEvent, state: RunState): Outgoing[] => {
  switch (event.type) {
    case "run.vehicle-ordered": {
      const { vehicle } = event.data;
      return vehicle.call === undefined ? [] : [vendorCommand(state, vehicle, vehicle.call)];
    }
    case "run.cancellation-begun":
    case "run.call-reissued": {
      const { number, call } = event.data;
      const vehicle = state.vehicles.find((one) => one.number === number);
      return vehicle === undefined ? [] : [vendorCommand(state, vehicle, call)];
    }
    case "run.seats-told": {
      const { holder, ...told } = event.data;
      const data: SeatsNote = { ...holder, ...told };
      return [{ to: "command", name: "transport.note-seats", entity: holder.transferId, data }];
    }
    case "run.left-told": {
      const { holder, ...told } = event.data;
      const data: SeatsLeft = { ...holder, ...told };
      return [{ to: "command", name: "transport.note-left", entity: holder.transferId, data }];
    }
    case "run.begun":
    case "run.seats-taken":
    case "run.seats-left":
    case "run.vehicle-emptied":
    case "run.leavers-released":
    case "run.vehicles-forgotten":
    case "run.call-postponed":
    case "run.vehicle-booked":
    case "run.vehicle-refused":
    case "run.vehicle-cancelled":
    case "run.vehicle-stuck":
    case "run.vehicle-lost":
      return [];
    default:
      return event satisfies never;
  }
};

const vendorCommand = (state: RunState, vehicle: Vehicle, { verb, tries, doubt }: VehicleCall): Outgoing => {
  const { runId, direction, vehicleType, pickupAt, from, to } = state;
  const { reference, seats, needs, again, rideId } = vehicle;
  const ordered = {
    direction,
    vehicleType,
    pickupAt: pickupAt.toISOString(),
    from,
    to,
    passengers: seats,
    specialRequirements: needs,
  };
  const data: VendorCall = {
    reference,
    tries,
    doubt,
    ...(again === 0 ? {} : { again }),
    request: verb === "book-ride" ? ordered : { rideId },
    replyTo: { name: "transport.record-answer", entity: runId },
  };
  // Whoever chose the vendor, and however: what a drill asks for is asked of nobody real.
  const vendor = state.kind === undefined ? state.vendor : drillVendor;
  return { to: "command", name: `vendor-${vendor}.${verb}`, entity: runId, data };
};
