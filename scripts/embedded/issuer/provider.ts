/** Owns how oidc-provider is set up: one client, its tokens' claims and lives, and which sign-ins they may come from. Signing in is sign-in.ts's, signing out logout.ts's. */
import { createHmac } from "node:crypto";
import {
  type Configuration,
  errors,
  type Grant,
  interactionPolicy,
  type JWK,
  type KoaContextWithOIDC,
  type Account as OidcAccount,
  Provider,
} from "oidc-provider";
import type { Logger } from "pino";
import type { IssuerConfig } from "../../../config/issuer.ts";
import { urn } from "../../../schemas/urn.ts";
import { isCutOff, type SignInOrigin } from "./cut-offs.ts";
import type { IssuerDocuments } from "./documents.ts";
import { type Holder, logOutHolder, logOutSession, type OnLogout } from "./logout.ts";
import { clearSite, renderError, renderLoggedOut, renderLogout } from "./provider-pages.ts";
import { signInLifetimeSeconds } from "./sign-in-state.ts";
import { type OnReuse, refreshLifetimeSeconds, reuseOf, TokenStore } from "./token-store.ts";
import { type Account, accountOf } from "./users.ts";

const consoleClientId = "stopover-console";

/** What the access tokens are for. A name of ours: the audience itself need be no URI, as resource indicators must (RFC 8707). */
const apiResource = "urn:stopover:operator-api";
const scope = "openid profile email";

/** Contract, "Limits". */
const accessLifetimeSeconds = 15 * 60;
const refreshIdleSeconds = 7 * 86_400;
/** A shift: after it a new session takes a new sign-in, while the refresh tokens of the old one go on. */
const signOnLifetimeSeconds = 12 * 3600;
const daySeconds = 86_400;

export interface ProviderParts {
  config: IssuerConfig;
  documents: IssuerDocuments;
  log: Logger;
  now: () => Date;
  /** A single-use token came twice. Resolves once its family is over. */
  onReuse: OnReuse;
  onLogout: OnLogout;
}

/** An account as oidc-provider knows it, with ours behind it. */
interface OperatorAccount extends OidcAccount {
  account: Account;
}

const accountIn = (ctx: KoaContextWithOIDC): Account | undefined =>
  (ctx.oidc.entities.Account as OperatorAccount | undefined)?.account;

export const createProvider = (parts: ProviderParts): Provider => {
  const { config, log } = parts;
  const provider = new Provider(config.OPERATOR_ISSUER, configurationOf(parts));
  // What a request says of itself as it passes proxies is set anew by server.ts.
  provider.proxy = true;
  provider.on("server_error", (ctx, error) =>
    log.error({ err: error, path: ctx.path.slice(0, 100) }, "failed"),
  );
  // Without a listener of ours Koa would write to the terminal, in a form of its own.
  (provider as NodeJS.EventEmitter).on("error", (error: Error) => log.error({ err: error }, "failed"));
  // An error page is told by the status; what was asked may hold codes and tokens.
  provider.on("grant.error", (_ctx, error) => log.info({ error: error.message }, "token refused"));
  provider.on("end_session.success", clearSite);
  return provider;
};

const configurationOf = (parts: ProviderParts): Configuration => {
  const { config, documents, now, onReuse } = parts;
  return {
    adapter: (model: string) => new TokenStore(model, documents, onReuse, now),
    clients: [clientOf(config)],
    jwks: { keys: config.signingKeys.map((key) => ({ ...key, alg: "RS256", use: "sig" })) as JWK[] },
    // Derived, so that no further secret is to be kept: whoever has the sealing key reads the sessions anyway.
    cookies: {
      keys: [createHmac("sha256", config.sealKey).update("stopover issuer cookies").digest("base64url")],
      long: { signed: true, httpOnly: true, sameSite: "lax" },
      short: { signed: true, httpOnly: true, sameSite: "lax" },
      names: { session: "stopover_session", interaction: "stopover_sign_in", resume: "stopover_resume" },
    },
    scopes: ["openid", "profile", "email"],
    claims: { openid: ["sub"], email: ["email"], profile: [] },
    conformIdTokenClaims: false,
    responseTypes: ["code"],
    clientAuthMethods: ["none"],
    pkce: { required: () => true },
    acrValues: [],
    clientBasedCORS: (_ctx, origin, client) =>
      [...(client.redirectUris ?? [])].some((uri) => originAllows(uri, origin)),
    findAccount: async (ctx, subject, token) => {
      const account = await accountOf(documents, subject);
      await noteReuse(parts, token);
      const isOver = await isCutOff(documents, token ? originOf(token) : originOfSession(ctx));
      return account && !isOver ? accountFor(account) : undefined;
    },
    extraTokenClaims: async (ctx) => {
      const { RefreshToken, AuthorizationCode } = ctx.oidc.entities;
      // The token's time of issue is set by now: an end that comes after this look covers it.
      if (await isCutOff(documents, originOf(RefreshToken ?? AuthorizationCode)))
        throw new errors.InvalidGrant("the session has ended");
      return claimsOf(config, accountIn(ctx));
    },
    formats: {
      // Exactly the contract's claims: these two are of RFC 9068 only.
      customizers: {
        jwt: (_ctx, _token, jwt) => {
          delete jwt.payload.jti;
          delete jwt.payload.client_id;
        },
      },
    },
    features: featuresOf(parts),
    interactions: { policy: policy(now), url: (_ctx, { uid }) => `/interaction/${uid}` },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    // With this a refresh token is good only as long as its browser session stands.
    expiresWithSession: async () => true,
    rotateRefreshToken: true,
    loadExistingGrant: (ctx) => grantOf(ctx, now),
    renderError,
    revokeGrantPolicy: async (ctx) => {
      if (ctx.oidc.route === "end_session_confirm") await logOutSession(parts, ctx, consoleClientId);
      return true;
    },
    ttl: {
      AccessToken: accessLifetimeSeconds,
      AuthorizationCode: 60,
      IdToken: accessLifetimeSeconds,
      Interaction: signInLifetimeSeconds,
      RefreshToken: (_ctx, token) =>
        Math.max(1, Math.min(refreshIdleSeconds, refreshLifetimeSeconds - token.totalLifetime())),
      Session: refreshLifetimeSeconds + daySeconds,
      Grant: 2 * (refreshLifetimeSeconds + daySeconds),
    },
  };
};

const clientOf = ({ redirectUris, logoutUris }: IssuerConfig) => ({
  client_id: consoleClientId,
  client_name: "Stopover console",
  // Native clients alone may name a loopback address, with any port (RFC 8252, section 7.3).
  application_type: "native" as const,
  token_endpoint_auth_method: "none" as const,
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code" as const],
  redirect_uris: [...redirectUris],
  post_logout_redirect_uris: [...logoutUris],
  id_token_signed_response_alg: "RS256" as const,
  scope,
});

const isLoopback = (hostname: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(hostname);

/** Whether a page of this origin may ask for tokens that go to the redirect address. */
const originAllows = (redirectUri: string, origin: string): boolean => {
  if (!URL.canParse(origin)) return false;
  const [allowed, asking] = [new URL(redirectUri), new URL(origin)];
  if (isLoopback(allowed.hostname))
    return asking.protocol === allowed.protocol && asking.hostname === allowed.hostname;
  return allowed.origin === asking.origin;
};

const accountFor = (account: Account): OperatorAccount => {
  const { subject } = account.membership;
  return { accountId: subject, account, claims: () => ({ sub: subject, email: account.user.email }) };
};

/** @param source a code or refresh token; what says nothing of its sign-in may have come from any */
const originOf = (source: object | undefined): SignInOrigin => {
  const { accountId = "", sessionUid, authTime = 0 } = (source ?? {}) as Holder & { authTime?: number };
  return { subject: accountId, sessionUid, signedInAt: authTime };
};

const originOfSession = ({ oidc: { session } }: KoaContextWithOIDC): SignInOrigin => ({
  subject: session?.accountId ?? "",
  sessionUid: session?.uid,
  signedInAt: session?.loginTs ?? 0,
});

/** A refresh token that was used before is asked about its account just before it is refused: the family ends first. */
const noteReuse = async ({ onReuse }: ProviderParts, token: object | undefined): Promise<void> => {
  const used = token as Parameters<typeof reuseOf>[0] & { kind?: string };
  if (used?.kind !== "RefreshToken" || used.consumed === undefined) return;
  const reuse = reuseOf(used);
  if (reuse !== undefined) await onReuse(reuse);
};

/** Contract, "Operator": these three, and an airport for those who have one. */
const claimsOf = (config: IssuerConfig, account: Account | undefined): Record<string, string> => {
  if (account === undefined) throw new errors.InvalidGrant("account not found");
  const { airline, role, airport, subject } = account.membership;
  const namespace = config.CLAIM_NAMESPACE;
  return {
    [`${namespace}/airline`]: urn("airline", airline),
    [`${namespace}/role`]: role,
    [`${namespace}/operator_urn`]: urn("user", subject),
    ...(airport === undefined ? {} : { [`${namespace}/airport`]: airport }),
  };
};

const featuresOf = (parts: ProviderParts): Configuration["features"] => {
  const { config } = parts;
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    userinfo: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => apiResource,
      useGrantedResource: () => true,
      getResourceServerInfo: (_ctx, indicator) => {
        if (indicator !== apiResource) throw new errors.InvalidTarget();
        return {
          scope,
          audience: config.OPERATOR_AUDIENCE,
          accessTokenTTL: accessLifetimeSeconds,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        };
      },
    },
    revocation: {
      enabled: true,
      allowedPolicy: async (_ctx, client, token) => {
        if (token.clientId !== client.clientId) return false;
        await logOutHolder(parts, token as unknown as Holder);
        return true;
      },
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: renderLogout,
      postLogoutSuccessSource: renderLoggedOut,
    },
  };
};

/** First-party: whoever signs in has agreed. One grant per browser session is the family of all its refresh tokens. */
const grantOf = async (ctx: KoaContextWithOIDC, now: () => Date): Promise<Grant> => {
  const { client, session, provider } = ctx.oidc;
  if (client === undefined || session?.accountId === undefined) throw new errors.InvalidRequest("no session");
  const known = session.grantIdFor(client.clientId);
  const found = known === undefined ? undefined : await provider.Grant.find(known);
  const neededUntil = now().getTime() / 1000 + refreshLifetimeSeconds;
  if (found !== undefined && found.accountId === session.accountId && (found.exp ?? 0) > neededUntil)
    return found;
  const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
  grant.addOIDCScope(scope);
  grant.addResourceScope(apiResource, scope);
  await grant.save();
  return grant;
};

const policy = (now: () => Date): interactionPolicy.DefaultPolicy => {
  const prompts = interactionPolicy.base();
  prompts.remove("consent");
  const { Check } = interactionPolicy;
  prompts.get("login")?.checks.add(
    new Check("session_over", "the sign-in is too long ago", "login_required", ({ oidc }) => {
      const signedInAt = oidc.session?.loginTs ?? 0;
      const isOver = now().getTime() / 1000 - signedInAt > signOnLifetimeSeconds;
      return isOver && oidc.result?.login === undefined;
    }),
  );
  prompts
    .get("login")
    ?.checks.add(
      new Check(
        "account_gone",
        "the account is no longer valid",
        "login_required",
        ({ oidc }) => oidc.account === undefined,
      ),
    );
  return prompts;
};
