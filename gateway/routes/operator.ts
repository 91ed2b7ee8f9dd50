/** Owns the operator surface's table: every row that an operator's token can open, gathered from the folder beside it. */
import type { Route } from "../route.ts";
import { caseRoutes } from "./operator/cases.ts";
import { contractRoutes } from "./operator/contracts.ts";
import { demandRoutes } from "./operator/demand.ts";
import { deskRoutes } from "./operator/desk.ts";
import { orchestrationRoutes } from "./operator/orchestration.ts";
import { policyRoutes } from "./operator/policies.ts";

export const operatorRoutes = [
  ...caseRoutes,
  ...demandRoutes,
  ...policyRoutes,
  ...contractRoutes,
  ...orchestrationRoutes,
  ...deskRoutes,
] as const satisfies readonly Route[];
