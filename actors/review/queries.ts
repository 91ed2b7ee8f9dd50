/** Owns the reads of review items, each beside the index that serves it. */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { CaseDesk } from "../../schemas/dashboard.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { airportFilter, requireAirport } from "../runtime/reach.ts";
import { loadedOf } from "../runtime/store.ts";
import { desksOf, type OnDesk } from "./desks.ts";
import type { ReviewItem } from "./state.ts";
import { reviewView } from "./view.ts";

const current = { schemaVersion: 1 };

/** One per filter of the queue; of several, the planner takes one and checks the rest on what it finds. */
export const reviewIndexes = [
  { name: "list", key: { listKey: -1 } },
  { name: "status", key: { status: 1, listKey: -1 } },
  { name: "airport", key: { airport: 1, listKey: -1 } },
  { name: "category", key: { category: 1, listKey: -1 } },
  { name: "priority", key: { priority: 1, listKey: -1 } },
  { name: "case", key: { caseId: 1, listKey: -1 } },
  { name: "assignee", key: { assignedTo: 1, listKey: -1 } },
] as const;

const unresolved = ["OPEN", "CLAIMED"];

interface Wanted {
  state?: string;
  category?: string;
  priority?: string;
  airport?: string;
  caseUrn?: string;
  assignedTo?: string;
  overdue?: "true" | "false";
}

/** What is overdue is told by the clock; `false` is all the rest, resolved ones included. */
const clockFilter = (overdue: Wanted["overdue"], now: Date): object => {
  if (overdue === undefined) return {};
  return overdue === "true"
    ? { $and: [{ status: { $in: unresolved } }, { dueAt: { $lte: now } }] }
    : { $or: [{ status: "RESOLVED" }, { dueAt: { $gt: now } }] };
};

/** @throws Problem auth/foreign-airport for an airport that the asker is not scoped to */
const queueFilter = (principal: Query["principal"], wanted: Wanted, now: Date): Document => {
  const { state, category, priority, airport, caseUrn, assignedTo, overdue } = wanted;
  const named = {
    status: state,
    category,
    priority,
    caseId: caseUrn === undefined ? undefined : idOf(caseUrn),
    assignedTo: assignedTo === "me" ? principal.urn : assignedTo,
    ...airportFilter(principal, airport),
  };
  const asked = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  return { ...asked, ...clockFilter(overdue, now) };
};

export const reviewQueries = (context: ActorContext) => {
  const collectionOf = (tenant: string) =>
    context.documents.tenant(tenant).collection<Document>("reviewItems");
  const read = (document: Document) => loadedOf<ReviewItem>(document, current);
  const viewOf = (document: Document): ReviewItemView => {
    const { state, meta } = read(document);
    return reviewView(meta._id, state, meta.version, context.clock.now());
  };
  return {
    /** GET /v1/booking/manual-review. An operator scoped to one airport sees that airport's items alone. */
    list: async ({ tenant, principal, params }: Query): Promise<Page<ReviewItemView>> => {
      const filter = queueFilter(principal, params, context.clock.now());
      return readPage(collectionOf(tenant), { filter, params, key: "listKey" }, viewOf);
    },

    /** GET /manual-review/{reviewUrn}. */
    item: async ({ tenant, principal, params }: Query): Promise<ReviewItemView> => {
      const _id = idOf((params as { reviewUrn: string }).reviewUrn) as never;
      const found = await collectionOf(tenant).findOne({ _id });
      if (found === null) throw new Problem("not-found/resource", "No such review item.");
      requireAirport(principal, read(found).state.airport);
      return viewOf(found);
    },

    /** For the dashboard: what lies on the desks, case by case; drills are nobody's work. */
    desks: async ({ tenant, principal }: Query): Promise<CaseDesk[]> => {
      const reach = airportFilter(principal, undefined);
      const filter = { status: { $in: ["OPEN", "CLAIMED"] }, kind: { $exists: false }, ...reach };
      const projection = { _id: 0, caseId: 1, category: 1, priority: 1, dueAt: 1, overdue: 1 };
      const found = await collectionOf(tenant)
        .find(filter, { projection, hint: "status", batchSize: 5000 })
        .toArray();
      return desksOf(found as unknown as OnDesk[], context.clock.now());
    },

    /** For the case's detail: all of them, newest first. Who may see the case may see them. */
    "of-case": async ({ tenant, params }: Query): Promise<ReviewItemView[]> => {
      const caseId = idOf((params as { caseUrn: string }).caseUrn);
      const found = await collectionOf(tenant).find({ caseId }).sort({ listKey: -1 }).toArray();
      return found.map(viewOf);
    },
  };
};
