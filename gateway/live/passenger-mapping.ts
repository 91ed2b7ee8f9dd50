/** Owns what passengers hear of an event of the log, and who of them: pure, one event at a time. Sending it is `passenger-streams.ts`'s. */
import type { EventRecord } from "../../schemas/command.ts";
import type { PassengerEventData, PassengerEventName } from "../../schemas/passenger-events.ts";
import { idOf } from "../../schemas/urn.ts";

type ToldName = Exclude<PassengerEventName, "snapshot" | "session.revoked">;

/** What a group's passengers hear. */
export interface Told {
  name: ToldName;
  /** Without the offer, which is read when this is sent. */
  data: Record<string, unknown>;
  /** It shows the offer as it stands. */
  showsOffer: boolean;
  /** The one passenger who hears it. Absent: all of the group. */
  onlyFor?: string;
}

/** `members-changed`: who is in the group has to be found out anew. */
export type Heard = readonly Told[] | "members-changed";

/** Whose event it is; undefined: no group's. */
export const subCaseOf = ({ data }: EventRecord): string | undefined => {
  const { subCaseUrn } = data as { subCaseUrn?: unknown };
  return typeof subCaseUrn === "string" ? idOf(subCaseUrn) : undefined;
};

const nothing: readonly Told[] = [];

const offer = (event: EventRecord, name: "offer.updated" | "offer.withdrawn" = "offer.updated"): Told => ({
  name,
  data: { at: event.occurred_at },
  showsOffer: true,
});

const plain = <Name extends ToldName>(name: Name, data: PassengerEventData<Name>): Told => ({
  name,
  data,
  showsOffer: false,
});

/** Of a switch between hotels, where the old offer is shown until the new one stands, the offer's name is `updated` all the same. */
const stateChanged = (event: EventRecord): Told[] => {
  const { offer: state, offerBefore } = event.data as { offer?: string; offerBefore?: string };
  const isWithdrawn = state === "WITHDRAWN" && offerBefore !== "WITHDRAWN";
  return [offer(event, isWithdrawn ? "offer.withdrawn" : "offer.updated")];
};

/** Why a voucher is void may be told of others, or of the hotel: that it is has to do. */
const voucher = ({ type, occurred_at: at, data }: EventRecord): Told => {
  const { voucherUrn, status, checkIn, checkOut } = data as Record<string, string>;
  return plain("voucher.updated", {
    ...{ at, voucherUrn: voucherUrn ?? "" },
    status: type === "voucher.issued" ? "ISSUED" : (status as "ISSUED" | "AMENDED" | "VOID"),
    ...(checkIn === undefined ? {} : { checkIn }),
    ...(checkOut === undefined ? {} : { checkOut }),
  });
};

/** Declined is also what a person has cancelled, as GET /v1/me/transport shows it. */
const ride = ({ occurred_at: at, data }: EventRecord): Told => {
  const { segmentUrn, direction, status, vehicleType, scheduledAt } = data as Record<string, string>;
  return plain("transport.updated", {
    ...{ at, segmentUrn: segmentUrn ?? "", vehicleType: vehicleType ?? "", pickupAt: scheduledAt ?? "" },
    direction: direction as "AIRPORT_TO_HOTEL" | "HOTEL_TO_AIRPORT",
    status: status === "cancelled" ? "declined" : (status as "booked" | "pending" | "declined"),
  });
};

const card = ({ occurred_at: at, data }: EventRecord): Told => {
  const { last4, balance, kind, amount } = data as PassengerEventData<"wallet.updated">;
  return plain("wallet.updated", {
    at,
    ...(last4 === undefined ? {} : { last4 }),
    ...(balance === undefined ? {} : { balance }),
    ...(kind === undefined ? {} : { kind }),
    ...(amount === undefined ? {} : { amount }),
  });
};

/** Those that change a passengers' card and of which nothing else is told. */
const cardSteps: ReadonlySet<unknown> = new Set(["load-card", "cancel-card"]);

const stepCompleted = ({ occurred_at: at, data }: EventRecord): readonly Told[] => {
  const { name, result } = data as { name?: unknown; result?: unknown };
  return cardSteps.has(name) && result === "DONE" ? [plain("wallet.updated", { at })] : nothing;
};

const message = ({ occurred_at: at, data }: EventRecord): Told => {
  const { channel, templateId, recipient, onlyFor } = data as Record<string, string>;
  const told = plain("notification.sent", {
    ...{ at, template: templateId ?? "", recipient: recipient ?? "" },
    channel: channel as PassengerEventData<"notification.sent">["channel"],
  });
  return onlyFor === undefined ? told : { ...told, onlyFor };
};

const mappings: Readonly<Record<string, (event: EventRecord) => Heard>> = {
  "subcase.state-changed": stateChanged,
  "subcase.offer-changed": (event) => [offer(event)],
  "subcase.members-changed": () => "members-changed",
  "voucher.issued": (event) => [voucher(event)],
  "voucher.amended": (event) => [voucher(event)],
  "wallet.card-issued": (event) => [card(event)],
  "wallet.card-tx": (event) => [card(event)],
  "graph.step-completed": stepCompleted,
  "segment.sought": (event) => [ride(event)],
  "segment.booked": (event) => [ride(event)],
  "segment.declined": (event) => [ride(event)],
  "segment.kept": (event) => [ride(event)],
  "segment.cancelled": (event) => [ride(event)],
  "notification.dispatched": (event) => [message(event)],
};

/** The types that tell passengers anything, on either stream: a drill's public events stand on INTERNAL. */
export const passengerHeardTypes: readonly string[] = Object.keys(mappings);

/** In the order in which they are sent; empty: nothing. */
export const heardOf = (event: EventRecord): Heard => mappings[event.type]?.(event) ?? nothing;
