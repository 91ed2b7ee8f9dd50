/** Owns what every process knows of the airlines: kept in the platform database, announced through the `tenants` bucket. */
import type { Logger } from "pino";
import type { ReviewSla } from "../schemas/review.ts";
import type { Language } from "../schemas/vocabulary.ts";
import { watchBucket } from "./bucket.ts";
import type { Streams } from "./connection.ts";

/** An airline as every process needs it, with nothing secret in it. */
export interface Tenant {
  /** IATA or ICAO designator, upper case; part of every tenant-owned id. */
  code: string;
  name: string;
  /** Host names that passengers of this airline use, lower case, without the port. */
  passengerHosts: string[];
  /** ISO 3166-1 alpha-2; its currency is the fallback for rates. */
  homeCountry: string;
  /** What its passengers are written in who have no language of their own that we write; absent: English. */
  language?: Language;
  /** How long review items may stay unresolved; absent: the contract's example. */
  reviewSla?: ReviewSla;
}

export interface TenantDirectory {
  byCode(code: string): Tenant | undefined;
  byPassengerHost(host: string): Tenant | undefined;
  all(): Tenant[];
  /** Calls back once for every tenant known now and for each that is added later; returns the way to stop. */
  onEach(callback: (tenant: Tenant) => void): () => void;
}

export interface LiveTenantDirectory extends TenantDirectory {
  /** Tells every process of a new or changed airline; returns when this one knows. */
  announce(tenant: Tenant): Promise<void>;
  /** False once airlines are no longer heard of. */
  live(): boolean;
  close(): void;
}

/** Knows every airline announced so far when it returns; learns of later ones within moments. */
export const openTenantDirectory = async (streams: Streams, log: Logger): Promise<LiveTenantDirectory> => {
  const directory = new Directory();
  const bucket = await watchBucket<Tenant>(streams, "tenants", {
    onValue: (_code, tenant) => directory.learn(tenant),
    onUnreadable: (code, error) => log.error({ code, err: error }, "airline not taken over"),
    onEnd: (error) => log.error({ err: error }, "airlines are not heard of any more"),
  });
  return Object.assign(directory, {
    announce: async (tenant: Tenant) => {
      await bucket.put(tenant.code, tenant);
      directory.learn(tenant);
    },
    live: () => bucket.live(),
    close: () => bucket.close(),
  });
};

class Directory implements TenantDirectory {
  readonly #byCode = new Map<string, Tenant>();
  readonly #byHost = new Map<string, Tenant>();
  readonly #listeners = new Set<(tenant: Tenant) => void>();

  learn(tenant: Tenant): void {
    const isNew = !this.#byCode.has(tenant.code);
    for (const host of this.#byCode.get(tenant.code)?.passengerHosts ?? [])
      if (this.#byHost.get(host)?.code === tenant.code) this.#byHost.delete(host);
    this.#byCode.set(tenant.code, tenant);
    for (const host of tenant.passengerHosts) this.#byHost.set(host, tenant);
    if (isNew) for (const listener of this.#listeners) listener(tenant);
  }

  byCode(code: string): Tenant | undefined {
    return this.#byCode.get(code);
  }

  byPassengerHost(host: string): Tenant | undefined {
    return this.#byHost.get(host);
  }

  all(): Tenant[] {
    return [...this.#byCode.values()];
  }

  onEach(callback: (tenant: Tenant) => void): () => void {
    this.#listeners.add(callback);
    for (const tenant of this.#byCode.values()) callback(tenant);
    return () => this.#listeners.delete(callback);
  }
}
