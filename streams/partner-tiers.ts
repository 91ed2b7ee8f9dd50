/** Owns what gateways know of partners' tiers, which no token tells: put by the identity actor, heard of within moments, waited for by no request. */
import type { Logger } from "pino";
import type { PartnerTier } from "../schemas/partner-registration.ts";
import { type Bucket, changeEntry, watchBucket } from "./bucket.ts";
import type { Streams } from "./connection.ts";

const bucketName = "partner-tiers";

/** As it stands in the bucket, under the client id. */
interface Entry {
  tier: PartnerTier;
}

export interface PartnerTiers {
  /** Undefined: not heard of, or not yet. */
  of(clientId: string): PartnerTier | undefined;
}

export interface WatchedPartnerTiers extends PartnerTiers {
  close(): void;
}

/**
 * Knows every tier when it returns, unless the bucket cannot be read in time: then it is tried again until it can, and what was
 * known stays known.
 */
export const watchPartnerTiers = async (
  streams: Streams,
  log: Logger,
  { primedWithinMs = 2000, watchAgainMs = 5000 } = {},
): Promise<WatchedPartnerTiers> => {
  const tiers = new Map<string, PartnerTier>();
  let bucket: Bucket<Entry> | undefined;
  let again: NodeJS.Timeout | undefined;
  let isClosed = false;
  const watch = async (): Promise<void> => {
    try {
      const watched = await watchBucket<Entry>(streams, bucketName, {
        onValue: (clientId, { tier }) => tiers.set(clientId, checkedTier(tier)),
        onUnreadable: (clientId, error) => log.error({ clientId, err: error }, "tier not taken over"),
        onEnd: notHeardOf,
      });
      if (isClosed) watched.close();
      else bucket = watched;
    } catch (error) {
      watchLater(error);
    }
  };
  const notHeardOf = (error: unknown): void => log.error({ err: error }, "partners' tiers are not heard of");
  const watchLater = (error: unknown): void => {
    if (isClosed) return;
    notHeardOf(error);
    again = setTimeout(() => void watch(), watchAgainMs);
  };
  await within(watch(), primedWithinMs);
  return {
    of: (clientId) => tiers.get(clientId),
    close: () => {
      isClosed = true;
      clearTimeout(again);
      bucket?.close();
    },
  };
};

const within = async (work: Promise<void>, ms: number): Promise<void> => {
  const waited = Promise.withResolvers<void>();
  const timer = setTimeout(waited.resolve, ms);
  await Promise.race([work, waited.promise]);
  clearTimeout(timer);
};

const checkedTier = (tier: unknown): PartnerTier => {
  if (tier === 1 || tier === 2 || tier === 3) return tier;
  throw new TypeError("no tier");
};

/**
 * Tells every gateway. The same again writes nothing.
 * @throws Error when it could not be told; telling it again is safe
 */
export const announceTier = (streams: Streams, clientId: string, tier: PartnerTier): Promise<void> =>
  changeEntry<Entry>(streams, bucketName, clientId, (held) => (held?.tier === tier ? undefined : { tier }));
