/** Owns what a sub-case has on record of what vendors tell: reading it, and the trail's entry of what a hotel has told. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import type { OnRecord } from "../../schemas/reconciliation.ts";
import { subCaseOf } from "../../schemas/vendor-call.ts";
import type { Change } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
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
});

/** What a hotel tells is no person's decision; as it changes a stay, it is on the trail all the same. */
export const stayAudit = ({ command, before, after }: Change<SubCaseState, SubCaseEvent>) => {
  const rooms = ({ reservation, left }: SubCaseState) => ({
    room: reservation?.status ?? null,
    ...(left?.reservation !== undefined && { leftRoom: left.reservation.status }),
  });
  const { bookingId } = command.data as { bookingId?: string };
  return {
    action: command.name,
    caseId: after.caseId,
    before: before === undefined ? null : rooms(before),
    after: { ...rooms(after), bookingId },
  };
};
