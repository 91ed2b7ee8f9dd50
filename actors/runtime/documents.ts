/** Owns the way to documents: one database per tenant, and no handle that could name another tenant's. */
import { type Collection, type Db, type Document, type IndexDescription, MongoClient } from "mongodb";

/** One airline's documents. */
export interface TenantDocuments {
  readonly tenant: string;
  collection<T extends Document>(name: string): Collection<T>;
}

export interface Documents {
  /** @throws TypeError when the code cannot be an airline's */
  tenant(code: string): TenantDocuments;
  /** What belongs to no single airline: tenants, catalogues. */
  readonly platform: { collection<T extends Document>(name: string): Collection<T> };
  /** Whether the driver sees a server that it could write to. */
  reachable(): boolean;
  close(): Promise<void>;
}

const airlineCode = /^[A-Z0-9]{2,3}$/;

/** @param prefix databases are `<prefix>_platform` and `<prefix>_<code>` */
export const openDocuments = async (url: string, prefix: string): Promise<Documents> => {
  const client = new MongoClient(url, {
    ignoreUndefined: true,
    retryWrites: true,
    serverSelectionTimeoutMS: 5000,
    maxPoolSize: 40,
    appName: "stopover",
  });
  let reachable = false;
  client.on("topologyDescriptionChanged", ({ newDescription }) => {
    reachable = [...newDescription.servers.values()].some(({ isWritable }) => isWritable);
  });
  await client.connect();
  const known = new Map<string, TenantDocuments>();
  const platform: Db = client.db(`${prefix}_platform`);
  return {
    tenant: (code) => {
      const found = known.get(code);
      if (found !== undefined) return found;
      if (!airlineCode.test(code)) throw new TypeError(`not an airline code: ${code.slice(0, 20)}`);
      const database = client.db(`${prefix}_${code}`);
      const handle: TenantDocuments = { tenant: code, collection: (name) => database.collection(name) };
      known.set(code, handle);
      return handle;
    },
    platform: { collection: (name) => platform.collection(name) },
    reachable: () => reachable,
    close: () => client.close(),
  };
};

/** Creates the indexes that stand beside the queries; those that exist already cost one look. */
export const ensureIndexes = async (
  collection: Collection<Document>,
  indexes: readonly IndexDescription[],
): Promise<void> => {
  if (indexes.length > 0) await collection.createIndexes([...indexes]);
};
