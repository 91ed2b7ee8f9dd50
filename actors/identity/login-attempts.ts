/**
 * Owns the limits on logging in (contract, "Limits"): attempts with a booking reference per client address and per reference, links that
 * were refused per client address. Counting is the runtime's.
 */
import { createHmac, hkdfSync } from "node:crypto";
import type { Collection } from "mongodb";
import { Problem } from "../../schemas/problems.ts";
import { type AttemptsDocument, countAttempt, takeAttemptBack } from "../runtime/attempt-limits.ts";
import type { ActorContext } from "../runtime/host.ts";
import { KeyedQueue } from "../runtime/serial.ts";

export interface LoginAttempt {
  tenant: string;
  /** Tells this attempt from every other. */
  id: string;
  address: string;
  /** In its one written form. */
  pnr: string;
}

/** @throws Problem rate/exceeded; the attempt is then counted nowhere */
export type CountLoginAttempt = (attempt: LoginAttempt) => Promise<void>;

/** What of its actor's context it needs. */
export interface LoginAttemptParts extends Pick<ActorContext, "documents" | "clock"> {
  config: Pick<ActorContext["config"], "loginAttempts" | "sealKey">;
}

/** Names counters after what they count: a keyed digest, which nobody can go through without the key. */
type NameCounter = (kind: string, text: string) => string;

const counterNames = (sealKey: Buffer): NameCounter => {
  // A key of its own, so that what seals secrets does nothing else.
  const key = Buffer.from(hkdfSync("sha256", sealKey, "", "login attempts", 32));
  return (kind, text) =>
    `${kind}-${createHmac("sha256", key).update(`${kind}\n${text}`).digest("base64url")}`;
};

export const createLoginAttempts = (context: LoginAttemptParts): CountLoginAttempt => {
  const { address: perAddress, pnr: perPnr } = context.config.loginAttempts;
  const name = counterNames(context.config.sealKey);
  // Of this process' own attempts none loses a race to another.
  const queue = new KeyedQueue();
  return ({ tenant, id, address, pnr }) =>
    queue.run(`${tenant}/${address}`, () =>
      countAttempt(
        attemptsOf(context, tenant),
        id,
        [
          { key: name("address", address), limit: perAddress, what: "logins with one address" },
          { key: name("pnr", pnr), limit: perPnr, what: "logins with one booking reference" },
        ],
        () => context.clock.now(),
      ),
    );
};

/** The address from which a link is tried. */
export type LinkAttempt = Omit<LoginAttempt, "pnr">;

/**
 * Counts, then exchanges; an exchange that is not refused is taken back from the count: many passengers share one address.
 * @throws Problem rate/exceeded; what the exchange throws
 */
export type TryLink = <Session>(attempt: LinkAttempt, exchange: () => Promise<Session>) => Promise<Session>;

export const createLinkAttempts = (context: LoginAttemptParts): TryLink => {
  const { link: perAddress } = context.config.loginAttempts;
  const name = counterNames(context.config.sealKey);
  const queue = new KeyedQueue();
  return ({ tenant, id, address }, exchange) =>
    // One after the other, so that those that are being exchanged stand in nobody's way.
    queue.run(`${tenant}/${address}`, async () => {
      const counter = {
        key: name("link", address),
        limit: perAddress,
        what: "refused links with one address",
      };
      const attempts = attemptsOf(context, tenant);
      await countAttempt(attempts, id, [counter], () => context.clock.now());
      const takeBack = () => takeAttemptBack(attempts, id, [counter]);
      try {
        const session = await exchange();
        await takeBack();
        return session;
      } catch (error) {
        // What failed by an outage of ours says nothing of the link.
        if (!(error instanceof Problem) || error.status >= 500) await takeBack();
        throw error;
      }
    });
};

const attemptsOf = ({ documents }: LoginAttemptParts, tenant: string): Collection<AttemptsDocument> =>
  documents.tenant(tenant).collection<AttemptsDocument>("loginAttempts");
