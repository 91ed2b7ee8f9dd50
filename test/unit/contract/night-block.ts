// A contract for tests: a hotel near JFK with a block of ten rooms, three of them accessible, dearer from Christmas on; and its
// story as the decider's rules tell it.
import type { Test } from "tap";
import { decide } from "../../../actors/contract/decide.ts";
import { type ContractEvent, type ContractState, evolve } from "../../../actors/contract/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ContractBody, HoldRooms } from "../../../schemas/contract.ts";
import { eventsOf, folded, givenOf, received, supervisor } from "../../harness/given.ts";

export const contractId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";

export const contractBody = (more: Partial<ContractBody> = {}): ContractBody => ({
  name: "Garden Court, winter block",
  hotel: {
    name: "Garden Court",
    address: "1 Runway Road, New York, US",
    coordinates: { latitude: 40.65, longitude: -73.79 },
    stars: 4,
    amenities: ["24H_RECEPTION", "WIFI"],
  },
  airport: "JFK",
  validFrom: "2026-11-01",
  validUntil: "2027-02-01",
  rates: [
    { from: "2026-11-01", until: "2026-12-24", nightlyRateMinor: 5000 },
    { from: "2026-12-24", until: "2027-02-01", nightlyRateMinor: 8001 },
  ],
  currency: "USD",
  maxOccupancy: 2,
  accessibleRooms: 3,
  block: { roomsPerNight: 10 },
  ...more,
});

/** One night from tonight, unless `more` says otherwise. */
export const holdData = (reference: string, rooms: number, more: Partial<HoldRooms> = {}): HoldRooms => ({
  reference,
  rooms,
  accessible: 0,
  checkIn: "2026-11-21",
  checkOut: "2026-11-22",
  nightlyRateMinor: 5000,
  currency: "USD",
  ...more,
});

export const put = (more: Partial<ContractBody> = {}, entity = ""): Received =>
  received("contract.put", contractBody(more), { principal: supervisor, entity });
export const ask = (verb: "hold" | "book" | "cancel", data: object, now?: Date): Received =>
  received(`contract.${verb}`, data, { entity: contractId, ...(now === undefined ? {} : { now }) });

const rules = { decide, evolve };
export const given = (t: Test) => givenOf<ContractState, ContractEvent>(t, rules, contractId);
export const after = (past: ContractEvent[], ...commands: Received[]): ContractEvent[] =>
  eventsOf(rules, past, ...commands);
export const agreed = (more: Partial<ContractBody> = {}): ContractEvent[] => after([], put(more));
export const stateOf = (events: ContractEvent[]): ContractState => folded(rules, events) as ContractState;
/** What stands under a reference, which must be there. */
export const heldIn = (events: ContractEvent[], reference: string) =>
  stateOf(events).taken.find((entry) => entry.reference === reference) as ContractState["taken"][number];
export const booking = (events: ContractEvent[], reference: string, now?: Date): Received =>
  ask("book", { reference, holdId: heldIn(events, reference).holdId, payment: "GUARANTEE" }, now);
/** A contract with these rooms booked for tonight. */
export const bookedAs = (reference: string, rooms: number): ContractEvent[] => {
  const held = after(agreed(), ask("hold", holdData(reference, rooms)));
  return after(held, booking(held, reference));
};
