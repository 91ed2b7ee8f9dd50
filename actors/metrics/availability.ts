/** Owns partners' availability: the gateways' counts of minutes that are over, each inserted once, and their sums by tier. */
import type { Collection } from "mongodb";
import {
  type AvailabilityCount,
  type AvailabilityNote,
  type AvailabilityView,
  availabilityDaysMax,
  availabilityTargets,
} from "../../schemas/availability.ts";
import type { Query } from "../../schemas/command.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { wrongSpan } from "./queries.ts";

/** One gateway's minute. */
interface Minute {
  _id: string;
  at: Date;
  counts: AvailabilityCount[];
}

const dayMs = 86_400_000;
const duplicateKey = 11000;

export const availabilityCollection = "partnerAvailability";
/** Kept for longer than a month, which is what the targets are of. */
export const availabilityIndexes = [
  { name: "at", key: { at: 1 }, expireAfterSeconds: 40 * (dayMs / 1000) },
] as const;

const minutesOf = ({ documents }: ActorContext, tenant: string): Collection<Minute> =>
  documents.tenant(tenant).collection<Minute>(availabilityCollection);

/** What a gateway tells again stands already, and is the same. */
export const noteAvailability =
  (context: ActorContext): CommandFunction =>
  async ({ tenant, data }) => {
    const { gateway, minutes } = data as AvailabilityNote;
    const documents = minutes.map(({ at, counts }) => ({
      _id: `${at}/${gateway}`,
      at: new Date(at),
      counts,
    }));
    try {
      await minutesOf(context, tenant).insertMany(documents, { ordered: false });
    } catch (error) {
      const { writeErrors = [] } = error as { writeErrors?: { code?: number }[] };
      if (writeErrors.length === 0 || writeErrors.some(({ code }) => code !== duplicateKey)) throw error;
    }
    return { ok: null };
  };

/** GET /v1/metrics/partner-availability, by the index `at`. @throws Problem validation/query */
export const availability =
  (context: ActorContext) =>
  async ({ tenant, params }: Query): Promise<AvailabilityView> => {
    const { from, to } = params as { from: string; to: string };
    const [begin, end] = [new Date(from), new Date(to)];
    if (!(begin < end)) throw wrongSpan("is not after `from`");
    if (end.getTime() - begin.getTime() > availabilityDaysMax * dayMs)
      throw wrongSpan(`is more than ${availabilityDaysMax} days after \`from\``);
    const sums = new Map<string, { requests: number; failed: number }>();
    const found = minutesOf(context, tenant).find(
      { at: { $gte: begin, $lt: end } },
      { projection: { counts: 1 } },
    );
    for await (const { counts } of found)
      for (const { tier, rate, requests, failed } of counts) {
        const sum = sums.get(`${tier} ${rate}`) ?? { requests: 0, failed: 0 };
        sums.set(`${tier} ${rate}`, { requests: sum.requests + requests, failed: sum.failed + failed });
      }
    const shareOf = (tier: 1 | 2 | 3, rate: "read" | "write") => {
      const { requests, failed } = sums.get(`${tier} ${rate}`) ?? { requests: 0, failed: 0 };
      const target = availabilityTargets[tier][rate];
      const share = requests === 0 ? null : (requests - failed) / requests;
      return { requests, failed, availability: share, ...(target === undefined ? {} : { target }) };
    };
    return {
      from: begin.toISOString(),
      to: end.toISOString(),
      tiers: ([1, 2, 3] as const).map((tier) => ({
        tier,
        reads: shareOf(tier, "read"),
        writes: shareOf(tier, "write"),
      })),
    };
  };
