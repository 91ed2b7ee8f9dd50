// Faults of the vendors' books, and of those of the airline's own contracts, put into a settled night one at a time.

import type { Collection, Document } from "mongodb";
import type { ContractState, TakenRooms } from "../../actors/contract/state.ts";
import type { RunState, Vehicle } from "../../actors/transport/run-state.ts";
import { dateAfter } from "../../schemas/local-day.ts";
import { bookRoom, context as call } from "../contract/vendors/sandbox.ts";
import type { Corruption, startNight } from "./settled-night.ts";

type Night = Awaited<ReturnType<typeof startNight>>;

const stranger = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const strayReference = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS.room.1.1";
/** Those that cannot be undone come last. */
export const wrongBooks = (it: Night): Corruption[] => [...inContracts(it), ...atVendors(it)];

const atVendors = ({ night, other, change, stored, hotelOf, cards }: Night): Corruption[] => {
  let strayId = "";
  const runs = stored("transportRuns") as unknown as Collection<RunState & { _id: string }>;
  /** In the first vehicle of a run that has any riders. */
  const inRun = (
    what: string,
    update: Document,
    told: (vehicle: Vehicle, run: RunState & { _id: string }) => string | undefined,
  ): Corruption => {
    let finding: string | undefined;
    return {
      what,
      seed: async () => {
        const run = await runs.findOne({ "vehicles.0.riders.0": { $exists: true } });
        const [vehicle] = run?.vehicles ?? [];
        if (run === null || vehicle === undefined) throw new Error("nobody is driven");
        finding = told(vehicle, run);
        await runs.updateOne({ _id: run._id }, update);
        return () => runs.replaceOne({ _id: run._id }, run);
      },
      finding: () => finding,
    };
  };
  const { reservation, card } = other;
  const { vendor: hotelName = "", bookingId = "", reference = "" } = reservation ?? {};
  return [
    {
      what: "a booking is nobody's",
      seed: async () => {
        const port = hotelOf("stayhub");
        strayId = await bookRoom(port, strayReference);
        return () => port.cancel({ reference: strayReference, bookingId: strayId }, call);
      },
      finding: () =>
        `ledger XN stayhub booking ${strayId}: it stands (BOOKED) under ${strayReference}, and there is no such sub-case.`,
    },
    inRun(
      "a ride is nobody's",
      { $unset: { "vehicles.0.rideId": "" } },
      ({ rideId, reference }) =>
        `ledger XN ridefleet ride ${rideId}: it stands (BOOKED) under ${reference}, and no run knows of it.`,
    ),
    inRun(
      "a ride that is being booked",
      { $unset: { "vehicles.0.rideId": "" }, $set: { "vehicles.0.call": { verb: "book-ride" } } },
      () => undefined,
    ),
    inRun(
      "a vehicle is over its seats",
      { $set: { "vehicles.0.seats": 0 } },
      ({ riders }, { _id }) =>
        `ledger XN ridefleet run ${_id} vehicle 1: ${riders.reduce((sum, { passengers }) => sum + passengers, 0)} ride in it, and it has 0 seats.`,
    ),
    inRun(
      "somebody sits where the group does not know",
      { $push: { "vehicles.0.riders": { segmentId: stranger, attempt: 7, passengers: 0 } } },
      () => `ledger XN urn:segment:${stranger}: it has seats in a vehicle that it does not know of.`,
    ),
    {
      what: "a vendor does not answer",
      seed: async () => {
        await night.control({
          stayhub: { failNext: [{ operation: "reconcile", kind: "unavailable", times: 1 }] },
        });
        return async () => undefined;
      },
      finding: () => "vendor-silent QZ stayhub: unavailable: the vendor answered 503",
    },
    {
      what: "a reservation is not at the hotel",
      seed: async () => {
        await hotelOf(hotelName).cancel({ reference, bookingId }, call);
        return async () => undefined;
      },
      finding: () =>
        `ledger XN ${hotelName} booking ${bookingId}: sub-case ${other._id} has it, at the vendor it is CANCELLED.`,
    },
    {
      what: "so that its card stands alone",
      seed: async () => {
        const cancelled = { "reservation.status": "CANCELLED", "offer.state": "WITHDRAWN" };
        await change(other, { $set: cancelled });
        return async () => {
          const { cardId = "", reference = "" } = card ?? {};
          await cards.cancelCard({ reference, cardId }, call);
          await change(other, { $set: { "card.status": "CANCELLED" } });
        };
      },
      finding: () =>
        `ledger XN cardworks card ${card?.cardId}: it stands (ACTIVE) under ${card?.reference}, and the group has no booking.`,
    },
  ];
};

const inContracts = ({ stored, direct }: Night): Corruption[] => {
  const { bookingId, reference } = direct.reservation ?? {};
  const contracts = stored("contracts");
  const wrong = (
    what: string,
    change: (contract: ContractState) => Partial<ContractState>,
    finding?: (contract: ContractState & { _id: string }) => string,
  ): Corruption => {
    let kept: (ContractState & { _id: string }) | undefined;
    return {
      what,
      seed: async () => {
        const contract = (await contracts.findOne({})) as unknown as ContractState & { _id: string };
        await contracts.updateOne({ _id: contract._id }, { $set: change(contract) });
        kept = contract;
        return () => contracts.replaceOne({ _id: contract._id }, { ...contract });
      },
      finding: () => (kept === undefined ? undefined : finding?.(kept)),
    };
  };
  const mine = ({ taken }: ContractState) =>
    taken.find((entry) => entry.reference === reference) as TakenRooms;
  const others = ({ taken }: ContractState) => taken.filter((entry) => entry.reference !== reference);
  const roomsOf = ({ taken }: ContractState) =>
    taken.reduce((sum, { state, rooms }) => sum + (state === "BOOKED" ? rooms : 0), 0);
  const noBlock = ({ terms }: ContractState) => ({
    terms: { ...terms, block: { roomsPerNight: 0, exceptions: [] } },
  });
  const held = (contract: ContractState, more: object): ContractState["taken"] => {
    const {
      bookingId: _b,
      confirmationNumber: _c,
      ...stay
    } = mine(contract) as TakenRooms & {
      bookingId?: string;
      confirmationNumber?: string;
    };
    return [...contract.taken, { ...stay, reference: strayReference, rooms: 9, ...more } as TakenRooms];
  };
  const later = () => new Date(Date.now() + 600_000);
  return [
    wrong(
      "a contract does not know of a group's rooms",
      (contract) => ({ taken: others(contract) }),
      () => `ledger XN direct booking ${bookingId}: sub-case ${direct._id} has it, the vendor does not.`,
    ),
    wrong(
      "a contract has taken a group's rooms back",
      (contract) => ({
        taken: [...others(contract), { ...mine(contract), state: "CANCELLED" } as TakenRooms],
      }),
      () =>
        `ledger XN direct booking ${bookingId}: sub-case ${direct._id} has it, at the vendor it is CANCELLED.`,
    ),
    wrong(
      "a contract's rooms are nobody's",
      (contract) => ({
        taken: [
          ...others(contract),
          mine(contract),
          { ...mine(contract), ...elsewhere(mine(contract)) } as TakenRooms,
        ],
      }),
      () =>
        `ledger XN direct booking stray: it stands (BOOKED) under ${strayReference}, and there is no such sub-case.`,
    ),
    wrong("a block is oversold", noBlock, (contract) => {
      const { checkIn } = mine(contract);
      return `ledger XN direct contract ${contract._id}: ${roomsOf(contract)} rooms are taken in the night of ${checkIn}, and its block has 0.`;
    }),
    wrong("its block was made smaller later", (contract) => ({
      ...noBlock(contract),
      changedAt: new Date(),
    })),
    wrong(
      "a hold oversells the block",
      (contract) => ({ taken: held(contract, { state: "HELD", expiresAt: later() }) }),
      (contract) => {
        const { terms } = contract;
        const { checkIn } = mine(contract);
        return `ledger XN direct contract ${contract._id}: ${roomsOf(contract) + 9} rooms are taken in the night of ${checkIn}, and its block has ${terms.block.roomsPerNight}.`;
      },
    ),
    wrong("an expired hold takes nothing", (contract) => ({
      taken: held(contract, { state: "HELD", expiresAt: new Date() }),
    })),
    wrong("a lapsed hold takes nothing", (contract) => ({
      taken: held(contract, { state: "LAPSED", expiresAt: later() }),
    })),
  ];
};

/** A stay of a month later, when the block has rooms for it. */
const elsewhere = ({ checkIn }: TakenRooms) => ({
  reference: strayReference,
  bookingId: "stray",
  checkIn: dateAfter(checkIn, 30),
  checkOut: dateAfter(checkIn, 31),
});
