/** Owns the reads of the operators' dashboard: open cases through a projection, the desks' counts from the review actor. */
import type { Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import type { CaseDesk, DashboardView } from "../../schemas/dashboard.ts";
import type { ActorContext } from "../runtime/host.ts";
import { airportFilter } from "../runtime/reach.ts";
import { gatherParts, type PartialFailure } from "./composition.ts";
import { type Board, type BoardCase, boardProjection, sectionsOf } from "./dashboard.ts";

const dayMs = 86_400_000;
/** All in one answer: they are small, and the default of 101 would cost a second one. */
const batchSize = 5000;

/** @param collection of cases, with its indexes `status`, `airport-status` and `closed` */
export const dashboardQuery = (context: ActorContext, collection: string) => {
  const boardOf = async ({ tenant, principal }: Query): Promise<Board> => {
    const cases = context.documents.tenant(tenant).collection<Document>(collection);
    const reach = airportFilter(principal, undefined);
    const since = new Date(context.clock.now().getTime() - dayMs);
    const [open, closed] = await Promise.all([
      cases
        .find(
          { ...reach, status: { $in: ["OPEN", "MANUAL_REVIEW"] } },
          { projection: boardProjection, batchSize },
        )
        .toArray(),
      cases
        .find(
          { ...reach, closedAt: { $gte: since } },
          { projection: { _id: 1, kind: 1 }, hint: "closed", batchSize },
        )
        .toArray(),
    ]);
    return {
      open: open as unknown as BoardCase[],
      closedLately: closed.filter(({ kind }) => kind === undefined).length,
    };
  };

  const look = async (query: Query): Promise<DashboardView> => {
    const failures: PartialFailure[] = [];
    const part = gatherParts(failures);
    const [board, desks] = await Promise.all([
      part("case", boardOf(query)),
      part("review", context.call<CaseDesk[]>("review.desks", { ...query, params: {} })),
    ]);
    return {
      asOf: context.clock.now().toISOString(),
      ...sectionsOf(board, desks),
      ...(failures.length === 0 ? {} : { partialFailures: failures }),
    };
  };

  /** Wall screens ask at the same moments: whoever asks while a look is under way is shown what it sees. */
  const underWay = new Map<string, Promise<DashboardView>>();

  /** GET /v1/cases/dashboard. */
  return (query: Query): Promise<DashboardView> => {
    const key = `${query.tenant}/${query.principal.airport ?? ""}`;
    const found = underWay.get(key);
    if (found !== undefined) return found;
    const looking = look(query).finally(() => underWay.delete(key));
    underWay.set(key, looking);
    return looking;
  };
};
