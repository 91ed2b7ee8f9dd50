/** Owns who may open a connection of the operators' channel, and what they go on with: at the first handshake and at every resumption. */
import { decodeJwt } from "jose";
import { Problem } from "../../schemas/problems.ts";
import type { LiveSession, LiveSessions } from "../../streams/live-sessions.ts";
import type { Revocations } from "../../streams/revocations.ts";
import type { TenantDirectory } from "../../streams/tenant-directory.ts";
import type { VerifyToken } from "../auth/verify-jwt.ts";
import { requireGrantedAccess } from "../checks/granted-access.ts";
import type { Cases } from "./cases.ts";
import type { Fanout, Joined } from "./fanout.ts";
import { readOffset } from "./offset.ts";
import { mayStay, type Room } from "./rooms.ts";
import type { Admitted, Identity } from "./session.ts";

export interface HandshakeParts {
  verify: VerifyToken;
  tenants: TenantDirectory;
  revocations: Revocations;
  sessions: LiveSessions;
  cases: Cases;
  fanout: Fanout;
  freshId: () => string;
  onOutage: (error: unknown) => void;
}

/** @throws Problem auth/missing-token, auth/invalid-token, auth/expired-token, auth/foreign-tenant, upstream/unavailable */
export const identify = async (
  token: unknown,
  { verify, tenants, revocations }: Pick<HandshakeParts, "verify" | "tenants" | "revocations">,
): Promise<Identity> => {
  if (typeof token !== "string" || token === "")
    throw new Problem(
      "auth/missing-token",
      "Send your access token as `token` in the handshake's auth payload.",
    );
  const { principal, presented } = await verify(token);
  requireGrantedAccess(presented, revocations);
  if (tenants.byCode(principal.tenant) === undefined)
    throw new Problem("auth/foreign-tenant", "The token's airline is not served here.");
  // Verified: it has one.
  return { principal, presented, expiresAtMs: (decodeJwt(token).exp ?? 0) * 1000 };
};

const idForm = /^[A-Za-z0-9_-]{16,64}$/;

/**
 * What a handshake's auth payload opens: the session that it names where that is its own and still known, each room authorised
 * anew; else a fresh one.
 * @throws Problem as {@link identify} does
 */
export const admit = async (auth: Record<string, unknown>, parts: HandshakeParts): Promise<Admitted> => {
  const { fanout, cases, freshId } = parts;
  const identity = await identify(auth.token, parts);
  const { principal } = identity;
  const fresh = { id: freshId(), identity, joined: [], offset: undefined, complete: true, resumed: false };
  const { pid } = auth;
  if (typeof pid !== "string" || !idForm.test(pid)) return fresh;
  const kept = await readSession(pid, parts);
  if (kept?.tenant !== principal.tenant || kept.operatorUrn !== principal.urn) return fresh;
  const before = roomsOf(kept);
  const joined = before.filter(({ room }) => mayStay(room, principal));
  try {
    await Promise.all(joined.map(({ room }) => cases.ensure(room)));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return fresh;
  }
  const offset = readOffset(auth.offset);
  const reached = offset !== undefined && (await fanout.reached(offset));
  const complete = reached && fanout.isComplete(offset) && joined.length === before.length;
  return { id: complete ? pid : freshId(), identity, joined, offset, complete, resumed: true };
};

/** Without it a client only has to ask for its rooms again. */
const readSession = async (
  id: string,
  { sessions, onOutage }: HandshakeParts,
): Promise<LiveSession | undefined> => {
  try {
    return await sessions.read(id);
  } catch (error) {
    onOutage(error);
    return undefined;
  }
};

const roomsOf = ({ rooms }: LiveSession): Joined[] =>
  rooms.flatMap(({ room, since }) => {
    const from = readOffset(since);
    return from === undefined ? [] : [{ room: room as Room, since: from }];
  });
