/** Owns the commands to a case that are put together of several: allocate, book-rooms, and a freeze told to every case. */
import type { Document } from "mongodb";
import type { AllocationStarted, AllocationView, BookingStarted } from "../../schemas/case.ts";
import type { Accepted, Command, Query } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { systemCommand } from "../runtime/send.ts";
import { gatherParts, type PartialFailure } from "./composition.ts";

const asking = (command: Command, params: Record<string, unknown>): Query => ({ ...command, params });

/**
 * Starts a wave, and says which of those whom it will ask don't answer now: it waits for them, or goes on without
 * (contract, "Composition routes").
 */
export const allocate =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const failures: PartialFailure[] = [];
    const part = gatherParts(failures);
    const [reply] = await Promise.all([
      dispatch("allocate", command),
      part("policy", context.call("policy.active", asking(command, { limit: 1 }))),
      part("vendor-adapter", context.call("vendor-adapter.choice", asking(command, {}))),
    ]);
    const { ok, ...rest } = reply as Accepted<Omit<AllocationStarted, "partialFailures">>;
    return { ...rest, ok: { ...ok, partialFailures: failures } };
  };

/** Starts the sagas, and shows beside each group the hotel that its wave chose. */
export const bookRooms =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const failures: PartialFailure[] = [];
    const part = gatherParts(failures);
    const caseUrn = urn("case", command.entity);
    const reply = (await dispatch("book-rooms", command)) as Accepted<
      Omit<BookingStarted, "partialFailures">
    >;
    const allocations = await part(
      "wave",
      context.call<AllocationView[]>("wave.allocations", asking(command, { caseUrn })),
    );
    const groups = reply.ok.groups.map((group) => {
      const found = allocations?.find(({ groupId }) => groupId === group.groupId);
      if (found === undefined) return group;
      const { hotelUrn, hotelName, rooms } = found;
      return { ...group, hotelUrn, hotelName, rooms };
    });
    return { ...reply, ok: { ...reply.ok, groups, partialFailures: failures } };
  };

/** A freeze reaches every open case with pending demand at its airport; told again, it finds those that are left. */
export const spreadFreeze =
  (context: ActorContext, collection: string): CommandFunction =>
  async (command, dispatch) => {
    const { airport } = command.data as { airport: string };
    const pending = await context.documents
      .tenant(command.tenant)
      .collection<Document>(collection)
      .find({ "demands.state": "REQUESTED", airport, status: { $ne: "CLOSED" } }, { projection: { _id: 1 } })
      .toArray();
    for (const { _id } of pending) {
      const caseId = String(_id);
      const told = {
        id: causedId(command.id, "case.apply-freeze", caseId),
        name: "case.apply-freeze",
        entity: caseId,
        data: {},
        now: context.clock.now(),
      };
      await dispatch("apply-freeze", systemCommand("case", command, told));
    }
    return { ok: null };
  };
