/** Owns which dialects we speak: the kind of vendor, what an account needs besides its key, and who carries it out. */
import type { VendorKind } from "../../schemas/vendor-call.ts";
import { systemClock } from "../runtime/clock.ts";
import { CardWorks } from "./adapters/cardworks.ts";
import { cardworksInbound } from "./adapters/cardworks-inbound.ts";
import { Hotelbeds } from "./adapters/hotelbeds.ts";
import { Rapid } from "./adapters/rapid.ts";
import { rapidAccount } from "./adapters/rapid-account.ts";
import { RideFleet } from "./adapters/ridefleet.ts";
import { RoomLink } from "./adapters/roomlink.ts";
import { SendWell } from "./adapters/sendwell.ts";
import { sendwellInbound } from "./adapters/sendwell-inbound.ts";
import { SkyWatch } from "./adapters/skywatch.ts";
import { StayHub } from "./adapters/stayhub.ts";
import { stripeInbound } from "./adapters/stripe-inbound.ts";
import { StripeIssuing } from "./adapters/stripe-issuing.ts";
import { Twilio } from "./adapters/twilio.ts";
import { twilioInbound } from "./adapters/twilio-inbound.ts";
import type { VendorOptions } from "./http.ts";
import type { InboundDialect } from "./inbound.ts";
import type { FlightFeedPort, HotelPort, MessagePort, PaymentPort, TransportPort } from "./ports.ts";

export type Instance = (
  | { name: string; kind: "hotel"; port: HotelPort }
  | { name: string; kind: "payment"; port: PaymentPort }
  | { name: string; kind: "transport"; port: TransportPort }
  | { name: string; kind: "message"; port: MessagePort }
  | { name: string; kind: "flight"; port: FlightFeedPort }
) & {
  /** Minutes between two reconciliations; absent: the configured default. */
  reconcileMinutes?: number;
};

/** What an account needs besides its key, by name; none of it is secret. */
export interface AccountSetting {
  required?: true;
  pattern: RegExp;
  /** Set: an address, which must be one in all its parts, beyond the pattern. */
  isUrl?: true;
  /** What it is, for who types it in. */
  description: string;
}

export interface Dialect {
  kind: VendorKind;
  make(name: string, options: VendorOptions): Instance;
  /** A second secret goes with the key; absent: none is taken. */
  apiSecret?: "required";
  /** Of the second secret, where we sign with it ourselves what strangers get to see. */
  apiSecretCharactersMin?: number;
  account?: Readonly<Record<string, AccountSetting>>;
  /** How what it sends us is signed and worded; absent: it sends nothing. */
  inbound?: InboundDialect;
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
  hotelbeds: {
    kind: "hotel",
    make: (name, options) => ({ name, kind: "hotel", port: new Hotelbeds(name, options, systemClock) }),
    apiSecret: "required",
  },
  rapid: {
    kind: "hotel",
    make: (name, options) => ({ name, kind: "hotel", port: new Rapid(name, options, systemClock) }),
    apiSecret: "required",
    account: rapidAccount,
  },
  cardworks: {
    kind: "payment",
    make: (name, options) => ({ name, kind: "payment", port: new CardWorks(options) }),
    inbound: cardworksInbound,
  },
  ridefleet: {
    kind: "transport",
    make: (name, options) => ({ name, kind: "transport", port: new RideFleet(options) }),
  },
  sendwell: {
    kind: "message",
    make: (name, options) => ({ name, kind: "message", port: new SendWell(options) }),
    inbound: sendwellInbound,
  },
  skywatch: {
    kind: "flight",
    make: (name, options) => ({ name, kind: "flight", port: new SkyWatch(options) }),
  },
  "stripe-issuing": {
    kind: "payment",
    make: (name, options) => ({ name, kind: "payment", port: new StripeIssuing(options) }),
    apiSecret: "required",
    apiSecretCharactersMin: 16,
    account: {
      cardholder: {
        required: true,
        pattern: /^ich_\w{1,100}$/,
        description: "the id of the cardholder whose the cards are (ich_…)",
      },
      revealPage: {
        required: true,
        pattern: /^https:\/\/[^\s#]{1,1000}$/,
        isUrl: true,
        description: "the https address of the airline's page that shows a card by Issuing Elements",
      },
    },
    inbound: stripeInbound,
  },
  twilio: {
    kind: "message",
    make: (name, options) => ({ name, kind: "message", port: new Twilio(options) }),
    account: {
      accountSid: { required: true, pattern: /^AC[0-9a-f]{32}$/, description: "the account's SID (AC…)" },
      keySid: {
        pattern: /^SK[0-9a-f]{32}$/,
        description:
          "the SID of the API key (SK…) whose secret the key is; without it the key is the auth token",
      },
      from: {
        pattern: /^(\+[1-9]\d{4,14}|[A-Za-z0-9 ]{1,11})$/,
        description: "the number or name that SMS come from",
      },
      messagingServiceSid: {
        pattern: /^MG[0-9a-f]{32}$/,
        description: "the messaging service (MG…) that chooses where SMS come from",
      },
      whatsappFrom: {
        pattern: /^\+[1-9]\d{4,14}$/,
        description: "the number that WhatsApp messages come from",
      },
      statusCallback: {
        pattern: /^https?:\/\/[^\s#]{1,1000}$/,
        isUrl: true,
        description: "where Twilio tells what became of a message: this vendor's webhook address",
      },
    },
    inbound: twilioInbound,
  },
};
