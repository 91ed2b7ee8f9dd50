/** Owns the reads of freezes of demand: the list, and what stands at one airport when something is decided there. */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { DemandFreezeView } from "../../schemas/demand.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { airportFilter } from "../runtime/reach.ts";
import { loadedOf } from "../runtime/store.ts";
import {
  type Freeze,
  type FreezeState,
  freezeCollection,
  freezes,
  freezeView,
  standingFreeze,
} from "./freeze.ts";

/** GET /v1/demand/freezes: those that nobody has lifted, by airport; one whose time is over says so. */
export const freezesQuery =
  (context: ActorContext) =>
  ({ tenant, principal, params }: Query): Promise<Page<DemandFreezeView>> => {
    const now = context.clock.now();
    const { airport } = params as { airport?: string };
    const filter = { lifted: { $exists: false }, ...airportFilter(principal, airport) };
    return readPage(
      context.documents.tenant(tenant).collection<Document>(freezeCollection),
      { filter, params, key: "airport", direction: 1, projection: { handled: 0, outbox: 0 } },
      (document) => {
        const { state, meta } = loadedOf<FreezeState>(document, freezes);
        return freezeView(meta._id, state, meta.version, now);
      },
    );
  };

/** Undefined: demand at the airport is not frozen now. */
export const freezeAt = async (
  context: ActorContext,
  tenant: string,
  airport: string,
): Promise<Freeze | undefined> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document>(freezeCollection)
    .findOne({ airport });
  const state = found === null ? undefined : loadedOf<FreezeState>(found, freezes).state;
  return standingFreeze(state, context.clock.now());
};
