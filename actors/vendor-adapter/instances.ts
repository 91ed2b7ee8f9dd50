/** Owns which vendors an airline works with: one configured instance each, its credentials sealed, known to every process. */
import type { Document } from "mongodb";
import pLimit from "p-limit";
import type { Command } from "../../schemas/command.ts";
import { directVendor } from "../../schemas/contract.ts";
import { drillVendor } from "../../schemas/drill.ts";
import { Problem } from "../../schemas/problems.ts";
import { byHandVendor } from "../../schemas/reservation.ts";
import { smtpVendor, type VendorKind, type VendorView } from "../../schemas/vendor-call.ts";
import { type Bucket, watchBucket } from "../../streams/bucket.ts";
import type { ActorContext } from "../runtime/host.ts";
import { seal, unseal } from "../runtime/seal.ts";
import { CardWorks } from "./adapters/cardworks.ts";
import { Direct } from "./adapters/direct.ts";
import { RideFleet } from "./adapters/ridefleet.ts";
import { RoomLink } from "./adapters/roomlink.ts";
import { SendWell } from "./adapters/sendwell.ts";
import { Smtp } from "./adapters/smtp.ts";
import { StayHub } from "./adapters/stayhub.ts";
import { behindCircuit } from "./circuit.ts";
import type { VendorOptions } from "./http.ts";
import type { HotelPort, MessagePort, PaymentPort, TransportPort } from "./ports.ts";

export type Instance = (
  | { name: string; kind: "hotel"; port: HotelPort }
  | { name: string; kind: "payment"; port: PaymentPort }
  | { name: string; kind: "transport"; port: TransportPort }
  | { name: string; kind: "message"; port: MessagePort }
) & {
  /** Minutes between two reconciliations; absent: the configured default. */
  reconcileMinutes?: number;
};

/** How each dialect that we speak makes an instance. */
const dialects: Readonly<Record<string, (name: string, options: VendorOptions) => Instance>> = {
  stayhub: (name, options) => ({ name, kind: "hotel", port: new StayHub(name, options) }),
  roomlink: (name, options) => ({ name, kind: "hotel", port: new RoomLink(name, options) }),
  cardworks: (name, options) => ({ name, kind: "payment", port: new CardWorks(options) }),
  ridefleet: (name, options) => ({ name, kind: "transport", port: new RideFleet(options) }),
  sendwell: (name, options) => ({ name, kind: "message", port: new SendWell(options) }),
};

/** In the airline's `vendors`. */
export interface VendorDocument {
  _id: string;
  dialect: string;
  baseUrl: string;
  /** Sealed. */
  apiKey: string;
  reconcileMinutes?: number;
  callsPerSecond?: number;
  changedAt: Date;
}

/**
 * The vendor as it is configured.
 * @throws Error for a dialect that we don't speak, SealError for a key that was sealed elsewhere
 */
export const instanceOf = (
  document: VendorDocument,
  { sealKey, timeoutMs }: { sealKey: Buffer; timeoutMs: number },
): Instance => {
  const { _id: name, dialect, baseUrl, reconcileMinutes, callsPerSecond } = document;
  const make = dialects[dialect];
  if (make === undefined) throw new Error(`vendor ${name} speaks an unknown dialect`);
  const options = { baseUrl, apiKey: unseal(sealKey, document.apiKey), timeoutMs };
  const instance = make(name, { ...options, ...(callsPerSecond !== undefined && { callsPerSecond }) });
  return reconcileMinutes === undefined ? instance : { ...instance, reconcileMinutes };
};

export interface PutVendor {
  /** Part of subjects: lower case letters, digits and dashes. */
  name: string;
  dialect: string;
  baseUrl: string;
  apiKey: string;
  /** Of a hotel or payment vendor: 5–60, between two reconciliations (contract, "Vendor reconciliation polling"). */
  reconcileMinutes?: number;
  /** 1–10,000, from each process; absent: as many as there are. */
  callsPerSecond?: number;
}

const vendorName = /^[a-z][a-z0-9-]{0,30}$/;
/** The last would be this actor's own subject. */
const taken: ReadonlySet<string> = new Set([directVendor, byHandVendor, drillVendor, smtpVendor, "adapter"]);

export interface Instances {
  /** The airline's vendors; its own contracts are one of them, configured or not. */
  of(tenant: string): readonly Instance[];
  byKind<K extends VendorKind>(tenant: string, kind: K): Extract<Instance, { kind: K }>[];
  put(command: Command): Promise<void>;
  close(): void;
}

/** @param onVendor told of each vendor of each airline once, now or when it is configured */
export const openInstances = async (
  context: ActorContext,
  onVendor: (tenant: string, vendor: string) => void,
): Promise<Instances> => {
  const byTenant = new Map<string, Map<string, Instance>>();
  const circuits = new Map<string, () => void>();
  const learn = (key: string, document: VendorDocument): void => {
    const [tenant] = key.split(".") as [string];
    const { sealKey, VENDOR_TIMEOUT_MS: timeoutMs } = context.config;
    const instance = instanceOf(document, { sealKey, timeoutMs });
    const log = context.log.child({ tenant });
    const { port, shutdown } = behindCircuit<object>(instance.name, instance.port, log);
    circuits.get(key)?.();
    circuits.set(key, shutdown);
    add(tenant, { ...instance, port } as Instance);
  };
  const add = (tenant: string, instance: Instance): void => {
    const known = byTenant.get(tenant) ?? new Map<string, Instance>();
    byTenant.set(tenant, known);
    const isNew = !known.has(instance.name);
    known.set(instance.name, instance);
    if (isNew) onVendor(tenant, instance.name);
  };
  const bucket = await watchBucket<VendorDocument>(context.streams, "vendors", {
    onValue: learn,
    onUnreadable: (key, error) => context.log.error({ key, err: error }, "vendor not usable in this process"),
    onEnd: (error) => context.log.error({ err: error }, "vendors are not heard of any more"),
  });
  const { mail, VENDOR_TIMEOUT_MS: timeoutMs } = context.config;
  const connections = pLimit(mail?.connectionsMax ?? 1);
  const now = (): Date => context.clock.now();
  const forget = context.tenants.onEach(({ code, name }) => {
    add(code, { name: directVendor, kind: "hotel", port: new Direct(code, context) });
    if (mail !== undefined)
      add(code, {
        name: smtpVendor,
        kind: "message",
        port: new Smtp({ ...mail, senderName: name, timeoutMs, connections, now }),
      });
  });
  return {
    of: (tenant) => [...(byTenant.get(tenant)?.values() ?? [])],
    byKind: <K extends VendorKind>(tenant: string, kind: K) =>
      [...(byTenant.get(tenant)?.values() ?? [])].filter(
        (instance): instance is Extract<Instance, { kind: K }> => instance.kind === kind,
      ),
    put: (command) => putVendor(context, bucket, command),
    close: () => {
      forget();
      bucket.close();
      for (const shutdown of circuits.values()) shutdown();
    },
  };
};

/** Kept in the airline's database, then announced. A crash between the two is healed by putting it again. */
const putVendor = async (
  context: ActorContext,
  bucket: Bucket<VendorDocument>,
  command: Command,
): Promise<void> => {
  const { name, dialect, baseUrl, apiKey, reconcileMinutes, callsPerSecond } = command.data as PutVendor;
  if (!vendorName.test(name) || taken.has(name)) {
    const rule = `A vendor's name is lower case letters, digits and dashes, and not ${[...taken].join(", ")}.`;
    throw new Problem("validation/body", rule, {
      errors: [{ pointer: "/name", detail: "not a vendor name" }],
    });
  }
  if (!Object.hasOwn(dialects, dialect)) {
    throw new Problem("validation/body", `Known dialects are ${Object.keys(dialects).join(", ")}.`, {
      errors: [{ pointer: "/dialect", detail: "not a known dialect" }],
    });
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Problem(
      "validation/body",
      "A key is sent in a header: printable ASCII, no blanks or line ends.",
      {
        errors: [{ pointer: "/apiKey", detail: "not a key that can be sent" }],
      },
    );
  }
  if (reconcileMinutes !== undefined && !isInterval(reconcileMinutes)) {
    throw new Problem("validation/body", "A vendor is reconciled with every 5 to 60 minutes.", {
      errors: [{ pointer: "/reconcileMinutes", detail: "not a whole number from 5 to 60" }],
    });
  }
  if (callsPerSecond !== undefined && !isRate(callsPerSecond)) {
    throw new Problem("validation/body", "A vendor is called 1 to 10,000 times a second.", {
      errors: [{ pointer: "/callsPerSecond", detail: "not a whole number from 1 to 10,000" }],
    });
  }
  const sealed = seal(context.config.sealKey, apiKey);
  const document = {
    dialect,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey: sealed,
    changedAt: context.clock.now(),
    ...(reconcileMinutes !== undefined && { reconcileMinutes }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
  };
  const absent = {
    ...(reconcileMinutes === undefined && { reconcileMinutes: "" }),
    ...(callsPerSecond === undefined && { callsPerSecond: "" }),
  };
  const unset = Object.keys(absent).length > 0 ? { $unset: absent } : {};
  await context.documents
    .tenant(command.tenant)
    .collection<Document>("vendors")
    .updateOne({ _id: name as never }, { $set: document, ...unset }, { upsert: true });
  await bucket.put(`${command.tenant}.${name}`, { _id: name, ...document });
};

const isRate = (calls: number): boolean => Number.isInteger(calls) && calls >= 1 && calls <= 10_000;

const isInterval = (minutes: number): boolean => Number.isInteger(minutes) && minutes >= 5 && minutes <= 60;

/** By name; an airline has some dozens at most. */
export const listVendors = async (context: ActorContext, tenant: string): Promise<VendorView[]> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<VendorDocument>("vendors")
    .find({}, { projection: { apiKey: 0 } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id, dialect, baseUrl, changedAt, reconcileMinutes, callsPerSecond }) => ({
    name: _id,
    dialect,
    baseUrl,
    changedAt: changedAt.toISOString(),
    ...(reconcileMinutes !== undefined && { reconcileMinutes }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
  }));
};
