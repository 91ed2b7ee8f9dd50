/** Owns what sub-cases have on record of what vendors tell: reading it, and the trail's entry of what a hotel has told. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import type { OnRecord } from "../../schemas/reconciliation.ts";
import { type OddBooking, type StandingBooking, subCaseOf } from "../../schemas/vendor-call.ts";
import type { Change } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import { oddityOf } from "./odd-bookings.ts";
import type { SubCaseEvent, SubCaseState } from "./state.ts";

const recordedOf = (
  { reservation, card, formerCards = [], left }: SubCaseState,
  reference: string,
): OnRecord => {
  const room = [reservation, left?.reservation].find((one) => one?.reference === reference);
  const used = [card, ...formerCards].find((one) => one?.reference === reference);
  return {
    ...(room !== undefined && { room: room.status }),
    ...(used !== undefined && { cardUses: (used.uses ?? []).map(({ eventId }) => eventId) }),
  };
};

/** @param schemaVersion of sub-cases' documents */
export const recordQueries = (
  context: ActorContext,
  { collection, schemaVersion }: { collection: string; schemaVersion: number },
) => ({
  /** By `_id`. Empty: nothing under the reference, or no such sub-case. */
  "on-record": async ({ tenant, params }: Query): Promise<OnRecord> => {
    const reference = String(params.reference);
    const projection = { handled: 0, outbox: 0, steps: 0 };
    const found = await context.documents
      .tenant(tenant)
      .collection<Document>(collection)
      .findOne({ _id: subCaseOf(reference) as never }, { projection });
    return found === null
      ? {}
      : recordedOf(loadedOf<SubCaseState>(found, { schemaVersion }).state, reference);
  },

  /** Which of the bookings that stand with a vendor their groups know to be none of theirs, by `_id`. */
  "odd-among": async ({ tenant, params }: Query): Promise<OddBooking[]> => {
    const { vendor, bookings } = params as { vendor: string; bookings: StandingBooking[] };
    const ids = [...new Set(bookings.map(({ reference }) => subCaseOf(reference)))];
    const found = await context.documents
      .tenant(tenant)
      .collection<SubCaseState & { _id: string }>(collection)
      .find(
        { _id: { $in: ids } },
        { projection: { reservation: 1, left: 1, givenUp: 1, "call.reference": 1 } },
      )
      .toArray();
    const groups = new Map(found.map((group) => [group._id, group]));
    return bookings.flatMap((booking) => {
      const group = groups.get(subCaseOf(booking.reference));
      const oddity = group && oddityOf(group, booking);
      return oddity === undefined ? [] : [{ vendor, ...booking, oddity }];
    });
  },
});

/** The commands that `stayAudit` is for. */
export const toldByHotels: ReadonlySet<string> = new Set(["sub-case.record-stay", "sub-case.note-oddity"]);

/** What a hotel tells is no person's decision; as it changes a stay, or gives a booking back, it is on the trail all the same. */
export const stayAudit = ({ command, before, after }: Change<SubCaseState, SubCaseEvent>) => {
  const rooms = ({ reservation, left }: SubCaseState) => ({
    room: reservation?.status ?? null,
    ...(left?.reservation !== undefined && { leftRoom: left.reservation.status }),
  });
  const { bookingId, oddity } = command.data as { bookingId?: string; oddity?: string };
  return {
    action: command.name,
    caseId: after.caseId,
    before: before === undefined ? null : rooms(before),
    after: { ...rooms(after), bookingId, ...(oddity !== undefined && { oddity }) },
  };
};
