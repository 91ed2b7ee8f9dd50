/** Owns counting partners' requests by tier and outcome, minute by minute, and telling the metrics actor of minutes that are over. */
import type { Logger } from "pino";
import type { AvailabilityCount, AvailabilityNote } from "../../schemas/availability.ts";
import { type Principal, systemPrincipal } from "../../schemas/command.ts";
import type { PartnerTiers } from "../../streams/partner-tiers.ts";
import type { Dispatch } from "../dispatch.ts";
import { beginTrace } from "../trace.ts";

const minuteMs = 60_000;
/** While nobody takes the counts they are kept for so long. */
const keptMinutesMax = 60;
/** As in the buckets: who is not known yet. */
const tierUnknown = 3;

type Counts = Map<string, AvailabilityCount>;

export interface PartnerTally {
  /** One that is answered now: a minute that is over has been told, and takes no more. */
  note(partner: Principal, rate: "read" | "write", status: number): void;
  /** Tells what is over, and the rest with it. */
  close(): Promise<void>;
}

/** A process that dies takes what it has counted since the last full minute with it. */
export const createPartnerTally = (parts: {
  dispatch: Dispatch;
  tiers: PartnerTiers;
  self: string;
  now: () => Date;
  log: Logger;
}): PartnerTally => {
  const { dispatch, tiers, self, now, log } = parts;
  /** By airline and minute. */
  const airlines = new Map<string, Map<number, Counts>>();

  const note: PartnerTally["note"] = ({ tenant, clientId = "" }, rate, status) => {
    const tier = tiers.of(clientId) ?? tierUnknown;
    const minute = Math.floor(now().getTime() / minuteMs);
    const minutes = airlines.get(tenant) ?? new Map<number, Counts>();
    airlines.set(tenant, minutes);
    const counts: Counts = minutes.get(minute) ?? new Map();
    minutes.set(minute, counts);
    const key = `${tier} ${rate}`;
    const count = counts.get(key) ?? { tier, rate, requests: 0, failed: 0 };
    count.requests += 1;
    if (status >= 500) count.failed += 1;
    counts.set(key, count);
  };

  const tell = async (tenant: string, before: number): Promise<void> => {
    const minutes = airlines.get(tenant);
    const over = [...(minutes ?? [])].filter(([minute]) => minute < before);
    if (minutes === undefined || over.length === 0) return;
    const data: AvailabilityNote = {
      gateway: self,
      minutes: over.map(([minute, counts]) => ({
        at: new Date(minute * minuteMs).toISOString(),
        counts: [...counts.values()],
      })),
    };
    const issuedAt = now();
    const name = "metrics.note-availability";
    try {
      await dispatch.command(name, {
        ...beginTrace("", issuedAt),
        ...{ id: `availability:${self}:${before}`, name, tenant, entity: "", data },
        principal: systemPrincipal(tenant, "gateway"),
        issuedAt: issuedAt.toISOString(),
      });
      for (const [minute] of over) minutes.delete(minute);
    } catch (error) {
      // The next minute tries again.
      log.warn({ tenant, err: error }, "partners' availability not recorded");
      const newest = Math.max(...minutes.keys());
      for (const [minute] of over) if (minute < newest - keptMinutesMax) minutes.delete(minute);
    }
  };

  const tellAll = async (before: number): Promise<void> => {
    await Promise.all([...airlines.keys()].map((tenant) => tell(tenant, before)));
  };

  const beat = setInterval(() => void tellAll(Math.floor(now().getTime() / minuteMs)), minuteMs);
  beat.unref();
  return {
    note,
    close: async () => {
      clearInterval(beat);
      await tellAll(Number.POSITIVE_INFINITY);
    },
  };
};
