/** Owns the reads of rides, each beside the index that serves it (`transferIndexes`). */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { MeView } from "../../schemas/passenger-api.ts";
import type { OnRecord } from "../../schemas/reconciliation.ts";
import { type MyTransportView, runOfReference, type SegmentView } from "../../schemas/transport.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { pageOf } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";
import type { Vehicle } from "./run-state.ts";
import { runCollection } from "./runs.ts";
import type { TransferState } from "./transfer-state.ts";
import { transferCollection, transferSchemaVersion } from "./transfers.ts";
import { myTransport, segmentView } from "./view.ts";

const current = { schemaVersion: transferSchemaVersion };
const projection = { handled: 0, outbox: 0 };

export const transportQueries = (context: ActorContext) => {
  const transfers = (tenant: string) =>
    context.documents.tenant(tenant).collection<Document>(transferCollection);
  return {
    /** GET /v1/transport/cases/{caseUrn}/segments, by the index `group`: in the order in which they were made. */
    segments: async (query: Query): Promise<Page<SegmentView>> => {
      const { caseUrn } = query.params as { caseUrn: string };
      await context.call("case.head", { ...query, params: { caseUrn } });
      const found = await transfers(query.tenant)
        .find({ caseId: idOf(caseUrn) }, { projection })
        .toArray();
      const all = found
        .flatMap((document) => {
          const { state, meta } = loadedOf<TransferState>(document, current);
          return state.segments.map((segment) => ({ state, segment, version: meta.version }));
        })
        .sort((a, b) => (a.segment.segmentId < b.segment.segmentId ? -1 : 1));
      return pageOf(
        all,
        query.params,
        ({ segment }) => segment.segmentId,
        ({ state, segment, version }) => segmentView(state, segment, version),
      );
    },

    /** For whoever shows a case's services, by the index `group`: all rides, in the order in which they were made. */
    "of-case": async ({ tenant, params }: Query): Promise<SegmentView[]> => {
      const found = await transfers(tenant)
        .find({ caseId: idOf((params as { caseUrn: string }).caseUrn) }, { projection })
        .toArray();
      return found
        .flatMap((document) => {
          const { state, meta } = loadedOf<TransferState>(document, current);
          return state.segments.map((segment) => segmentView(state, segment, meta.version));
        })
        .sort((a, b) => (a.urn < b.urn ? -1 : 1));
    },

    /** By `_id` of the run. Empty: no vehicle has the reference, or its run has forgotten it. */
    "on-record": async ({ tenant, params }: Query): Promise<OnRecord> => {
      const reference = String(params.reference);
      const run = await context.documents
        .tenant(tenant)
        .collection<{ _id: string; vehicles: Vehicle[] }>(runCollection)
        .findOne({ _id: runOfReference(reference) ?? "" }, { projection: { vehicles: 1 } });
      const vehicle = run?.vehicles.find((one) => one.reference === reference);
      if (vehicle === undefined) return {};
      return { ride: vehicle.status === "LOST" ? "CANCELLED" : vehicle.status };
    },

    /**
     * GET /v1/me/transport: of the group that they are in now, which its sub-case alone knows: an order may still name who was split away
     * while it was on its way. What nearly everybody is shown, the rides of their session's group, is read meanwhile.
     */
    mine: async (query: Query): Promise<MyTransportView> => {
      const { tenant, principal } = query;
      const ofGroup = async (caseId: string, groupId: string): Promise<TransferState | undefined> => {
        const found = await transfers(tenant).findOne({ caseId, groupId }, { projection });
        return found === null ? undefined : loadedOf<TransferState>(found, current).state;
      };
      const { caseId = "", groupId: own = "" } = principal;
      const [{ groupId }, state] = await Promise.all([
        context.call<MeView>("sub-case.me", { ...query, params: {} }),
        ofGroup(caseId, own),
      ]);
      return myTransport(groupId === own ? state : await ofGroup(caseId, groupId), context.clock.now());
    },
  };
};
