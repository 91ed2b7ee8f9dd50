/** Owns the reads of the trail, newest first, each filter beside the index that serves it. */
import type { Document } from "mongodb";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page, Principal, Query } from "../../schemas/command.ts";
import { parseUrn, urn } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { decodeCursor, encodeCursor, limitOf } from "../runtime/page.ts";
import { airportFilter, requireAirport } from "../runtime/reach.ts";
import { type AuditEntry, entryView, listKeyFrom } from "./entry.ts";
import { trailOf } from "./trail.ts";

/** What travels in one message takes 1 MiB at most: a page of large entries ends before its limit. */
const pageBytesMax = 384 * 1024;

/** `chain` guards the order of entries; of the others there is one for each filter, the most telling first. */
export const auditIndexes = [
  { name: "chain", key: { chain: 1, sequence: 1 }, unique: true },
  { name: "entity", key: { entityUrn: 1, listKey: -1 } },
  {
    name: "case",
    key: { caseId: 1, listKey: -1 },
    partialFilterExpression: { caseId: { $exists: true } },
  },
  { name: "actor", key: { actor: 1, listKey: -1 } },
  { name: "action", key: { action: 1, listKey: -1 } },
  { name: "kind", key: { kind: 1, listKey: -1 } },
  { name: "airport", key: { airport: 1, listKey: -1 } },
  { name: "list", key: { listKey: -1 } },
] as const;

interface Filter {
  entityUrn?: string;
  caseId?: string;
  actor?: string;
  action?: string;
  kind?: string;
  airport?: string;
  listKey?: { $gte?: string; $lt?: string };
}

/** The index by which such a filter is read: a planner would have to guess. */
export const indexFor = (filter: Filter): string =>
  auditIndexes.find(({ name, key }) => name !== "chain" && Object.keys(key)[0]! in filter)?.name ?? "list";

/** What the trail's search asks for, inside the airport that its reader is scoped to. */
export const filterOf = (params: Record<string, unknown>, principal: Principal): Filter => {
  const { entity, entityUrn, caseUrn, action, actor, from, to } = params as Record<
    string,
    string | undefined
  >;
  const at = (time: string): string => listKeyFrom(new Date(time));
  return {
    ...(entityUrn === undefined ? {} : { entityUrn: shortForm(entityUrn) }),
    ...(caseUrn === undefined ? {} : { caseId: parseUrn(caseUrn)?.id ?? "" }),
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action }),
    ...(entity === undefined ? {} : { kind: entity }),
    ...airportFilter(principal, undefined),
    ...(from === undefined && to === undefined
      ? {}
      : {
          listKey: { ...(from === undefined ? {} : { $gte: at(from) }), ...(to && { $lt: at(to) }) },
        }),
  };
};

const shortForm = (text: string): string => {
  const parsed = parseUrn(text);
  return parsed === undefined ? text : urn(parsed.kind, parsed.id);
};

export const auditQueries = (context: ActorContext) => {
  const entriesOf = (tenant: string) => trailOf(context.documents.tenant(tenant)).entries;

  const pageOf = async ({ tenant, params }: Query, filter: Filter): Promise<Page<AuditEntryView>> => {
    const limit = limitOf(params);
    const beyond =
      typeof params.cursor === "string" ? [{ listKey: { $lt: decodeCursor(params.cursor) } }] : [];
    const found = entriesOf(tenant)
      .find({ $and: [filter as Document, ...beyond] }, { hint: indexFor(filter), batchSize: 50 })
      .sort({ listKey: -1 })
      .limit(limit + 1);
    const page: AuditEntry[] = [];
    let bytes = 0;
    let hasMore = false;
    for await (const entry of found) {
      bytes += JSON.stringify([entry.before, entry.after]).length + 1000;
      hasMore = page.length === limit || (page.length > 0 && bytes > pageBytesMax);
      if (hasMore) break;
      page.push(entry);
    }
    const last = page.at(-1);
    const nextCursor = hasMore && last !== undefined ? encodeCursor(last.listKey) : null;
    return { items: page.map(entryView), nextCursor, hasMore };
  };

  /** @throws Problem auth/foreign-airport where all that is told of it happened at other airports */
  const requireReach = async ({ tenant, principal }: Query, entityUrn: string): Promise<void> => {
    const filter = { entityUrn, airport: { $exists: true } };
    const one = await entriesOf(tenant).findOne(filter, { projection: { airport: 1 }, hint: "entity" });
    if (one?.airport !== undefined) requireAirport(principal, one.airport);
  };

  return {
    /** GET /v1/audit/case/…: what happened to a case and everything in it. */
    "of-case": async (query: Query): Promise<Page<AuditEntryView>> => {
      const caseUrn = query.params.caseUrn as string;
      await context.call("case.head", { ...query, params: { caseUrn } });
      return pageOf(query, { caseId: parseUrn(caseUrn)?.id ?? "" });
    },

    /** GET /v1/audit/entity/…. A trail may be of something that is gone; of nothing there are no entries. */
    "of-entity": async (query: Query): Promise<Page<AuditEntryView>> => {
      const { entityUrn = "" } = filterOf({ entityUrn: query.params.entityUrn }, query.principal);
      const page = await pageOf(query, { entityUrn, ...airportFilter(query.principal, undefined) });
      if (page.items.length === 0 && query.principal.airport !== undefined)
        await requireReach(query, entityUrn);
      return page;
    },

    /** GET /audit, and the pages of GET /v1/audit/export. */
    search: async (query: Query): Promise<Page<AuditEntryView>> =>
      pageOf(query, filterOf(query.params, query.principal)),
  };
};
