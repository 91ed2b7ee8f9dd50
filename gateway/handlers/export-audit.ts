/** Owns the export of the audit trail: its pages asked for one by one and told as CSV, and the trail told of the export. */
import type { AuditEntryView, AuditExportQuery, ExportedAudit } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import { pageLimitMax } from "../../schemas/page.ts";
import { csvOf } from "../csv.ts";
import { type CheckedRequest, commandOf, type Dispatch, queryOf } from "../dispatch.ts";
import type { Handler } from "./handlers.ts";

const columns: Readonly<Record<string, (entry: AuditEntryView) => unknown>> = {
  at: ({ at }) => at,
  actor: ({ actor }) => actor,
  role: ({ role }) => role,
  surface: ({ surface }) => surface,
  action: ({ action }) => action,
  entityUrn: ({ entityUrn }) => entityUrn,
  caseUrn: ({ caseUrn }) => caseUrn,
  airport: ({ airport }) => airport,
  reason: ({ reason }) => reason,
  before: ({ before }) => before && JSON.stringify(before),
  after: ({ after }) => after && JSON.stringify(after),
  correlationUrn: ({ correlationUrn }) => correlationUrn,
  urn: ({ urn }) => urn,
  chain: ({ chain }) => chain?.name,
  sequence: ({ chain }) => chain?.sequence,
  previousDigest: ({ chain }) => chain?.previousDigest,
  digest: ({ chain }) => chain?.digest,
};

const rowOf = (entry: AuditEntryView): unknown[] => Object.values(columns).map((read) => read(entry));

export const createExportAudit =
  (dispatch: Dispatch): Handler =>
  async (request) => {
    // What comes while it runs stays out, its own entry too.
    const filters: AuditExportQuery = { to: request.now.toISOString(), ...request.query };
    const read = async (cursor?: string): Promise<Page<AuditEntryView>> => {
      const params = { ...filters, limit: pageLimitMax, ...(cursor === undefined ? {} : { cursor }) };
      return (await dispatch.query("audit.search", { ...queryOf(request), params }))
        .ok as Page<AuditEntryView>;
    };
    // Before the first byte, so that a refusal can still be told.
    const first = await read();
    await note(dispatch, request, "audit.begin-export", { filters });
    const name = `audit-${request.principal.tenant}-${request.now.toISOString().replace(/[:.]/g, "")}.csv`;
    return {
      status: request.route.success,
      headers: [...request.route.headers, ["Content-Disposition", `attachment; filename="${name}"`]],
      body: undefined,
      stream: tableOf(first, read, (rows, complete) =>
        note(dispatch, request, "audit.end-export", { filters, rows, complete } satisfies ExportedAudit),
      ),
    };
  };

/** Holds one page at a time. `end` is told how many rows were handed on, also when nobody wants more of them. */
async function* tableOf(
  first: Page<AuditEntryView>,
  read: (cursor: string) => Promise<Page<AuditEntryView>>,
  end: (rows: number, complete: boolean) => Promise<void>,
): AsyncGenerator<string> {
  let rows = 0;
  let complete = false;
  try {
    yield csvOf([Object.keys(columns)]);
    for (let page = first; ; page = await read(page.nextCursor)) {
      if (page.items.length > 0) yield csvOf(page.items.map(rowOf));
      rows += page.items.length;
      if (page.nextCursor === null) break;
    }
    complete = true;
  } finally {
    await end(rows, complete);
  }
}

const note = async (
  dispatch: Dispatch,
  request: CheckedRequest,
  name: string,
  data: object,
): Promise<void> => {
  await dispatch.command(name, { ...commandOf(request, { name, entity: undefined }), data });
};
