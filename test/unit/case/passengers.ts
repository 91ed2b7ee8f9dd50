// Two passengers of two bookings, for the tables of intake and manifests.
import type { PassengerInput } from "../../../schemas/passenger.ts";

export const ada: PassengerInput = {
  pnr: "K7QX2M",
  firstName: "Ada",
  lastName: "Lovelace",
  cabinClass: "ECONOMY",
  contact: { email: "ada@example.com" },
};
export const charles: PassengerInput = { ...ada, pnr: "B2BBGE", firstName: "Charles", lastName: "Babbage" };
export const passenger = (more: Partial<PassengerInput>): PassengerInput => ({ ...ada, ...more });
