/**
 * Owns the end of sessions before their time: a refresh token that came twice, an account that was disabled, a place that was
 * taken away. Each is a document before anything is done about it, and goes only when everything is done.
 */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { EndedSession } from "../../../streams/revocations.ts";
import { cutOff } from "./cut-offs.ts";
import type { IssuerDocuments } from "./documents.ts";
import type { Reuse } from "./token-store.ts";
import { accountOf } from "./users.ts";

/** What is owed: no refresh token of it is left, and the gateways refuse the access tokens that are out. */
export interface SessionEnding extends EndedSession {
  _id: string;
  /** The family of refresh tokens that ends; undefined: all of the subject's. */
  grantId?: string;
  /** The browser's session that goes with the family. */
  sessionUid?: string;
  /** Sign-ins up to then are void. */
  endedAt: Date;
  /** No access token from before can be alive then. */
  expiresAt: Date;
}

/** Longer than an access token lives by any clock of ours. */
const owedForMs = 20 * 60_000;
const retryEveryMs = 2000;
/** An answer waits this long for the gateways to know; then it goes out and they are told as soon as they can be. */
const patienceMs = 2000;

/**
 * Until the cut-off stands, a moment after the deed, a refresh in flight still gets a token, and the clock's second may change
 * in between: tokens of the second after are over as well. Whoever signs in anew that soon is refused until the next refresh.
 * @param now of the deed
 */
export const owedEnding = (
  ended: Omit<EndedSession, "issuedUpTo"> & { grantId?: string; sessionUid?: string },
  now: Date,
): SessionEnding => {
  const issuedUpTo = Math.floor(now.getTime() / 1000) + 1;
  const what = [ended.tenant, ended.subject, ended.grantId ?? "all", issuedUpTo].join("\n");
  return {
    _id: createHash("sha256").update(what).digest("base64url"),
    ...ended,
    issuedUpTo,
    endedAt: now,
    expiresAt: new Date(now.getTime() + owedForMs),
  };
};

/**
 * From here on it will be done, whoever dies: the issuer takes up what it finds when it starts. The cut-off comes first, so
 * that it stands wherever anything is owed; of a family it is its browser's session.
 */
export const oweEnding = async (documents: IssuerDocuments, ending: SessionEnding): Promise<void> => {
  const { _id, ...owed } = ending;
  const { subject, grantId, sessionUid, endedAt } = ending;
  if (grantId === undefined) await cutOff(documents, { subject }, endedAt);
  else if (sessionUid !== undefined) await cutOff(documents, { sessionUid }, endedAt);
  await documents.endings.updateOne({ _id }, { $setOnInsert: owed }, { upsert: true });
};

/** Deletes what could make new tokens. By indexes `grantId`, `uid`, `accountId`. */
const revokeTokens = async ({ tokens }: IssuerDocuments, ending: SessionEnding): Promise<void> => {
  const { subject, grantId, sessionUid } = ending;
  if (grantId === undefined) {
    await tokens.deleteMany({ accountId: subject });
    return;
  }
  // The grant first: without it no refresh token is good, also one that is being written just now.
  await tokens.deleteMany({ grantId, model: "Grant" });
  await tokens.deleteMany({ grantId });
  if (sessionUid !== undefined) await tokens.deleteMany({ uid: sessionUid, model: "Session" });
};

/** Does what an ending owes, and forgets it. @throws Error when it isn't done; doing it again is safe */
export const settleEnding = async (
  documents: IssuerDocuments,
  ending: SessionEnding,
  tellGateways: (ended: EndedSession) => Promise<void>,
): Promise<void> => {
  await revokeTokens(documents, ending);
  const { tenant, subject, issuedUpTo } = ending;
  await tellGateways({ tenant, subject, issuedUpTo });
  await documents.endings.deleteOne({ _id: ending._id });
};

/** Settles endings in the issuer's process, again and again until each is done. */
export class SessionEndings {
  readonly #documents: IssuerDocuments;
  readonly #tellGateways: (ended: EndedSession) => Promise<void>;
  readonly #log: Logger;
  #sweeping: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(documents: IssuerDocuments, tellGateways: (ended: EndedSession) => Promise<void>, log: Logger) {
    this.#documents = documents;
    this.#tellGateways = tellGateways;
    this.#log = log;
  }

  /**
   * Resolves once the refresh tokens are gone and, unless they are out of reach for long, the gateways know.
   * @throws Error when not even the obligation could be kept; nothing was done then
   */
  async end(ending: SessionEnding): Promise<void> {
    await oweEnding(this.#documents, ending);
    await revokeTokens(this.#documents, ending);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([this.#settle(ending), patience]);
    clearTimeout(timer);
  }

  /** A single-use token came twice: its family ends, with the browser's session that it belongs to. */
  async endFamily({ accountId, ...family }: Reuse, now: Date): Promise<void> {
    const account = await accountOf(this.#documents, accountId);
    const tenant = account?.membership.airline;
    this.#log.warn({ tenant, subject: accountId }, "a token came twice: its family ends");
    // Of an account that is gone the sessions ended when it went.
    if (tenant !== undefined) await this.end(owedEnding({ tenant, subject: accountId, ...family }, now));
  }

  /** Takes up what is owed, now and until stopped. */
  start(): void {
    this.#sweeping = this.#sweep().finally(() => {
      this.#sweeping = undefined;
      this.#timer = setTimeout(() => this.start(), retryEveryMs);
    });
  }

  async stop(): Promise<void> {
    await this.#sweeping;
    clearTimeout(this.#timer);
  }

  async #sweep(): Promise<void> {
    try {
      const owed = await this.#documents.endings.find({}).limit(500).toArray();
      await Promise.all(owed.map((ending) => this.#settle(ending)));
    } catch (error) {
      this.#log.error({ err: error }, "endings of sessions could not be read");
    }
  }

  /** Never throws: it stays owed. */
  async #settle(ending: SessionEnding): Promise<void> {
    try {
      await settleEnding(this.#documents, ending, this.#tellGateways);
      this.#log.info({ tenant: ending.tenant, subject: ending.subject }, "session ended");
    } catch (error) {
      this.#log.warn({ err: error, tenant: ending.tenant }, "the end of a session is still owed");
    }
  }
}
