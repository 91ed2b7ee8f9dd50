/** Owns asking what a command would be refused with, without anything coming of it. */
import type { Document } from "mongodb";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "./decider.ts";
import type { ActorContext, AnyDecider, QueryFunction } from "./host.ts";
import { loadedOf } from "./store.ts";

/**
 * A query `<actor>.rehearse { entity, name, data }`: gathers and decides as the command `name` would on what stands now, and
 * forgets the outcome. The command itself may meet another state. @throws Problem what it would be refused with
 */
export const rehearse =
  (context: ActorContext, decider: AnyDecider): QueryFunction =>
  async ({ params, ...asking }) => {
    const { entity, name, data } = params as { entity: string; name: string; data: unknown };
    const found = await context.documents
      .tenant(asking.tenant)
      .collection<Document>(decider.collection)
      .findOne({ _id: entity as never });
    if (found === null) throw new Problem("not-found/resource", `No such ${decider.kind}.`);
    const { state } = loadedOf<object>(found, decider);
    const now = context.clock.now();
    const command: Received = { ...asking, id: "", name, entity, issuedAt: now.toISOString(), data, now };
    decider.decide(state, command, await decider.gather?.(command, state));
    return null;
  };
