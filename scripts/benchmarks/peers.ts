/** Owns starting the processes that a benchmark compares ours with. */
import { join } from "node:path";
import { keyFiles } from "../supervisor/keys.ts";
import type { Running } from "../supervisor/running.ts";
import { startScript } from "../supervisor/script-process.ts";
import { serviceHeap } from "../supervisor/supervise.ts";
import type { BareRoute } from "./bare-peer.ts";
import type { OwnInstance } from "./instance.ts";
import type { PlainHotel } from "./plain-hotels.ts";

const peer = (
  own: Pick<OwnInstance, "folder">,
  name: string,
  options: {
    script: string;
    args?: string[];
    nodeArgs?: string[];
    env?: Record<string, string>;
    signal: AbortSignal;
  },
): Promise<Running> =>
  startScript({
    name,
    script: join(import.meta.dirname, options.script),
    args: options.args ?? [],
    nodeArgs: options.nodeArgs ?? [],
    env: { ...process.env, ...options.env },
    logFile: join(own.folder, "logs", `${name}.log`),
    readyLine: /^listening (http:\S+)/,
    signal: options.signal,
  });

/** The read of a case by Fastify, with our cache of verified tokens or verifying each request's token. */
export const startFastifyPeer = (
  own: Pick<OwnInstance, "folder" | "instance">,
  tokenCache: "on" | "off",
  signal: AbortSignal,
): Promise<Running> => {
  const { instance } = own;
  return peer(own, `fastify-cache-${tokenCache}`, {
    script: "fastify-peer.ts",
    env: {
      NODE_ENV: "production",
      MONGODB_URL: instance.mongodbUrl,
      JWKS_FILE: join(instance.keysDir, keyFiles.operatorJwks),
      ISSUER: instance.operatorIssuer,
      AUDIENCE: instance.audiences.operator,
      CLAIM_NAMESPACE: instance.claimNamespace,
      TOKEN_CACHE: tokenCache,
    },
    signal,
  });
};

/** The read of a passenger's offer by Fastify, likewise. */
export const startFastifyOfferPeer = (
  own: Pick<OwnInstance, "folder" | "instance">,
  tokenCache: "on" | "off",
  signal: AbortSignal,
): Promise<Running> => {
  const { instance } = own;
  return peer(own, `fastify-offer-${tokenCache}`, {
    script: "fastify-offer-peer.ts",
    env: {
      NODE_ENV: "production",
      MONGODB_URL: instance.mongodbUrl,
      KEY_FILE: join(instance.keysDir, keyFiles.passenger),
      AUDIENCE: instance.audiences.passenger,
      TOKEN_CACHE: tokenCache,
    },
    signal,
  });
};

export const startHelloPeer = (
  own: Pick<OwnInstance, "folder">,
  server: "uws" | "node",
  signal: AbortSignal,
): Promise<Running> => peer(own, `hello-${server}`, { script: "hello-peer.ts", args: [server], signal });

/** The actors of the service behind uWebSockets.js alone. */
export const startBarePeer = (
  own: Pick<OwnInstance, "folder">,
  routes: readonly BareRoute[],
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<Running> =>
  peer(own, "bare", {
    script: "bare-peer.ts",
    nodeArgs: serviceHeap,
    env: { ...environment, BARE_ROUTES: JSON.stringify(routes) },
    signal,
  });

/** Plain Socket.IO that broadcasts what the live channel tells at once. */
export const startLivePeer = (
  own: Pick<OwnInstance, "folder" | "instance">,
  signal: AbortSignal,
): Promise<Running> =>
  peer(own, "live-peer", { script: "live-peer.ts", env: { NATS_URL: own.instance.natsUrl }, signal });

/** Hotel vendors without books, each at an address of its own: `GET /` of the process tells which. */
export const startPlainHotels = (
  own: Pick<OwnInstance, "folder">,
  hotels: readonly PlainHotel[],
  signal: AbortSignal,
): Promise<Running> =>
  peer(own, "plain-hotels", {
    script: "plain-hotels.ts",
    env: { PLAIN_HOTELS: JSON.stringify(hotels) },
    signal,
  });

/** The same vendors asked by Fastify, and what they answer put one behind the other. */
export const startFastifySearchPeer = (
  own: Pick<OwnInstance, "folder">,
  hotels: readonly PlainHotel[],
  hotelsUrl: string,
  signal: AbortSignal,
): Promise<Running> =>
  peer(own, "fastify-search", {
    script: "fastify-search-peer.ts",
    env: { NODE_ENV: "production", PLAIN_HOTELS: JSON.stringify(hotels), PLAIN_HOTELS_URL: hotelsUrl },
    signal,
  });
