/**
 * Owns the consistency check of a running instance: which checks there are, and in which order they read documents, streams and
 * vendors' books. What each of them finds is its own; putting it right is a person's.
 */
import type { MongoClient } from "mongodb";
import type { Streams } from "../../streams/connection.ts";
import { disagreements, offersWithoutRoom } from "./consistency/agreement.ts";
import { readSubCases, type SubCaseRow } from "./consistency/airline.ts";
import { missingEvents } from "./consistency/events.ts";
import type { Finding } from "./consistency/finding.ts";
import { checkLedgers, type VendorAccess } from "./consistency/ledgers.ts";
import { deadLetters, overdueCommands, overdueDocuments } from "./consistency/leftovers.ts";
import { checkOwnership } from "./consistency/ownership.ts";
import { unknownClosings } from "./consistency/sessions.ts";

/** What was looked at: a check that saw nothing proves nothing. */
export interface Seen {
  tenants: number;
  openCases: number;
  passengers: number;
  /** Vendors whose books were read to the end, counted for each airline. */
  vendors: number;
  /** Rooms that the sub-cases of all cases have. */
  rooms: number;
  /** Offers that wait for their passengers. */
  offers: number;
  /** Groups of all cases that are neither on offer nor decided. */
  unfinished: number;
}

export interface Consistency {
  findings: Finding[];
  seen: Seen;
}

export interface CheckOptions {
  mongodb: MongoClient;
  databasePrefix: string;
  streams: Streams;
  now: Date;
  /** Undefined: the vendors' books are left out. */
  vendors?: VendorAccess;
  /** Outboxes, timers and commands younger than this are work under way. Default a minute. */
  overdueAfterMs?: number;
}

/** Reads only. Safe on a live system: what is on its way is followed in the direction in which it travels. */
export const checkConsistency = async (options: CheckOptions): Promise<Consistency> => {
  const { mongodb, databasePrefix, streams } = options;
  const platform = mongodb.db(`${databasePrefix}_platform`);
  const tenants = await platform.collection<{ _id: string }>("tenants").find().sort({ _id: 1 }).toArray();
  const seen: Seen = {
    tenants: tenants.length,
    openCases: 0,
    passengers: 0,
    vendors: 0,
    rooms: 0,
    offers: 0,
    unfinished: 0,
  };
  const findings: Finding[] = [];
  for (const { _id: tenant } of tenants) findings.push(...(await checkAirline(tenant, options, seen)));
  findings.push(...(await deadLetters(streams)));
  return { findings, seen };
};

/** @param seen is added to */
const checkAirline = async (tenant: string, options: CheckOptions, seen: Seen): Promise<Finding[]> => {
  const { mongodb, databasePrefix, streams, now, vendors, overdueAfterMs = 60_000 } = options;
  const database = mongodb.db(`${databasePrefix}_${tenant}`);
  const owned = await checkOwnership(database, streams, tenant);
  seen.openCases += owned.openCases;
  seen.passengers += owned.passengers;
  const subCases = await readSubCases(database);
  count(subCases, seen);
  const events = await missingEvents(database, streams, tenant, { subCases, now });
  const ledgers = await checkLedgers(database, tenant, subCases, { access: vendors, now });
  seen.vendors += ledgers.vendors;
  const before = new Date(now.getTime() - overdueAfterMs);
  return [
    ...owned.findings,
    ...(await disagreements(database, streams, tenant, subCases)),
    ...offersWithoutRoom(tenant, subCases),
    ...(await overdueDocuments(database, tenant, before)),
    ...(await overdueCommands(streams, tenant, before)),
    ...events,
    ...ledgers.findings,
    ...(await unknownClosings(database, streams, tenant, now)),
  ];
};

const count = (subCases: readonly SubCaseRow[], seen: Seen): void => {
  for (const { status, reservation, offer } of subCases) {
    if (reservation?.status === "CONFIRMED") seen.rooms += 1;
    if (offer.state === "READY") seen.offers += 1;
    if (status === "PENDING" || status === "PROCESSING") seen.unfinished += 1;
  }
};
