/** Owns the issuer's database: its collections and their indexes. It is one of its own, so that the service's access to documents reaches no password. */
import type { Collection, Db, MongoClient } from "mongodb";
import type { StoredTries } from "./attempts.ts";
import type { CutOff } from "./cut-offs.ts";
import type { KnownDevice } from "./known-devices.ts";
import type { SessionEnding } from "./session-endings.ts";
import type { SignIn } from "./sign-in-state.ts";
import type { StoredToken } from "./token-store.ts";
import type { Organization, User } from "./users.ts";

export interface IssuerDocuments {
  readonly users: Collection<User>;
  readonly organizations: Collection<Organization>;
  /** Whatever oidc-provider keeps: sessions, grants, codes, refresh tokens, interactions. */
  readonly tokens: Collection<StoredToken>;
  readonly signIns: Collection<SignIn>;
  readonly attempts: Collection<StoredTries>;
  readonly devices: Collection<KnownDevice>;
  readonly endings: Collection<SessionEnding>;
  readonly cutOffs: Collection<CutOff>;
}

/** The issuer's collections on a connection that somebody else holds. */
export const issuerDocuments = (mongodb: MongoClient, databasePrefix: string): IssuerDocuments => {
  const database: Db = mongodb.db(`${databasePrefix}_issuer`);
  return {
    users: database.collection("users"),
    organizations: database.collection("organizations"),
    tokens: database.collection("tokens"),
    signIns: database.collection("sign-ins"),
    attempts: database.collection("attempts"),
    devices: database.collection("devices"),
    endings: database.collection("endings"),
    cutOffs: database.collection("cut-offs"),
  };
};

const forgotten = { key: { expiresAt: 1 }, expireAfterSeconds: 0 } as const;

/** Those that exist already cost one look. */
export const ensureIssuerIndexes = async (documents: IssuerDocuments): Promise<void> => {
  await Promise.all([
    documents.users.createIndexes([
      { key: { email: 1 }, unique: true },
      { key: { "memberships.subject": 1 } },
      { key: { "memberships.airline": 1, email: 1 } },
      { key: { "invitation.tokenHash": 1 }, sparse: true },
    ]),
    documents.tokens.createIndexes([
      forgotten,
      { key: { grantId: 1 }, sparse: true },
      { key: { uid: 1 }, sparse: true },
      { key: { accountId: 1 }, sparse: true },
    ]),
    documents.signIns.createIndexes([forgotten, { name: "userId", key: { userId: 1 } }]),
    documents.attempts.createIndexes([forgotten]),
    documents.devices.createIndexes([forgotten, { key: { userId: 1 } }]),
    documents.endings.createIndexes([forgotten]),
    documents.cutOffs.createIndexes([forgotten]),
  ]);
};

/** @throws Error when no server answers within 5 s */
export const connectDocuments = async (
  url: string,
  databasePrefix: string,
): Promise<{ documents: IssuerDocuments; close(): Promise<void> }> => {
  // Loaded here: scripts/admin has a connection of its own, and starts faster without.
  const { MongoClient: Client } = await import("mongodb");
  const mongodb = new Client(url, {
    ignoreUndefined: true,
    serverSelectionTimeoutMS: 5000,
    maxPoolSize: 10,
    appName: "stopover-issuer",
  });
  await mongodb.connect();
  const documents = issuerDocuments(mongodb, databasePrefix);
  await ensureIssuerIndexes(documents);
  return { documents, close: () => mongodb.close() };
};
