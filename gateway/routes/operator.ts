/** Owns the operator surface's table: every row that an operator's token can open, gathered from the folder beside it. */
import type { Route } from "../route.ts";
import { agentRoutes } from "./operator/agent.ts";
import { airportRoutes } from "./operator/airports.ts";
import { allocationRoutes } from "./operator/allocation.ts";
import { auditRoutes } from "./operator/audit.ts";
import { bookingRoutes } from "./operator/booking.ts";
import { caseRoutes } from "./operator/cases.ts";
import { contractDocumentRoutes } from "./operator/contract-documents.ts";
import { contractRoutes } from "./operator/contracts.ts";
import { demandRoutes } from "./operator/demand.ts";
import { deskRoutes } from "./operator/desk.ts";
import { groupRoutes } from "./operator/groups.ts";
import { hotelRoutes } from "./operator/hotels.ts";
import { lockRoutes } from "./operator/locks.ts";
import { metricsRoutes } from "./operator/metrics.ts";
import { notificationRoutes } from "./operator/notifications.ts";
import { orchestrationRoutes } from "./operator/orchestration.ts";
import { passengerFileRoutes } from "./operator/passenger-files.ts";
import { policyRoutes } from "./operator/policies.ts";
import { policySynthesisRoutes } from "./operator/policy-synthesis.ts";
import { reviewRoutes } from "./operator/review.ts";
import { revocationRoutes } from "./operator/revocations.ts";
import { transportRoutes } from "./operator/transport.ts";
import { webhookRoutes } from "./operator/webhooks.ts";

export const operatorRoutes = [
  ...caseRoutes,
  ...passengerFileRoutes,
  ...groupRoutes,
  ...lockRoutes,
  ...demandRoutes,
  ...allocationRoutes,
  ...policyRoutes,
  ...policySynthesisRoutes,
  ...contractRoutes,
  ...contractDocumentRoutes,
  ...hotelRoutes,
  ...bookingRoutes,
  ...airportRoutes,
  ...orchestrationRoutes,
  ...deskRoutes,
  ...reviewRoutes,
  ...agentRoutes,
  ...auditRoutes,
  ...metricsRoutes,
  ...revocationRoutes,
  ...transportRoutes,
  ...notificationRoutes,
  ...webhookRoutes,
] as const satisfies readonly Route[];
