/** Owns which bookings stand with a vendor as far as we know: for vendors that tell of no change by themselves. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import type { StandingBookings } from "../../schemas/vendor-call.ts";
import type { ActorContext } from "../runtime/host.ts";

export const standingIndex = {
  name: "standing",
  key: { "reservation.vendor": 1, _id: 1 },
  partialFilterExpression: { "reservation.status": "CONFIRMED" },
} as const;

const pageLimit = 50;

export const standingBookings =
  (context: ActorContext, collection: string) =>
  /** For the vendor's adapter: the references of a page, by the `standing` index, in the order of their groups. */
  async ({ tenant, params }: Query): Promise<StandingBookings> => {
    const { vendor, after } = params as { vendor: string; after?: string };
    const found = await context.documents
      .tenant(tenant)
      .collection<Document & { _id: string; reservation: { reference: string } }>(collection)
      .find(
        {
          "reservation.vendor": vendor,
          "reservation.status": "CONFIRMED",
          ...(after === undefined ? {} : { _id: { $gt: after } }),
        },
        { projection: { "reservation.reference": 1 } },
      )
      .sort({ _id: 1 })
      .limit(pageLimit)
      .toArray();
    const last = found.length < pageLimit ? undefined : found.at(-1)?._id;
    return {
      references: found.map(({ reservation }) => reservation.reference),
      ...(last === undefined ? {} : { next: last }),
    };
  };
