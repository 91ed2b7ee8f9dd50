/** Owns what oidc-provider keeps, as its adapter on documents: under digests, so that whoever reads them holds no token. */
import { type Adapter, type AdapterPayload, errors } from "oidc-provider";
import type { IssuerDocuments } from "./documents.ts";
import { digestOf } from "./users.ts";

export interface StoredToken {
  /** Model and digest of the id, which is the token itself. */
  _id: string;
  model: string;
  /** JSON: its names may hold dots. */
  payload: string;
  grantId?: string;
  uid?: string;
  accountId?: string;
  /** Unix seconds. */
  consumed?: number;
  expiresAt?: Date;
}

/** From the login on, however often they are refreshed (contract, "Limits"). */
export const refreshLifetimeSeconds = 30 * 86_400;

/** A single-use token that came a second time: of which family. */
export interface Reuse {
  grantId: string;
  accountId: string;
  sessionUid?: string;
}

export type OnReuse = (reuse: Reuse) => Promise<void>;

/** The family of a token, if it has one. */
export const reuseOf = ({ grantId, accountId, sessionUid }: AdapterPayload): Reuse | undefined =>
  grantId === undefined || accountId === undefined
    ? undefined
    : { grantId, accountId, ...(sessionUid === undefined ? {} : { sessionUid }) };

export class TokenStore implements Adapter {
  readonly #model: string;
  readonly #tokens: IssuerDocuments["tokens"];
  readonly #onReuse: OnReuse;
  readonly #now: () => Date;

  constructor(model: string, { tokens }: IssuerDocuments, onReuse: OnReuse, now: () => Date) {
    this.#model = model;
    this.#tokens = tokens;
    this.#onReuse = onReuse;
    this.#now = now;
  }

  async upsert(id: string, payload: AdapterPayload, expiresInSeconds?: number): Promise<void> {
    const { jti, ...kept } = payload;
    const { uid } = payload;
    // An interaction that has been answered and not resumed is somebody's too.
    const { login } = (payload.result ?? {}) as { login?: { accountId?: string } };
    const accountId = payload.accountId ?? login?.accountId;
    // A session is also found by its `uid`, and needs its id then. The cookie that carries it is signed besides.
    const text = JSON.stringify(this.#model === "Session" ? payload : kept);
    const grantId = this.#model === "Grant" ? id : payload.grantId;
    await this.#tokens.updateOne(
      { _id: this.#idOf(id) },
      {
        $set: {
          model: this.#model,
          payload: text,
          ...(grantId && { grantId }),
          ...(uid && { uid }),
          ...(accountId && { accountId }),
          ...(expiresInSeconds && { expiresAt: new Date(this.#now().getTime() + expiresInSeconds * 1000) }),
        },
      },
      { upsert: true },
    );
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    const stored = await this.#tokens.findOne({ _id: this.#idOf(id) });
    if (stored === null) return undefined;
    const payload = { jti: id, ...this.#payloadOf(stored) };
    if (this.#model === "AuthorizationCode" && stored.consumed !== undefined) await this.#tellReuse(payload);
    return payload;
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    const stored = await this.#tokens.findOne({ uid, model: this.#model });
    return stored === null ? undefined : this.#payloadOf(stored);
  }

  async findByUserCode(): Promise<undefined> {
    throw new Error("the device flow is not offered");
  }

  /** Of two that consume the same token at once, one is told that it is a reuse. */
  async consume(id: string): Promise<void> {
    const stored = await this.#tokens.findOne({ _id: this.#idOf(id) });
    if (stored === null) throw new errors.InvalidGrant("token not found");
    const payload = this.#payloadOf(stored);
    const consumed = Math.floor(this.#now().getTime() / 1000);
    const change = { consumed, ...this.#keptForFamily(payload) };
    const written = await this.#tokens.updateOne(
      { _id: stored._id, consumed: { $exists: false } },
      { $set: change },
    );
    if (written.matchedCount === 1) return;
    await this.#tellReuse(payload);
    throw new errors.InvalidGrant("token already used");
  }

  async destroy(id: string): Promise<void> {
    await this.#tokens.deleteOne({ _id: this.#idOf(id) });
  }

  /** By index `grantId`. */
  async revokeByGrantId(grantId: string): Promise<void> {
    await this.#tokens.deleteMany({ grantId, model: this.#model });
  }

  #idOf(id: string): string {
    return `${this.#model}:${digestOf(id)}`;
  }

  #payloadOf({ payload, consumed }: StoredToken): AdapterPayload {
    return { ...(JSON.parse(payload) as AdapterPayload), ...(consumed !== undefined && { consumed }) };
  }

  /** A used refresh token is known as one for as long as any of its family may live, not just for its own time. */
  #keptForFamily(payload: AdapterPayload): { payload: string; expiresAt: Date } | undefined {
    if (this.#model !== "RefreshToken" || payload.iiat === undefined) return undefined;
    const exp = payload.iiat + refreshLifetimeSeconds;
    return { payload: JSON.stringify({ ...payload, exp }), expiresAt: new Date(exp * 1000) };
  }

  async #tellReuse(payload: AdapterPayload): Promise<void> {
    const reuse = reuseOf(payload);
    if (reuse !== undefined) await this.#onReuse(reuse);
  }
}
