/** Owns the operator rows that follow the sagas of a case. */
import Type from "typebox";
import { CaseProgressView } from "../../../schemas/orchestration.ts";
import { PageQuery } from "../../../schemas/page.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

export const orchestrationRoutes = [
  {
    id: "getCaseProgress",
    surface: "operator",
    method: "get",
    path: "/orchestration/cases/{caseUrn}/progress",
    prefixes: ["/v1"],
    summary: "Follow a case's sagas",
    description:
      "Totals of all groups by status and by step, and page by page how far each group is and which vendor it waits for.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: Type.Object({ caseUrn: Urn("case") }),
    querystring: Type.Object(PageQuery),
    query: "sub-case.progress",
    success: 200,
    response: CaseProgressView,
    problems: ["auth/foreign-airport"],
  },
] as const satisfies readonly Route[];
