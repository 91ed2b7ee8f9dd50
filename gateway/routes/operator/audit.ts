/** Owns the operator rows of the audit trail: read by case, by entity, searched, exported. */
import Type from "typebox";
import { AuditEntryView, AuditExportQuery, AuditQuery, AuditSearch } from "../../../schemas/audit.ts";
import { pageOf } from "../../../schemas/page.ts";
import { Urn, urnKinds } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const trail = {
  surface: "operator",
  method: "get",
  // FINANCE_AUDIT is parallel to the operators' line (contract, "Operator").
  role: ["FINANCE_AUDIT", "OPS_SUPERVISOR"],
  rate: "read",
  success: 200,
} as const;

const page = { prefixes: ["/v1"], response: pageOf(AuditEntryView, "AuditPage") } as const;

export const auditRoutes = [
  {
    ...trail,
    ...page,
    id: "getCaseAudit",
    path: "/audit/case/{caseUrn}",
    summary: "Read a case's audit trail",
    description: "Who did what, when and why, with the state before and after; newest first.",
    params: Type.Object({ caseUrn: Urn("case") }),
    querystring: AuditQuery,
    query: "audit.of-case",
    problems: ["auth/foreign-airport"],
  },
  {
    ...trail,
    ...page,
    id: "getEntityAudit",
    path: "/audit/entity/{entityUrn}",
    summary: "Read one entity's audit trail",
    description: "Of any kind that a URN can name; newest first.",
    params: Type.Object({ entityUrn: Urn(...urnKinds) }),
    querystring: AuditQuery,
    query: "audit.of-entity",
    problems: ["auth/foreign-airport"],
  },
  {
    ...trail,
    ...page,
    id: "searchAudit",
    path: "/audit",
    prefixes: ["", "/v1"],
    summary: "Search the audit trail",
    description:
      "All filters are optional, and all that are given must hold; newest first. An operator of one airport finds what happened there.",
    querystring: AuditSearch,
    query: "audit.search",
    problems: [],
  },
  {
    ...trail,
    id: "exportAudit",
    path: "/audit/export",
    prefixes: ["/v1"],
    summary: "Export the audit trail as CSV",
    description:
      "Everything that the search would find, in one table (RFC 4180) of any length, newest first; what is written while it runs is left out. A cell that a spreadsheet would take for a formula begins with an apostrophe. The export itself is in the trail: `audit.begin-export` with its filters, `audit.end-export` with its rows. A transfer that breaks off is not complete.",
    querystring: AuditExportQuery,
    handler: "exportAudit",
    produces: "text/csv",
    response: Type.String({
      description: "One line for each entry, after one that names the columns.",
      examples: ["at,actor,role,surface,action,…\r\n"],
    }),
    problems: ["upstream/unavailable"],
  },
] as const satisfies readonly Route[];
