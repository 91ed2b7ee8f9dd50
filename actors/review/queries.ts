/** Owns the reads of review items, each beside the index that serves it. */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { CaseDesk } from "../../schemas/dashboard.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { airportFilter } from "../runtime/reach.ts";
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
] as const;

const viewOf = (document: Document): ReviewItemView => {
  const { state, meta } = loadedOf<ReviewItem>(document, current);
  return reviewView(meta._id, state, meta.version);
};

export const reviewQueries = (context: ActorContext) => {
  const collectionOf = (tenant: string) =>
    context.documents.tenant(tenant).collection<Document>("reviewItems");
  return {
    /** GET /v1/booking/manual-review. An operator scoped to one airport sees that airport's items alone. */
    list: async ({ tenant, principal, params }: Query): Promise<Page<ReviewItemView>> => {
      const { state, category, priority, airport } = params as Record<string, string | undefined>;
      const wanted = { status: state, category, priority, ...airportFilter(principal, airport) };
      const filter = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
      return readPage(collectionOf(tenant), { filter, params, key: "listKey" }, viewOf);
    },

    /** For the dashboard: what lies on the desks, case by case; drills are nobody's work. */
    desks: async ({ tenant, principal }: Query): Promise<CaseDesk[]> => {
      const reach = airportFilter(principal, undefined);
      const filter = { status: { $in: ["OPEN", "CLAIMED"] }, kind: { $exists: false }, ...reach };
      const projection = { _id: 0, caseId: 1, category: 1, priority: 1, dueAt: 1, overdue: 1 };
      const found = await collectionOf(tenant).find(filter, { projection, hint: "status" }).toArray();
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
