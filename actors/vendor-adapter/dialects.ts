/** Owns which dialects we speak: the kind of vendor, what an account needs besides its key, and who carries it out. */
import type { VendorKind } from "../../schemas/vendor-call.ts";
import { CardWorks } from "./adapters/cardworks.ts";
import { RideFleet } from "./adapters/ridefleet.ts";
import { RoomLink } from "./adapters/roomlink.ts";
import { SendWell } from "./adapters/sendwell.ts";
import { StayHub } from "./adapters/stayhub.ts";
import type { VendorOptions } from "./http.ts";
import type { HotelPort, MessagePort, PaymentPort, TransportPort } from "./ports.ts";

export type Instance = (
  | { name: string; kind: "hotel"; port: HotelPort }
  | { name: string; kind: "payment"; port: PaymentPort }
  | { name: string; kind: "transport"; port: TransportPort }
  | { name: string; kind: "message"; port: MessagePort }
) & {
  /** Minutes between two reconciliations; absent: the configured default. */
  reconcileMinutes?: number;
};

/** What an account needs besides its key, by name; none of it is secret. */
export interface AccountSetting {
  required?: true;
  pattern: RegExp;
  /** What it is, for who types it in. */
  description: string;
}

export interface Dialect {
  kind: VendorKind;
  make(name: string, options: VendorOptions): Instance;
  /** A second secret goes with the key; absent: none is taken. */
  apiSecret?: "required";
  account?: Readonly<Record<string, AccountSetting>>;
}

export const dialects: Readonly<Record<string, Dialect>> = {
  stayhub: {
    kind: "hotel",
    make: (name, options) => ({ name, kind: "hotel", port: new StayHub(name, options) }),
  },
  roomlink: {
    kind: "hotel",
    make: (name, options) => ({ name, kind: "hotel", port: new RoomLink(name, options) }),
  },
  cardworks: {
    kind: "payment",
    make: (name, options) => ({ name, kind: "payment", port: new CardWorks(options) }),
  },
  ridefleet: {
    kind: "transport",
    make: (name, options) => ({ name, kind: "transport", port: new RideFleet(options) }),
  },
  sendwell: {
    kind: "message",
    make: (name, options) => ({ name, kind: "message", port: new SendWell(options) }),
  },
};
