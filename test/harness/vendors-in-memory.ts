// Vendors of every kind in this process: what a call comes to is the test's choice, what the vendor then holds is kept by reference.
import type { Instance } from "../../actors/vendor-adapter/dialects.ts";
import type {
  HotelPort,
  LedgerEntry,
  LedgerPage,
  LookupOutcome,
  MessagePort,
  PaymentPort,
  ReadOutcome,
  TransportPort,
  WriteOutcome,
} from "../../actors/vendor-adapter/ports.ts";
import type { VendorVerb } from "../../schemas/vendor-call.ts";

/** `lost-…`: the vendor's answer doesn't arrive; it was carried out, or it wasn't. */
export const turns = ["done", "refused", "unavailable", "lost-done", "lost-not-done"] as const;
export type Turn = (typeof turns)[number];

interface Asked {
  operation: VendorVerb | "lookup";
  reference: string;
  request: Readonly<Record<string, unknown>>;
}

const money = (amountMinor: number) => ({ amountMinor, currency: "USD" });

/** What each operation gives, and the state in which it leaves what the reference names. */
const gives: Readonly<Record<VendorVerb, { state: string; result(reference: string): object }>> = {
  hold: {
    state: "HELD",
    result: (r) => ({ holdId: `H-${r}`, expiresAt: "2026-11-21T22:00:00Z", total: money(1) }),
  },
  book: {
    state: "BOOKED",
    result: (r) => ({ bookingId: `B-${r}`, confirmationNumber: "C", total: money(1) }),
  },
  modify: {
    state: "BOOKED",
    result: (r) => ({
      bookingId: `B-${r}`,
      confirmationNumber: "C",
      total: money(2),
      stay: { checkIn: "2026-11-21", checkOut: "2026-11-23" },
    }),
  },
  cancel: { state: "CANCELLED", result: () => ({ cancelledAt: "2026-11-21T22:00:00Z", fee: money(0) }) },
  "issue-card": {
    state: "ACTIVE",
    result: (r) => ({ cardId: `K-${r}`, last4: "4242", expiryMonth: 1, expiryYear: 2027, balance: money(1) }),
  },
  "load-card": {
    state: "ACTIVE",
    result: (r) => ({
      cardId: `K-${r}`,
      last4: "4242",
      expiryMonth: 1,
      expiryYear: 2027,
      balance: money(2),
      loaded: money(2),
    }),
  },
  "cancel-card": {
    state: "CANCELLED",
    result: (r) => ({ cardId: `K-${r}`, last4: "4242", expiryMonth: 1, expiryYear: 2027, balance: money(0) }),
  },
  "book-ride": {
    state: "BOOKED",
    result: (r) => ({ rideId: `R-${r}`, vehicleType: "SHUTTLE", pickupAt: "2026-11-21T21:40:00Z" }),
  },
  "cancel-ride": {
    state: "CANCELLED",
    result: (r) => ({ rideId: `R-${r}`, vehicleType: "SHUTTLE", pickupAt: "2026-11-21T21:40:00Z" }),
  },
  send: { state: "SENT", result: (r) => ({ messageId: `M-${r}`, acceptedAt: "2026-11-21T21:00:00Z" }) },
};

/** What stands in a vendor's ledger once it is done. */
const kindOf: Readonly<Partial<Record<VendorVerb, LedgerEntry["kind"]>>> = {
  book: "booking",
  "issue-card": "card",
  "book-ride": "ride",
};

/** Of what adapters pass on, what a change of something that stands needs. */
interface ToVendor {
  reference: string;
  bookedUnder?: string;
  issuedUnder?: string;
  checkIn?: string;
  checkOut?: string;
  loaded?: unknown;
}

const standing: ReadonlySet<string> = new Set(["BOOKED", "CHECKED_IN", "ACTIVE"]);

export interface VendorsInMemory {
  hotel: Instance;
  payment: Instance;
  transport: Instance;
  message: Instance;
  /** Everything that was asked, in order. */
  asked: Asked[];
  /** By reference: the state of what the vendors hold. */
  held: Map<string, string>;
}

/** @param turnOf what this call comes to; of a look-up `done` answers, everything else is unavailable */
export const vendorsInMemory = (turnOf: (asked: Asked) => Turn): VendorsInMemory => {
  const asked: Asked[] = [];
  const held = new Map<string, string>();
  const found = new Map<string, object>();
  const settled = new Map<string, WriteOutcome<object>>();
  const sold = new Map<string, VendorVerb>();

  /** A vendor gives the same answer to the same reference, and an operation that is over isn't done again. */
  const write =
    (operation: VendorVerb) =>
    async (request: ToVendor): Promise<WriteOutcome<never>> => {
      const { reference } = request;
      const call: Asked = { operation, reference, request: { ...request } };
      asked.push(call);
      const turn = turnOf(call);
      if (turn === "unavailable") return { outcome: "unavailable", detail: "busy" };
      if (turn === "lost-not-done") return { outcome: "in-doubt", detail: "no answer" };
      const key = `${operation} ${reference}`;
      const changed = request.bookedUnder ?? request.issuedUnder;
      const isChange = operation === "modify" || operation === "load-card";
      if (isChange && !standing.has(held.get(changed ?? "") ?? "") && !settled.has(key))
        settled.set(key, { outcome: "refused", code: "NOT_FOUND", detail: "nothing stands there" });
      const known = settled.get(key);
      if (known === undefined && turn === "refused")
        settled.set(key, { outcome: "refused", code: "SOLD_OUT", detail: "no" });
      if (known === undefined && turn !== "refused") {
        const { state, result } = gives[operation];
        if (isChange) {
          const { checkIn, checkOut, loaded } = request;
          const now = operation === "modify" ? { stay: { checkIn, checkOut } } : { loaded };
          const before = found.get(changed ?? "");
          found.set(changed ?? "", { ...before, ...now });
          settled.set(key, { outcome: "done", ...result(reference), ...now });
          if (turn === "lost-done") return { outcome: "in-doubt", detail: "no answer" };
          return settled.get(key) as WriteOutcome<never>;
        }
        held.set(reference, state);
        if (kindOf[operation] !== undefined) sold.set(reference, operation);
        found.set(reference, { state, ...result(reference) });
        settled.set(key, { outcome: "done", ...result(reference) });
      }
      if (turn === "lost-done") return { outcome: "in-doubt", detail: "no answer" };
      return settled.get(key) as WriteOutcome<never>;
    };

  const lookup = async (request: { reference: string }): Promise<LookupOutcome<never>> => {
    const call: Asked = { operation: "lookup", reference: request.reference, request: { ...request } };
    asked.push(call);
    if (turnOf(call) !== "done") return { outcome: "unavailable", detail: "busy" };
    const state = found.get(request.reference);
    return state === undefined
      ? { outcome: "none" }
      : ({ outcome: "done", ...state } as unknown as LookupOutcome<never>);
  };

  const reconcile = (kind: LedgerEntry["kind"]) => async (): Promise<ReadOutcome<LedgerPage>> => {
    const ours = [...sold].filter(([, verb]) => kindOf[verb] === kind);
    const entries = ours.map(([reference]) => {
      const { bookingId, cardId, rideId } = found.get(reference) as Record<string, string | undefined>;
      const id = bookingId ?? cardId ?? rideId ?? `B-${reference}`;
      return { kind, id, reference, state: held.get(reference) ?? "", changedAt: "2026-11-21T21:00:00.000Z" };
    });
    return { outcome: "done", entries };
  };

  const hotel: HotelPort = {
    search: async () => ({ outcome: "done", offers: [] }),
    hold: write("hold"),
    book: write("book"),
    modify: write("modify"),
    cancel: write("cancel"),
    lookup,
    reconcile: reconcile("booking"),
  };
  const payment: PaymentPort = {
    issueCard: write("issue-card"),
    loadCard: write("load-card"),
    cancelCard: write("cancel-card"),
    lookup,
    reconcile: reconcile("card"),
    transactions: async () => ({ outcome: "done", entries: [] }),
    reveal: async () => ({ outcome: "unavailable", detail: "shown nowhere" }),
  };
  const transport: TransportPort = {
    vehicleSeats: { SHUTTLE: 50, PRIVATE_CAR: 4, WHEELCHAIR_VAN: 6 },
    book: write("book-ride"),
    cancel: write("cancel-ride"),
    lookup,
    reconcile: reconcile("ride"),
  };
  const message: MessagePort = { send: write("send"), lookup };
  return {
    hotel: { name: "stayhub", kind: "hotel", port: hotel },
    payment: { name: "cardworks", kind: "payment", port: payment },
    transport: { name: "ridefleet", kind: "transport", port: transport },
    message: { name: "sendwell", kind: "message", port: message },
    asked,
    held,
  };
};
