/** Owns comparing what we keep of rooms, cards and rides with the vendors' own ledgers: each exactly once, none unknown. */
import type { Db } from "mongodb";
import type { SubCaseState } from "../../actors/sub-case/state.ts";

interface Entry {
  kind: string;
  id: string;
  reference: string;
  state: string;
}

/** Vendor → kind of entry → the state in which it stands. */
const sold = {
  stayhub: { kind: "booking", live: "BOOKED" },
  roomlink: { kind: "booking", live: "BOOKED" },
  cardworks: { kind: "card", live: "ACTIVE" },
  ridefleet: { kind: "ride", live: "BOOKED" },
} as const;

const liveEntries = async (
  sandboxUrl: string,
  vendor: keyof typeof sold,
  signal: AbortSignal,
): Promise<Entry[]> => {
  const answer = await fetch(new URL(`/ledger/${vendor}`, sandboxUrl), { signal });
  if (!answer.ok) throw new Error(`the ledger of ${vendor} is not to be had: ${answer.status}`);
  const { entries } = (await answer.json()) as { entries: Entry[] };
  const { kind, live } = sold[vendor];
  return entries.filter((entry) => entry.kind === kind && entry.state === live);
};

type Kept = Pick<
  SubCaseState,
  "subCaseId" | "status" | "reservation" | "payment" | "card" | "ride" | "offer"
>;

/** References of what the sub-cases believe to have, by vendor. */
const believed = (subCases: readonly Kept[]): Map<string, string[]> => {
  const byVendor = new Map<string, string[]>();
  const add = (vendor: string, reference: string): void => {
    byVendor.set(vendor, [...(byVendor.get(vendor) ?? []), reference]);
  };
  for (const { subCaseId, reservation, payment, card, ride } of subCases) {
    if (reservation?.status === "CONFIRMED") add(reservation.vendor, reservation.reference);
    if (payment?.status === "ACTIVE") add(payment.vendor, payment.reference);
    if (card?.status === "ACTIVE") add(card.vendor, `${subCaseId}.card.1`);
    if (ride?.status === "booked") add(ride.vendor, `${subCaseId}.ride.1`);
  }
  return byVendor;
};

export interface LedgerCheck {
  faults: string[];
  rooms: number;
  offers: number;
  /** Sub-cases that are neither on offer nor decided. */
  unfinished: number;
}

/** @param databases of all airlines that the sandbox has sold to since its last reset */
export const checkLedgers = async (
  databases: readonly Db[],
  sandboxUrl: string,
  signal: AbortSignal,
): Promise<LedgerCheck> => {
  const fields = { subCaseId: 1, status: 1, reservation: 1, payment: 1, card: 1, ride: 1, offer: 1 };
  const subCases: Kept[] = [];
  for (const database of databases)
    subCases.push(
      ...((await database.collection("subCases").find({}, { projection: fields }).toArray()) as never[]),
    );
  const ours = believed(subCases);
  const faults: string[] = [];
  for (const vendor of Object.keys(sold) as (keyof typeof sold)[]) {
    const theirs = (await liveEntries(sandboxUrl, vendor, signal)).map(({ reference }) => reference);
    faults.push(...differences(vendor, ours.get(vendor) ?? [], theirs));
  }
  const offers = subCases.filter(({ offer }) => offer.state === "READY");
  for (const { subCaseId, reservation } of offers) {
    if (reservation?.status !== "CONFIRMED") faults.push(`${subCaseId}: an offer without a confirmed room`);
  }
  return {
    faults,
    rooms: subCases.filter(({ reservation }) => reservation?.status === "CONFIRMED").length,
    offers: offers.length,
    unfinished: subCases.filter(({ status }) => status === "PENDING" || status === "PROCESSING").length,
  };
};

const differences = (vendor: string, ours: readonly string[], theirs: readonly string[]): string[] => {
  const known = new Set(ours);
  const sales = new Map<string, number>();
  for (const reference of theirs) sales.set(reference, (sales.get(reference) ?? 0) + 1);
  return [
    ...ours
      .filter((reference) => !sales.has(reference))
      .map((it) => `${vendor}: ${it} is ours, not the vendor's`),
    ...[...sales.keys()]
      .filter((it) => !known.has(it))
      .map((it) => `${vendor}: ${it} was sold and nobody knows`),
    ...[...sales]
      .filter(([, count]) => count > 1)
      .map(([it, count]) => `${vendor}: ${it} was sold ${count} times`),
  ];
};
