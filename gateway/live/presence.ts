/**
 * Owns who watches which case, over all gateway processes, and that an operator's locks are given back when the last live socket of
 * theirs is gone: at once when it drops, and once a gateway that has died is known to be dead. Locks themselves are the sub-case's.
 */
import type { Logger } from "pino";
import { namedWatchersMax, type PresenceChanged } from "../../schemas/live.ts";
import { urn } from "../../schemas/urn.ts";
import { type LiveGateways, operatorKey, type PresentOperator } from "../../streams/live-gateways.ts";

/** Changes of one operator within this are told at once. */
const gatheredMs = 50;
const againMs = 1000;
/** Beats in a row that others have to miss. */
const missedBeats = 3;

export interface PresenceParts {
  /** This gateway's id. */
  self: string;
  beatMs: number;
  /** Gives back what an operator holds that was taken up to then. Comes as often as it may. */
  release(tenant: string, operatorUrn: string, upTo: Date): void;
  /** Whoever watches this case is to be told. */
  onChanged(caseId: string): void;
  now: () => Date;
  log: Logger;
}

interface Gateway {
  /** By this process's own clock that never jumps. */
  heardAtMs: number;
  /** By the server's clock. */
  toldAt: Date;
  operators: Map<string, PresentOperator>;
}

interface Local extends PresentOperator {
  sockets: number;
  /** How many of them watch each. */
  watching: Map<string, number>;
}

/** Of an operator with live sockets here. */
export interface Who {
  tenant: string;
  operatorUrn: string;
}

export class Presence {
  readonly #parts: PresenceParts;
  readonly #local = new Map<string, Local>();
  readonly #others = new Map<string, Gateway>();
  /** Case → operator → gateways. */
  readonly #watchers = new Map<string, Map<string, Set<string>>>();
  readonly #toTell = new Set<string>();
  #store: LiveGateways | undefined;
  #telling: NodeJS.Timeout | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #beating: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #echoedAtMs = performance.now();
  #toldAtMs = 0;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /** @param store hears what {@link onBeat}, {@link onPresent} and {@link onAbsent} are told */
  begin(store: LiveGateways): void {
    const { beatMs } = this.#parts;
    this.#store = store;
    this.#echoedAtMs = performance.now();
    this.#beat();
    this.#beating = setInterval(() => this.#beat(), beatMs);
    this.#looking = setInterval(() => this.#look(), beatMs / 5);
  }

  /** Stands still: locks are the operators' until this gateway counts as dead, and they may come back elsewhere before. */
  async stop(): Promise<void> {
    clearInterval(this.#beating);
    clearInterval(this.#looking);
    clearTimeout(this.#telling);
    await this.#underWay;
    this.#store?.close();
    this.#store = undefined;
  }

  enter({ tenant, operatorUrn }: Who): void {
    const key = operatorKey(tenant, operatorUrn);
    const known = this.#local.get(key);
    if (known !== undefined) {
      known.sockets++;
      return;
    }
    const since = this.#parts.now().toISOString();
    this.#local.set(key, { tenant, operatorUrn, since, cases: [], sockets: 1, watching: new Map() });
    this.#tellSoon(key);
  }

  leave({ tenant, operatorUrn }: Who): void {
    const key = operatorKey(tenant, operatorUrn);
    const known = this.#local.get(key);
    if (known === undefined) return;
    known.sockets--;
    if (known.sockets > 0) return;
    this.#local.delete(key);
    for (const caseId of known.watching.keys()) this.#unwatched(caseId, key, this.#parts.self);
    this.#tellSoon(key);
    if (!this.#isPresent(key)) this.#parts.release(tenant, operatorUrn, this.#parts.now());
  }

  watch({ tenant, operatorUrn }: Who, caseId: string): void {
    const key = operatorKey(tenant, operatorUrn);
    const known = this.#local.get(key);
    if (known === undefined) return;
    const count = known.watching.get(caseId) ?? 0;
    known.watching.set(caseId, count + 1);
    if (count > 0) return;
    this.#watched(caseId, key, this.#parts.self);
    this.#tellSoon(key);
  }

  unwatch({ tenant, operatorUrn }: Who, caseId: string): void {
    const key = operatorKey(tenant, operatorUrn);
    const known = this.#local.get(key);
    const count = known?.watching.get(caseId);
    if (known === undefined || count === undefined) return;
    if (count > 1) {
      known.watching.set(caseId, count - 1);
      return;
    }
    known.watching.delete(caseId);
    this.#unwatched(caseId, key, this.#parts.self);
    this.#tellSoon(key);
  }

  of(caseId: string): PresenceChanged {
    const watchers = [...(this.#watchers.get(caseId)?.keys() ?? [])].flatMap((key) => this.#watcher(key));
    watchers.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
    return {
      caseUrn: urn("case", caseId),
      watchers: watchers.slice(0, namedWatchersMax),
      watcherCount: watchers.length,
    };
  }

  onBeat(gateway: string, toldAt: Date): void {
    if (gateway === this.#parts.self) this.#echoedAtMs = performance.now();
    else this.#heard(gateway, toldAt);
  }

  onPresent(gateway: string, key: string, operator: PresentOperator, toldAt: Date): void {
    if (gateway === this.#parts.self) return;
    const { operators } = this.#heard(gateway, toldAt);
    const before = operators.get(key);
    operators.set(key, operator);
    for (const caseId of before?.cases ?? [])
      if (!operator.cases.includes(caseId)) this.#unwatched(caseId, key, gateway);
    for (const caseId of operator.cases) this.#watched(caseId, key, gateway);
  }

  onAbsent(gateway: string, key: string): void {
    if (gateway === this.#parts.self) {
      // Another gateway has taken this one for dead: it lives.
      if (this.#local.has(key)) this.#tellSoon(key);
      return;
    }
    const operator = this.#depart(gateway, key);
    // Where two gateways lose an operator's last sockets at once, each has still counted on the other.
    if (operator !== undefined && !this.#isPresent(key))
      this.#parts.release(operator.tenant, operator.operatorUrn, this.#parts.now());
  }

  #heard(gateway: string, toldAt: Date): Gateway {
    const known = this.#others.get(gateway) ?? { heardAtMs: 0, toldAt, operators: new Map() };
    known.heardAtMs = performance.now();
    known.toldAt = toldAt;
    this.#others.set(gateway, known);
    return known;
  }

  #watcher(key: string): { operatorUrn: string; since: string }[] {
    const present = [
      this.#local.get(key),
      ...[...this.#others.values()].map(({ operators }) => operators.get(key)),
    ];
    const found = present.filter((one) => one !== undefined);
    const first = found.sort((a, b) => (a.since < b.since ? -1 : 1))[0];
    return first === undefined ? [] : [{ operatorUrn: first.operatorUrn, since: first.since }];
  }

  #isPresent(key: string): boolean {
    return this.#local.has(key) || [...this.#others.values()].some(({ operators }) => operators.has(key));
  }

  #depart(gateway: string, key: string): PresentOperator | undefined {
    const operators = this.#others.get(gateway)?.operators;
    const operator = operators?.get(key);
    if (operator === undefined) return undefined;
    operators?.delete(key);
    for (const caseId of operator.cases) this.#unwatched(caseId, key, gateway);
    return operator;
  }

  #watched(caseId: string, key: string, gateway: string): void {
    const ofCase = this.#watchers.get(caseId) ?? new Map<string, Set<string>>();
    this.#watchers.set(caseId, ofCase);
    const gateways = ofCase.get(key);
    if (gateways !== undefined) {
      gateways.add(gateway);
      return;
    }
    ofCase.set(key, new Set([gateway]));
    this.#parts.onChanged(caseId);
  }

  #unwatched(caseId: string, key: string, gateway: string): void {
    const ofCase = this.#watchers.get(caseId);
    const gateways = ofCase?.get(key);
    if (ofCase === undefined || gateways === undefined) return;
    gateways.delete(gateway);
    if (gateways.size > 0) return;
    ofCase.delete(key);
    if (ofCase.size === 0) this.#watchers.delete(caseId);
    this.#parts.onChanged(caseId);
  }

  #beat(): void {
    this.#store?.beat(this.#parts.self).catch((error) => {
      this.#parts.log.warn({ error: String(error) }, "a beat of this gateway was not told");
    });
  }

  /** Nobody counts as dead whom this process could not have heard: its own beat has to come back to it. */
  #look(): void {
    const now = performance.now();
    const { beatMs } = this.#parts;
    if (this.#store?.live() !== true || now - this.#echoedAtMs > 2 * beatMs) {
      for (const other of this.#others.values()) other.heardAtMs = now;
      return;
    }
    for (const [gateway, { heardAtMs }] of this.#others)
      if (now - heardAtMs > missedBeats * beatMs) this.#bury(gateway);
  }

  /** Every gateway does: what follows is the same however often it is done. */
  #bury(gateway: string): void {
    const { log, release, beatMs } = this.#parts;
    const { operators, toldAt } = this.#others.get(gateway) as Gateway;
    log.warn({ gateway, operators: operators.size }, "a gateway is silent: its operators' sockets are gone");
    // What somebody has locked since, without a live socket, is a lease like any other.
    const upTo = new Date(toldAt.getTime() + beatMs);
    const keys = [...operators.keys()];
    for (const key of keys) {
      const operator = this.#depart(gateway, key);
      if (operator !== undefined && !this.#isPresent(key))
        release(operator.tenant, operator.operatorUrn, upTo);
    }
    this.#others.delete(gateway);
    const forget = async (): Promise<void> => {
      for (const key of keys) await this.#store?.tellAbsent(gateway, key);
      await this.#store?.forget(gateway);
    };
    forget().catch((error) => log.warn({ error: String(error) }, "a dead gateway is not forgotten yet"));
  }

  #tellSoon(key: string): void {
    this.#toTell.add(key);
    // At once after a rest: a gateway that dies had better been heard of.
    const restedMs = performance.now() - this.#toldAtMs;
    this.#telling ??= setTimeout(() => this.#tell(), Math.max(0, gatheredMs - restedMs));
  }

  #tell(): void {
    const keys = [...this.#toTell];
    this.#toTell.clear();
    this.#toldAtMs = performance.now();
    this.#underWay = this.#tellAll(keys).then((untold) => {
      this.#telling = undefined;
      for (const key of untold) this.#toTell.add(key);
      if (this.#toTell.size > 0 && this.#store !== undefined)
        this.#telling = setTimeout(() => this.#tell(), untold.length > 0 ? againMs : gatheredMs);
    });
  }

  /** @returns those that could not be told */
  async #tellAll(keys: string[]): Promise<string[]> {
    const store = this.#store;
    if (store === undefined) return [];
    const { self, log } = this.#parts;
    const told = await Promise.allSettled(
      keys.map((key) => {
        const here = this.#local.get(key);
        if (here === undefined) return store.tellAbsent(self, key);
        const { tenant, operatorUrn, since, watching } = here;
        return store.tellPresent(self, { tenant, operatorUrn, since, cases: [...watching.keys()] });
      }),
    );
    const failed = told.find((one) => one.status === "rejected");
    if (failed !== undefined)
      log.warn({ error: String(failed.reason) }, "who is here was not told to other gateways yet");
    return keys.filter((_, i) => told[i]?.status === "rejected");
  }
}
