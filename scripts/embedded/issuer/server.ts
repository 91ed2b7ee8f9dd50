/** Owns the issuer over HTTP: its own pages, and oidc-provider for everything else. What the pages mean is decided elsewhere. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { errors, type Provider } from "oidc-provider";
import type { Logger } from "pino";
import type { IssuerConfig } from "../../../config/issuer.ts";
import { clientAddress } from "../../../gateway/http/address.ts";
import type { IssuerDocuments } from "./documents.ts";
import { deviceLifetimeSeconds, newDeviceToken, rememberDevice } from "./known-devices.ts";
import { documentOf, invitationPage, notePage, type Page } from "./pages.ts";
import { hashPassword, passwordFault } from "./passwords.ts";
import { networkOf } from "./second-factor.ts";
import { pageHeaders } from "./security-headers.ts";
import type { Browser, SignInAnswer, SignInDesk } from "./sign-in.ts";
import { begunAt, methodsOf } from "./sign-in-state.ts";
import { acceptInvitation, invitedUser } from "./users.ts";

export interface ServerParts {
  config: IssuerConfig;
  documents: IssuerDocuments;
  provider: Provider;
  desk: SignInDesk;
  log: Logger;
  now: () => Date;
}

const formBytesMax = 32 * 1024;
const deviceCookie = "stopover_device";
/** The few there are, read once. */
const assets = new Map(
  ["issuer.css", "passkey.js", "submit.js"].map((name) => [
    `/assets/${name}`,
    { text: readFileSync(join(import.meta.dirname, "assets", name)), type: assetType(name) },
  ]),
);

function assetType(name: string): string {
  return extname(name) === ".css" ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8";
}

/** A request that the pages don't take: its status is all that is to be said. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`refused with ${status}`);
    this.status = status;
  }
}

export const createIssuerServer = (parts: ServerParts): Server => {
  const { provider, log } = parts;
  const oidc = provider.callback();
  return createServer((request, response) => {
    // Whole, not against a base: `//` alone would be taken for a host, and throws.
    const target = `http://issuer${request.url}`;
    if (!request.url?.startsWith("/") || !URL.canParse(target)) return void response.writeHead(400).end();
    speakAsIssuer(parts, request);
    const { pathname, searchParams } = new URL(target);
    const own = ownPage(parts, request, response, pathname, searchParams);
    if (own === undefined) return void oidc(request, response);
    own.catch((error: unknown) => {
      const known = statusOf(error);
      if (known === undefined) log.error({ err: error }, "a page failed");
      const status = known ?? 500;
      const text =
        status === 400 || status === 404
          ? "This page is over. Go back to the console and start again."
          : "Something went wrong. Try again in a moment.";
      if (response.headersSent) response.destroy();
      else sendPage(response, status, notePage("Something went wrong", text));
    });
  });
};

const isSecure = ({ config }: Pick<ServerParts, "config">): boolean =>
  config.OPERATOR_ISSUER.startsWith("https:");

/**
 * oidc-provider makes its addresses from what a request says of host and scheme, which anybody can write. There is one
 * issuer, and its address is known: TLS, if any, ends before us, and cookies are Secure then whatever the proxy says.
 */
const speakAsIssuer = (parts: ServerParts, { headers }: IncomingMessage): void => {
  headers.host = new URL(parts.config.OPERATOR_ISSUER).host;
  delete headers["x-forwarded-host"];
  headers["x-forwarded-proto"] = isSecure(parts) ? "https" : "http";
};

const statusOf = (error: unknown): number | undefined => {
  if (error instanceof Refusal) return error.status;
  if (error instanceof errors.SessionNotFound) return 400;
  return undefined;
};

const ownPage = (
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  pathname: string,
  query: URLSearchParams,
): Promise<void> | undefined => {
  const asset = assets.get(pathname);
  if (asset !== undefined) {
    response.writeHead(200, {
      "Content-Type": asset.type,
      "Cache-Control": "public, max-age=3600",
      "X-Content-Type-Options": "nosniff",
    });
    response.end(asset.text);
    return Promise.resolve();
  }
  if (pathname.startsWith("/interaction/")) return signInPage(parts, request, response, query);
  const invitation = /^\/invitation\/([\w-]{20,100})$/.exec(pathname)?.[1];
  return invitation === undefined ? undefined : invitationStep(parts, request, response, invitation);
};

const signInPage = async (
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> => {
  const { provider, desk } = parts;
  const interaction = await provider.interactionDetails(request, response);
  const { uid, params } = interaction;
  const hint = typeof params.login_hint === "string" ? params.login_hint.slice(0, 320) : "";
  const target = typeof params.redirect_uri === "string" ? [new URL(params.redirect_uri).origin] : [];
  const browser = browserOf(parts, request);
  const answer =
    request.method === "POST"
      ? await desk.take(uid, await readForm(parts, request), browser)
      : await desk.show(uid, query.get("with"), hint);
  if (answer.kind === "page") return sendPage(response, answer.status, answer.page, target);
  if (answer.kind === "finished") return finish(parts, request, response, answer, browser);
  response.writeHead(303, { Location: `/interaction/${uid}`, "Cache-Control": "no-store" }).end();
};

/** Hands the user to oidc-provider, which makes the session; the browser is a known one from now on. */
const finish = async (
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  { user, membership, signIn }: SignInAnswer & { kind: "finished" },
  { address, deviceToken }: Browser,
): Promise<void> => {
  const { provider, documents, now } = parts;
  const at = now();
  const token = deviceToken ?? newDeviceToken();
  await rememberDevice(documents, { userId: user._id, token, network: networkOf(address) }, at);
  await documents.users.updateOne({ _id: user._id }, { $set: { lastSignInAt: at } });
  await documents.signIns.deleteOne({ _id: signIn._id });
  response.appendHeader(
    "Set-Cookie",
    `${deviceCookie}=${token}; Path=/interaction; Max-Age=${deviceLifetimeSeconds}; HttpOnly; SameSite=Lax${isSecure(parts) ? "; Secure" : ""}`,
  );
  await provider.interactionFinished(request, response, {
    login: {
      accountId: membership.subject,
      amr: methodsOf(signIn),
      ts: Math.floor(begunAt(signIn).getTime() / 1000),
      // Desks are shared: the session goes with the browser.
      remember: false,
    },
  });
};

const invitationStep = async (
  parts: ServerParts,
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
): Promise<void> => {
  const { documents, now, log } = parts;
  const user = await invitedUser(documents, secret, now());
  if (user === undefined)
    return sendPage(
      response,
      404,
      notePage("This link is over", "It was used, or is too old. Ask your administrator for another."),
    );
  if (request.method !== "POST") return sendPage(response, 200, invitationPage({ email: user.email }));
  const form = await readForm(parts, request);
  const password = form.get("password") ?? "";
  const problem =
    password === form.get("again")
      ? passwordFault(password, user.email)
      : "The two passwords are not the same.";
  if (problem !== undefined) return sendPage(response, 422, invitationPage({ email: user.email, problem }));
  if (!(await acceptInvitation(documents, secret, await hashPassword(password)))) throw new Refusal(404);
  log.info({ user: user._id }, "invitation accepted");
  sendPage(response, 200, notePage("Your password is set", "Go to the console and sign in with it."));
};

const sendPage = (
  response: ServerResponse,
  status: number,
  page: Page,
  formTargets: readonly string[] = [],
): void => {
  response.writeHead(status, { ...pageHeaders(formTargets), "Content-Type": "text/html; charset=utf-8" });
  response.end(documentOf(page));
};

const browserOf = ({ config }: ServerParts, { headers, socket }: IncomingMessage): Browser => {
  const peer = (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  const forwardedFor = String(headers["x-forwarded-for"] ?? "");
  const { trustedProxies } = config;
  return {
    address: trustedProxies === undefined ? peer : clientAddress(peer, forwardedFor, trustedProxies),
    deviceToken: new RegExp(`(?:^|; *)${deviceCookie}=([\\w-]{43})(?:;|$)`).exec(headers.cookie ?? "")?.[1],
  };
};

/** @throws Refusal of what is too large, no form, or sent by another site's page */
const readForm = async ({ config }: ServerParts, request: IncomingMessage): Promise<URLSearchParams> => {
  const { origin, "content-type": type = "" } = request.headers;
  // The cookies are SameSite=Lax already; this also holds where a browser thinks otherwise. Privacy modes send `null`.
  if (origin !== undefined && origin !== "null" && origin !== config.OPERATOR_ISSUER) throw new Refusal(403);
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) throw new Refusal(415);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > formBytesMax) throw new Refusal(413);
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
};
