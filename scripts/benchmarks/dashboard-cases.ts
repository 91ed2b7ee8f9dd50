/** Owns what the dashboard benchmark reads: a long history of closed cases, a bad night's open ones and their review items. */
import type { Document } from "mongodb";
import type { CaseState } from "../../actors/case/state.ts";
import { openDocuments } from "../../actors/runtime/documents.ts";
import type { OwnInstance } from "./instance.ts";

export const openCases = 200;
export const groupsPerOpenCase = 120;
export const closedCases = 50_000;
export const reviewItemsPerCase = 3;

export const airports = ["JFK", "LAX", "OPO", "LIS", "MAD", "ORD", "MIA", "SEA"];
export const start = Date.UTC(2026, 0, 1);
export const minuteMs = 60_000;

/** Ids in the order of time, as ULIDs are; the same in every run. */
const idOf = (tenant: string, index: number): string =>
  `${tenant}-01KA${index.toString(36).toUpperCase().padStart(22, "0")}`;

const metaOf = (_id: string) => ({
  _id: _id as never,
  revision: 9,
  version: 7,
  schemaVersion: 1,
  handled: [],
  outbox: [],
  outboxCount: 9,
});

const stay = { checkIn: "2026-11-21", checkOut: "2026-11-22", nights: 1, rooms: 1 };

const caseOf = (tenant: string, index: number, groups: number, closed: boolean): Document => {
  const at = new Date(start + index * 6 * minuteMs);
  const airport = airports[index % airports.length] as string;
  const state: Omit<CaseState, "policies"> = {
    externalEventId: `bench-${index}`,
    bodyHash: "x",
    otherBodies: [],
    status: closed ? "CLOSED" : "OPEN",
    source: "PARTNER",
    airport,
    flight: { number: "XN482", origin: airport, destination: "CDG", scheduledDeparture: at },
    nextFlight: { number: "XN484", scheduledDeparture: new Date(at.getTime() + 870 * minuteMs) },
    disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: at },
    createdAt: at,
    createdBy: "urn:partner:bench",
    correlationUrn: "urn:correlation:bench",
    groups: Array.from({ length: groups }, (_, i) => ({
      groupId: `G${i}`,
      subCaseId: idOf(tenant, index * 1000 + i),
      tier: "ECONOMY" as const,
      passengers: 2,
      needs: [],
      missing: [],
      stay,
    })),
    progress: Array.from({ length: groups }, (_, i) => "RBAWHF"[closed ? 0 : (index + i) % 6]).join(""),
    rooms: "1".repeat(groups),
    rounds: "1".repeat(groups),
    onDesk: [],
    manifest: [],
    provisioned: groups,
    provisionedAt: at,
    plannedAt: at,
    demands: [
      {
        demandId: idOf(tenant, index),
        type: "INITIAL",
        roomsRequested: groups,
        state: index % 5 === 0 && !closed ? "REQUESTED" : "APPROVED",
        requestedAt: at,
        requestedBy: "urn:user:system-case",
      },
    ],
    ...(closed ? { closedAt: at } : {}),
  };
  return { ...metaOf(idOf(tenant, index)), ...state, policies: {} };
};

const itemOf = (tenant: string, caseIndex: number, i: number): Document => {
  const at = new Date(start + caseIndex * 6 * minuteMs);
  const id = idOf(tenant, caseIndex * reviewItemsPerCase + i);
  return {
    ...metaOf(id),
    caseId: idOf(tenant, caseIndex),
    airport: airports[caseIndex % airports.length],
    category: ["ALLOCATION_FAILED", "BOOKING_FAILED", "DATA_INCOMPLETE"][i],
    priority: ["HIGH", "HIGH", "LOW"][i],
    origin: "bench",
    detail: "For the benchmark.",
    attemptedHotels: [],
    affectedGroups: ["G4"],
    status: "OPEN",
    createdAt: at,
    dueAt: new Date(Date.UTC(2100, 0)),
    listKey: `${at.toISOString()}/${id}`,
    housedGroups: [],
    breaches: 0,
    overdue: false,
  };
};

/** Writes them past the service, as its documents would stand after that night. */
export const seed = async (own: OwnInstance, tenant: string, say: (line: string) => void): Promise<void> => {
  const documents = await openDocuments(own.documents.url, "stopover");
  try {
    const cases = documents.tenant(tenant).collection<Document>("cases");
    const total = closedCases + openCases;
    for (let from = 0; from < total; from += 1000) {
      const batch = Array.from({ length: Math.min(1000, total - from) }, (_, i) => from + i).map((index) =>
        caseOf(tenant, index, index < closedCases ? 2 : groupsPerOpenCase, index < closedCases),
      );
      await cases.insertMany(batch, { ordered: false });
    }
    const items = Array.from({ length: openCases }, (_, i) =>
      Array.from({ length: reviewItemsPerCase }, (_, j) => itemOf(tenant, closedCases + i, j)),
    ).flat();
    await documents.tenant(tenant).collection<Document>("reviewItems").insertMany(items);
    say(`${total} cases and ${items.length} review items written`);
  } finally {
    await documents.close();
  }
};
