/** Owns which vendors an airline works with: one configured instance each, its credentials sealed, known to every process. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { VendorKind, VendorView } from "../../schemas/vendor-call.ts";
import { type Bucket, watchBucket } from "../../streams/bucket.ts";
import type { ActorContext } from "../runtime/host.ts";
import { seal, unseal } from "../runtime/seal.ts";
import { CardWorks } from "./adapters/cardworks.ts";
import { RideFleet } from "./adapters/ridefleet.ts";
import { RoomLink } from "./adapters/roomlink.ts";
import { SendWell } from "./adapters/sendwell.ts";
import { StayHub } from "./adapters/stayhub.ts";
import type { VendorOptions } from "./http.ts";
import type { HotelPort, MessagePort, PaymentPort, TransportPort } from "./ports.ts";

export type Instance =
  | { name: string; kind: "hotel"; port: HotelPort }
  | { name: string; kind: "payment"; port: PaymentPort }
  | { name: string; kind: "transport"; port: TransportPort }
  | { name: string; kind: "message"; port: MessagePort };

/** How each dialect that we speak makes an instance. */
const dialects: Readonly<Record<string, (name: string, options: VendorOptions) => Instance>> = {
  stayhub: (name, options) => ({ name, kind: "hotel", port: new StayHub(name, options) }),
  roomlink: (name, options) => ({ name, kind: "hotel", port: new RoomLink(name, options) }),
  cardworks: (name, options) => ({ name, kind: "payment", port: new CardWorks(options) }),
  ridefleet: (name, options) => ({ name, kind: "transport", port: new RideFleet(options) }),
  sendwell: (name, options) => ({ name, kind: "message", port: new SendWell(options) }),
};

interface VendorDocument {
  _id: string;
  dialect: string;
  baseUrl: string;
  /** Sealed. */
  apiKey: string;
  changedAt: Date;
}

export interface PutVendor {
  /** Part of subjects: lower case letters, digits and dashes. */
  name: string;
  dialect: string;
  baseUrl: string;
  apiKey: string;
}

const vendorName = /^[a-z][a-z0-9-]{0,30}$/;

export interface Instances {
  /** The airline's vendors, by name. */
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
  const learn = (key: string, document: VendorDocument): void => {
    const [tenant, name] = key.split(".") as [string, string];
    const make = dialects[document.dialect];
    if (make === undefined) throw new Error(`vendor ${name} of ${tenant} speaks an unknown dialect`);
    const apiKey = unseal(context.config.sealKey, document.apiKey);
    const instance = make(name, {
      baseUrl: document.baseUrl,
      apiKey,
      timeoutMs: context.config.VENDOR_TIMEOUT_MS,
    });
    const known = byTenant.get(tenant) ?? new Map<string, Instance>();
    byTenant.set(tenant, known);
    const isNew = !known.has(name);
    known.set(name, instance);
    if (isNew) onVendor(tenant, name);
  };
  const bucket = await watchBucket<VendorDocument>(context.streams, "vendors", learn, (key, error) =>
    context.log.error({ key, err: error }, "vendor not usable in this process"),
  );
  return {
    of: (tenant) => [...(byTenant.get(tenant)?.values() ?? [])],
    byKind: <K extends VendorKind>(tenant: string, kind: K) =>
      [...(byTenant.get(tenant)?.values() ?? [])].filter(
        (instance): instance is Extract<Instance, { kind: K }> => instance.kind === kind,
      ),
    put: (command) => putVendor(context, bucket, command),
    close: () => bucket.close(),
  };
};

/** Kept in the airline's database, then announced. A crash between the two is healed by putting it again. */
const putVendor = async (
  context: ActorContext,
  bucket: Bucket<VendorDocument>,
  command: Command,
): Promise<void> => {
  const { name, dialect, baseUrl, apiKey } = command.data as PutVendor;
  if (!vendorName.test(name)) {
    throw new Problem("validation/body", "A vendor's name is lower case letters, digits and dashes.", {
      errors: [{ pointer: "/name", detail: "not a vendor name" }],
    });
  }
  if (!Object.hasOwn(dialects, dialect)) {
    throw new Problem("validation/body", `Known dialects are ${Object.keys(dialects).join(", ")}.`, {
      errors: [{ pointer: "/dialect", detail: "not a known dialect" }],
    });
  }
  const sealed = seal(context.config.sealKey, apiKey);
  const document = {
    dialect,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    apiKey: sealed,
    changedAt: context.clock.now(),
  };
  await context.documents
    .tenant(command.tenant)
    .collection<Document>("vendors")
    .updateOne({ _id: name as never }, { $set: document }, { upsert: true });
  await bucket.put(`${command.tenant}.${name}`, { _id: name, ...document });
};

/** By name; an airline has some dozens at most. */
export const listVendors = async (context: ActorContext, tenant: string): Promise<VendorView[]> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<VendorDocument>("vendors")
    .find({}, { projection: { apiKey: 0 } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id, dialect, baseUrl, changedAt }) => ({
    name: _id,
    dialect,
    baseUrl,
    changedAt: changedAt.toISOString(),
  }));
};
