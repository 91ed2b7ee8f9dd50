/** Owns which hotel dialects the port's contract is run on, and what one of them has and another has not. */
import { systemClock } from "../../../actors/runtime/clock.ts";
import { Hotelbeds } from "../../../actors/vendor-adapter/adapters/hotelbeds.ts";
import { Rapid } from "../../../actors/vendor-adapter/adapters/rapid.ts";
import { RoomLink } from "../../../actors/vendor-adapter/adapters/roomlink.ts";
import { StayHub } from "../../../actors/vendor-adapter/adapters/stayhub.ts";
import type { VendorOptions } from "../../../actors/vendor-adapter/http.ts";
import type { HotelPort } from "../../../actors/vendor-adapter/ports.ts";

export interface Dialect {
  name: string;
  open(options: VendorOptions, name?: string): HotelPort;
  /** The same key gets the same answer, refusals too, and is refused for another request. */
  keyed: boolean;
  /** Rooms are kept from the hold on, and a look-up finds it. */
  holds: boolean;
  /** It tells how many rooms are accessible, and counts them. */
  accessible: boolean;
  /** Of a rate that nobody has. */
  unknownRate: "NOT_FOUND" | "SOLD_OUT";
  /** The operation in which a price is heard again. */
  pricing: string;
  /** It says when a booking was cancelled. */
  dated: boolean;
  /** More rooms than it shows may be there. */
  capped: boolean;
}
const own = { keyed: true, holds: true, accessible: true, unknownRate: "NOT_FOUND" } as const;
const real = { keyed: false, accessible: false, unknownRate: "SOLD_OUT" } as const;
export const dialects: readonly Dialect[] = [
  {
    ...{ name: "stayhub", ...own, pricing: "hold", dated: true, capped: false },
    open: (options, name = "stayhub") => new StayHub(name, options),
  },
  {
    ...{ name: "roomlink", ...own, pricing: "hold", dated: true, capped: false },
    open: (options, name = "roomlink") => new RoomLink(name, options),
  },
  {
    ...{ name: "hotelbeds", ...real, holds: false, pricing: "hold", dated: false, capped: false },
    open: (options, name = "hotelbeds") => new Hotelbeds(name, options, systemClock),
  },
  {
    ...{ name: "rapid", ...real, holds: true, pricing: "quote", dated: true, capped: true },
    open: (options, name = "rapid") => new Rapid(name, options, systemClock),
  },
];
