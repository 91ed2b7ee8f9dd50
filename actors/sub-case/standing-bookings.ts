/** Owns which bookings stand with a vendor as far as we know: for vendors that tell of no change by themselves. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import { isoDate } from "../../schemas/local-day.ts";
import type { StandingBookings } from "../../schemas/vendor-call.ts";
import type { ActorContext } from "../runtime/host.ts";

export const standingIndex = {
  name: "staying",
  key: { "reservation.vendor": 1, "assignment.stay.checkOut": 1 },
  partialFilterExpression: { "reservation.vendor": { $exists: true } },
} as const;

const dayMs = 86_400_000;

/**
 * What is asked after: bookings whose stay ended yesterday at the earliest (UTC), and that were not heard to have ended. Who has
 * arrived by their own word alone may still lose the room.
 */
export const standingFilter = (vendor: string, now: Date) => ({
  "reservation.vendor": vendor,
  "assignment.stay.checkOut": { $gte: isoDate(Math.floor(now.getTime() / dayMs) - 1) },
  $or: [
    { "reservation.status": "CONFIRMED" },
    { "reservation.status": "CHECKED_IN", "reservation.selfCheckIn": true },
  ],
});

export const givenUpIndex = {
  name: "givenUp",
  key: { givenUpAt: 1, "assignment.stay.checkOut": 1 },
  partialFilterExpression: { givenUpAt: { $exists: true } },
} as const;

/** Groups whose attempts at this vendor were given up, for as long as their stay is not over since yesterday. */
export const givenUpFilter = (vendor: string, now: Date) => ({
  givenUpAt: vendor,
  "assignment.stay.checkOut": { $gte: isoDate(Math.floor(now.getTime() / dayMs) - 1) },
});

/** A vendor is asked after each one by itself, within one claim of the reconciliation. */
const pageLimit = 20;
/** Of groups, which have given up several attempts each. */
const givenUpLimit = 5;
/** Before a place among the attempts that were given up, which come after all that stand. */
const givenUpMark = "~";

export const standingBookings =
  (context: ActorContext, collection: string) =>
  /** For the vendor's adapter: the references of a page, by the index `staying`, in the order of their groups. */
  async ({ tenant, params }: Query): Promise<StandingBookings> => {
    const { vendor, after } = params as { vendor: string; after?: string };
    const askedFor = { context, tenant, collection, vendor };
    if (after?.startsWith(givenUpMark)) return givenUp(askedFor, after.slice(1));
    const found = await context.documents
      .tenant(tenant)
      .collection<Document & { _id: string; reservation: { reference: string } }>(collection)
      .find(
        {
          ...standingFilter(vendor, context.clock.now()),
          ...(after === undefined ? {} : { _id: { $gt: after } }),
        },
        { projection: { "reservation.reference": 1 } },
      )
      .sort({ _id: 1 })
      .limit(pageLimit)
      .toArray();
    const references = found.map(({ reservation }) => reservation.reference);
    if (found.length === pageLimit) return { references, next: String(found.at(-1)?._id) };
    const more = await givenUp(askedFor);
    return { ...more, references: [...references, ...more.references] };
  };

interface AskedFor {
  context: ActorContext;
  tenant: string;
  collection: string;
  vendor: string;
}

/** By the index `givenUp`, in the order of their groups. */
const givenUp = async (
  { context, tenant, collection, vendor }: AskedFor,
  after = "",
): Promise<StandingBookings> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document & { _id: string; givenUp: { vendor: string; reference: string }[] }>(collection)
    .find(
      { ...givenUpFilter(vendor, context.clock.now()), _id: { $gt: after } },
      { projection: { givenUp: 1 } },
    )
    .sort({ _id: 1 })
    .limit(givenUpLimit)
    .toArray();
  const attempts = found.flatMap((one) => one.givenUp.filter((attempt) => attempt.vendor === vendor));
  return {
    references: attempts.map(({ reference }) => reference),
    ...(found.length < givenUpLimit ? {} : { next: `${givenUpMark}${found.at(-1)?._id}` }),
  };
};
