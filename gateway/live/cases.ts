/** Owns what the operators' channel knows of cases: at which airport, in which status. Told by the log; asked of the case actor once where it is silent. */
import { LRUCache } from "lru-cache";
import type { CaseListItem } from "../../schemas/case.ts";
import { type Page, type Principal, systemPrincipal } from "../../schemas/command.ts";
import type { LockedGroup } from "../../schemas/lock.ts";
import { idOf, tenantOfId, urn } from "../../schemas/urn.ts";
import type { CaseStatus } from "../../schemas/vocabulary.ts";
import type { Dispatch } from "../dispatch.ts";
import { beginTrace } from "../trace.ts";
import { airportOf, changeOf } from "./operator-mapping.ts";
import type { LiveEntry } from "./ring.ts";
import { keyOf, type Room } from "./rooms.ts";

/** A case that is forgotten is asked for again when somebody next watches it. */
const casesMax = 50_000;
const pageSize = 200;
/** An airport has fewer that are not closed. */
const pagesMax = 25;

interface Known {
  airport: string | undefined;
  status: CaseStatus | undefined;
  /** Of the entry that told the status last; 0: none has. */
  order: number;
}

export interface OpenCase {
  caseUrn: string;
  status: CaseStatus;
}

export class Cases {
  readonly #dispatch: Dispatch;
  readonly #now: () => Date;
  readonly #known = new LRUCache<string, Known>({ max: casesMax });
  /** Of which every case that is not closed was asked for; later ones the log tells. */
  readonly #airports = new Set<string>();
  readonly #loading = new Map<string, Promise<void>>();
  #order = 0;

  constructor(dispatch: Dispatch, now: () => Date) {
    this.#dispatch = dispatch;
    this.#now = now;
  }

  note(entry: LiveEntry): void {
    const { caseId, order } = entry;
    if (caseId === undefined) return;
    this.#order = order;
    const known = this.#known.get(caseId);
    const status = changeOf(entry)?.status;
    const airport = known?.airport ?? airportOf(entry);
    if (status !== undefined) this.#known.set(caseId, { airport, status, order });
    else if (airport !== known?.airport)
      this.#known.set(caseId, { airport, status: known?.status, order: known?.order ?? 0 });
  }

  /** Undefined: nobody watches it, and the log has not told. */
  airport(caseId: string): string | undefined {
    return this.#known.get(caseId)?.airport;
  }

  /** Whoever watches an airport has asked for all of its cases that are not closed. */
  status(caseId: string): CaseStatus {
    return this.#known.get(caseId)?.status ?? "CLOSED";
  }

  /** @throws Problem not-found/resource, auth/foreign-airport, upstream/unavailable */
  async load(principal: Principal, caseUrn: string): Promise<{ airport: string; status: CaseStatus }> {
    const begun = this.#order;
    const head = await this.#ask<CaseListItem>("case.head", principal, { caseUrn });
    const { airport } = head;
    return { airport, status: this.#learn(idOf(caseUrn), head, begun) };
  }

  /** Those of an airport that are not closed. @throws Problem upstream/unavailable */
  async loadAirport(tenant: string, airport: string): Promise<OpenCase[]> {
    const begun = this.#order;
    const principal = systemPrincipal(tenant, "gateway");
    const found: CaseListItem[] = [];
    for (const status of ["OPEN", "MANUAL_REVIEW"] as const) {
      let cursor: string | null | undefined;
      for (let page = 0; page < pagesMax && cursor !== null; page++) {
        const params = { status, airport, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) };
        const told = await this.#ask<Page<CaseListItem>>("case.list", principal, params);
        found.push(...told.items);
        cursor = told.nextCursor;
      }
    }
    this.#airports.add(keyOf({ kind: "airport", tenant, airport }));
    return found
      .map((head) => ({ caseUrn: head.urn, status: this.#learn(idOf(head.urn), head, begun) }))
      .filter(({ status }) => status !== "CLOSED");
  }

  /** For who comes back to a room: that this process knows what it has to of it. @throws Problem upstream/unavailable */
  async ensure(room: Room): Promise<void> {
    const key = keyOf(room);
    const isKnown =
      room.kind === "airport" ? this.#airports.has(key) : this.#known.get(room.caseId)?.status !== undefined;
    if (isKnown) return;
    const loading = this.#loading.get(key) ?? this.#load(room).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    await loading;
  }

  async #load(room: Room): Promise<void> {
    if (room.kind === "airport") await this.loadAirport(room.tenant, room.airport);
    else {
      const principal = systemPrincipal(tenantOfId(room.caseId), "gateway");
      await this.load(principal, urn("case", room.caseId));
    }
  }

  /** Locks that are held on groups of a case. @throws Problem upstream/unavailable */
  async locks(caseId: string): Promise<(LockedGroup & { subCaseId: string })[]> {
    const principal = systemPrincipal(tenantOfId(caseId), "gateway");
    return this.#ask<(LockedGroup & { subCaseId: string })[]>("sub-case.locks", principal, {
      caseId,
      caseUrn: urn("case", caseId),
    });
  }

  /** What the log has told since is newer than what was read. */
  #learn(caseId: string, { airport, status }: CaseListItem, begun: number): CaseStatus {
    const known = this.#known.get(caseId);
    if (known?.status !== undefined && known.order > begun) return known.status;
    this.#known.set(caseId, { airport, status, order: known?.order ?? 0 });
    return status;
  }

  async #ask<Answer>(name: string, principal: Principal, params: Record<string, unknown>): Promise<Answer> {
    const trace = beginTrace("", this.#now());
    const { ok } = await this.#dispatch.query(name, {
      ...trace,
      tenant: principal.tenant,
      principal,
      params,
    });
    return ok as Answer;
  }
}
