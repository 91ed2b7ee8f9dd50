/** Owns which vendors an airline works with: one configured instance each, its credentials sealed, known to every process. */
import pLimit from "p-limit";
import type { Command } from "../../schemas/command.ts";
import { directVendor } from "../../schemas/contract.ts";
import { smtpVendor, type VendorKind, type VendorView } from "../../schemas/vendor-call.ts";
import { type Bucket, watchBucket } from "../../streams/bucket.ts";
import type { ActorContext } from "../runtime/host.ts";
import { seal, unseal } from "../runtime/seal.ts";
import { Direct } from "./adapters/direct.ts";
import { Smtp } from "./adapters/smtp.ts";
import { behindCircuit } from "./circuit.ts";
import { dialects, type Instance } from "./dialects.ts";
import { checkedVendor, type PutVendor } from "./put-vendor.ts";
import { formerSecret, type Sender, Senders } from "./senders.ts";

/** In the airline's `vendors`. */
export interface VendorDocument {
  _id: string;
  dialect: string;
  /** Of its dialect, for who can't tell by it. */
  kind?: VendorKind;
  baseUrl: string;
  /** Sealed, as the other secrets. */
  apiKey: string;
  apiSecret?: string;
  /** What the vendor signs with that it sends us. */
  webhookSecret?: string;
  formerWebhookSecret?: string;
  formerWebhookSecretUntil?: Date;
  account?: Readonly<Record<string, string>>;
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
  {
    sealKey,
    timeoutMs,
    bookingSettlesMs,
  }: { sealKey: Buffer; timeoutMs: number; bookingSettlesMs?: number | undefined },
): Instance => {
  const { _id: name, baseUrl, account = {}, reconcileMinutes, callsPerSecond } = document;
  const dialect = dialects[document.dialect];
  if (dialect === undefined) throw new Error(`vendor ${name} speaks an unknown dialect`);
  const instance = dialect.make(name, {
    baseUrl,
    apiKey: unseal(sealKey, document.apiKey),
    ...(document.apiSecret !== undefined && { apiSecret: unseal(sealKey, document.apiSecret) }),
    account,
    timeoutMs,
    ...(bookingSettlesMs !== undefined && { bookingSettlesMs }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
  });
  return reconcileMinutes === undefined ? instance : { ...instance, reconcileMinutes };
};

export interface Instances {
  /** The airline's vendors; its own contracts are one of them, configured or not. */
  of(tenant: string): readonly Instance[];
  byKind<K extends VendorKind>(tenant: string, kind: K): Extract<Instance, { kind: K }>[];
  /** Who may send us something in this vendor's name. */
  senders(name: string): Sender[];
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
  const senders = new Senders(context.config.sealKey);
  const learn = (key: string, document: VendorDocument): void => {
    const [tenant] = key.split(".") as [string];
    const { sealKey, VENDOR_TIMEOUT_MS: timeoutMs, VENDOR_SETTLE_MS: bookingSettlesMs } = context.config;
    const instance = instanceOf(document, { sealKey, timeoutMs, bookingSettlesMs });
    const log = context.log.child({ tenant });
    const { port, shutdown } = behindCircuit<object>(instance.name, instance.port, log);
    circuits.get(key)?.();
    circuits.set(key, shutdown);
    add(tenant, { ...instance, port } as Instance);
    senders.learn(tenant, document);
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
    senders: (name) => senders.of(name),
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
  const { name, secrets, settings } = checkedVendor(command.data as PutVendor);
  const sealed = Object.fromEntries(
    Object.entries(secrets).map(([member, secret]) => [member, seal(context.config.sealKey, secret)]),
  ) as Pick<VendorDocument, keyof typeof secrets>;
  const vendors = context.documents.tenant(command.tenant).collection<VendorDocument>("vendors");
  const now = context.clock.now();
  const before = await vendors.findOne({ _id: name });
  const former = formerSecret(context.config.sealKey, before, secrets.webhookSecret, now);
  const document = { ...settings, ...sealed, ...former, changedAt: now };
  await vendors.replaceOne({ _id: name }, document, { upsert: true });
  await bucket.put(`${command.tenant}.${name}`, { _id: name, ...document });
};

/** By name; an airline has some dozens at most. */
export const listVendors = async (context: ActorContext, tenant: string): Promise<VendorView[]> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<VendorDocument>("vendors")
    .find({}, { projection: { apiKey: 0, apiSecret: 0, formerWebhookSecret: 0 } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(vendorView);
};

/** Without any secret, sealed or not. */
const vendorView = (document: Omit<VendorDocument, "apiKey">): VendorView => {
  const { _id: name, dialect, baseUrl, changedAt, reconcileMinutes, callsPerSecond, account } = document;
  return {
    name,
    dialect,
    baseUrl,
    changedAt: changedAt.toISOString(),
    ...(reconcileMinutes !== undefined && { reconcileMinutes }),
    ...(callsPerSecond !== undefined && { callsPerSecond }),
    webhooks: document.webhookSecret !== undefined,
    ...(account !== undefined && { account }),
  };
};
