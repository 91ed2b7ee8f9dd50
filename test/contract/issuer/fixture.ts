// The issuer in the test's own process, on real documents, with a clock to set and a messaging vendor that keeps what it is given.
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { pino } from "pino";
import type { Test } from "tap";
import { seal } from "../../../actors/runtime/seal.ts";
import { readIssuerConfig } from "../../../config/issuer.ts";
import type { Role } from "../../../schemas/vocabulary.ts";
import { connectDocuments, type IssuerDocuments } from "../../../scripts/embedded/issuer/documents.ts";
import { relyingPartyOf } from "../../../scripts/embedded/issuer/passkeys.ts";
import { hashPassword } from "../../../scripts/embedded/issuer/passwords.ts";
import { createProvider } from "../../../scripts/embedded/issuer/provider.ts";
import { createIssuerServer } from "../../../scripts/embedded/issuer/server.ts";
import { SessionEndings } from "../../../scripts/embedded/issuer/session-endings.ts";
import { SignInDesk } from "../../../scripts/embedded/issuer/sign-in.ts";
import { newTotpSecret, totpCode } from "../../../scripts/embedded/issuer/totp.ts";
import { putMembership, type User } from "../../../scripts/embedded/issuer/users.ts";
import { developmentInstance, issuerEnvironment } from "../../../scripts/supervisor/environment.ts";
import { ensureDevelopmentKeys, newSigningKey } from "../../../scripts/supervisor/keys.ts";
import { ownPort } from "../../../scripts/supervisor/own-port.ts";
import { startDocuments, temporaryFolder } from "../../harness/processes.ts";

export const password = "correct horse battery";

export interface Person {
  email: string;
  id: string;
  /** The code of the issuer's now. */
  code(): string;
}

export interface IssuerUnderTest {
  readonly issuer: string;
  /** Of the first of two keys, as in the middle of a rotation. */
  readonly signingKid: string;
  readonly documents: IssuerDocuments;
  readonly sealKey: Buffer;
  /** Texts by SMS, in their order. */
  readonly texts: { phone: string; text: string }[];
  /** Of each logout: the tokens that stood when it was told. */
  readonly logouts: { subject: string; tokensLeft: number }[];
  /** What the gateways were told. */
  readonly ended: { subject: string }[];
  /** What the log holds, as text. */
  log(): string;
  /** Set: telling of a logout, or the gateways, fails. */
  isAway: boolean;
  /** The sign-ins' clock runs this much ahead. */
  aheadMs: number;
  person(name: string, options: PersonOptions): Promise<Person>;
  change(person: Person, change: object): Promise<void>;
}

export interface PersonOptions {
  places: [airline: string, role: Role, airport?: string][];
  /** Default: an authenticator app. */
  without?: "totp";
  phone?: string;
}

export const startIssuerUnderTest = async (t: Test): Promise<IssuerUnderTest> => {
  const dataDir = temporaryFolder(t);
  const [stored, port] = await Promise.all([
    startDocuments(t),
    ownPort(),
    ensureDevelopmentKeys(`${dataDir}/keys`),
  ]);
  const keyFile = `${dataDir}/keys/operator.jwk`;
  const before = JSON.parse(readFileSync(keyFile, "utf8")) as object;
  const signing = JSON.parse(await newSigningKey("RS256")) as { kid: string };
  writeFileSync(keyFile, JSON.stringify({ keys: [signing, before] }));
  const issuer = `http://localhost:${port}`;
  const place = {
    baseUrl: "http://127.0.0.1:9",
    dataDir,
    natsUrl: "nats://127.0.0.1:9",
    mongodbUrl: stored.url,
  };
  const environment = issuerEnvironment(developmentInstance({ ...place, operatorIssuer: issuer }), {
    host: "127.0.0.1",
    port,
  });
  const config = readIssuerConfig({ ...environment, DATABASE_PREFIX: stored.databasePrefix });
  const { documents, close } = await connectDocuments(stored.url, stored.databasePrefix);
  const { sealKey } = config;
  const lines: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const now = () => new Date(Date.now() + under.aheadMs);
  const state = { texts: [], logouts: [], ended: [], isAway: false, aheadMs: 0 };
  const under: IssuerUnderTest = {
    issuer,
    signingKid: signing.kid,
    documents,
    sealKey,
    ...state,
    log: () => lines.join(""),
    person: (name, options) => makePerson(documents, sealKey, now, name, options),
    change: async ({ id }, change) => void (await documents.users.updateOne({ _id: id }, change)),
  };
  const reachable = () => {
    if (under.isAway) throw new Error("nobody there");
  };
  const endings = new SessionEndings(
    documents,
    async ({ subject }) => {
      reachable();
      under.ended.push({ subject });
    },
    log,
  );
  const provider = createProvider({
    config,
    documents,
    log,
    now,
    onReuse: (reuse) => endings.endFamily(reuse, now()),
    onLogout: async ({ membership: { subject } }) => {
      reachable();
      const tokensLeft = await documents.tokens.countDocuments({ accountId: subject, model: "RefreshToken" });
      under.logouts.push({ subject, tokensLeft });
    },
  });
  const sendText = async (phone: string, text: string) => void under.texts.push({ phone, text });
  const desk = new SignInDesk({ documents, sealKey, party: relyingPartyOf(issuer), sendText, log, now });
  const server = createIssuerServer({ config, documents, provider, desk, log, now });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  t.teardown(async () => {
    server.closeAllConnections();
    server.close();
    await close();
  });
  return under;
};

/** One hash for everybody: making it is the slow part. */
const passwordHash = hashPassword(password, 1);

const makePerson = async (
  documents: IssuerDocuments,
  sealKey: Buffer,
  now: () => Date,
  name: string,
  { places, without, phone }: PersonOptions,
): Promise<Person> => {
  const email = `${name}@example.com`;
  let user: User | undefined;
  for (const [airline, role, airport] of places)
    ({ user } = await putMembership(documents, { email, name, airline, role, airport }, now()));
  if (user === undefined) throw new Error("a person has a place");
  const secret = newTotpSecret();
  const change = {
    passwordHash: await passwordHash,
    ...(without !== "totp" && { totp: { secret: seal(sealKey, secret), lastStep: 0 } }),
    ...(phone !== undefined && { phone: seal(sealKey, phone) }),
  };
  await documents.users.updateOne({ _id: user._id }, { $set: change });
  return { email, id: user._id, code: () => totpCode(secret, now()) };
};
