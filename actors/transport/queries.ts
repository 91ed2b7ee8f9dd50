/** Owns the reads of rides, each beside the index that serves it (`transferIndexes`). */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { MeView } from "../../schemas/passenger-api.ts";
import { isSessionOf } from "../../schemas/passenger-session.ts";
import type { MyTransportView, SegmentView } from "../../schemas/transport.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { pageOf } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";
import type { TransferState } from "./transfer-state.ts";
import { transferCollection, transferSchemaVersion } from "./transfers.ts";
import { myTransport, segmentView } from "./view.ts";

const current = { schemaVersion: transferSchemaVersion };
const projection = { handled: 0, outbox: 0 };

/** Whether the session's passenger is one of those whom the order that stands is for: a group has none while it can be changed. */
const rides = ({ orders }: TransferState, session: string): boolean =>
  orders
    .findLast(({ releasedAt }) => releasedAt === undefined)
    ?.passengerUrns?.some((urn) => isSessionOf(session, urn)) === true;

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

    /** GET /v1/me/transport: one read for who rides with the group of their session, which is nearly everybody; else of the group that they are in now. */
    mine: async (query: Query): Promise<MyTransportView> => {
      const { tenant, principal } = query;
      const ofGroup = async (caseId: string, groupId: string): Promise<TransferState | undefined> => {
        const found = await transfers(tenant).findOne({ caseId, groupId }, { projection });
        return found === null ? undefined : loadedOf<TransferState>(found, current).state;
      };
      const { caseId = "", groupId: own = "" } = principal;
      const state = await ofGroup(caseId, own);
      if (state !== undefined && rides(state, principal.urn)) return myTransport(state, context.clock.now());
      const { groupId } = await context.call<MeView>("sub-case.me", { ...query, params: {} });
      return myTransport(groupId === own ? state : await ofGroup(caseId, groupId), context.clock.now());
    },
  };
};
