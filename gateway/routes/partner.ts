/** Owns the partner surface's table (contract, "Partner API"). */
import Type from "typebox";
import { CaseOpened } from "../../schemas/case.ts";
import { pageOf } from "../../schemas/page.ts";
import {
  DisruptionPushBody,
  PartnerCaseListItem,
  PartnerCaseListQuery,
  PartnerCaseView,
  WebhookTestView,
} from "../../schemas/partner-api.ts";
import { Urn } from "../../schemas/urn.ts";
import type { Route } from "../route.ts";
import { partnerCaseRoutes } from "./partner/cases.ts";
import { partnerNotifyRoutes } from "./partner/notify.ts";
import { partnerReadRoutes } from "./partner/reads.ts";
import { partnerReplayRoutes } from "./partner-replay.ts";
import { partnerWebhookRoutes } from "./partner-webhooks.ts";

export const partnerRoutes = [
  {
    id: "pushDisruption",
    surface: "partner",
    method: "post",
    path: "/disruptions",
    prefixes: ["/partner/v1"],
    summary: "Push a confirmed disruption",
    description:
      "Opens a case. The same `externalEventId` gives the same case again. A passenger with missing fields is taken all the same and looked at by an operator.",
    scope: "disruptions.events.publish",
    rate: "write",
    body: DisruptionPushBody,
    bodyBytesMax: 8 * 1024 * 1024,
    command: "case.open",
    success: 202,
    response: CaseOpened,
    problems: ["conflict/concurrent-write"],
  },
  {
    id: "getPartnerCase",
    surface: "partner",
    method: "get",
    path: "/cases/{caseUrn}",
    prefixes: ["/partner/v1"],
    summary: "Read a case",
    description: "Its progress in counts.",
    scope: "cases.read",
    rate: "read",
    params: Type.Object({ caseUrn: Urn("case") }),
    query: "case.partner-view",
    success: 200,
    response: PartnerCaseView,
    problems: [],
  },
  {
    id: "listPartnerCases",
    surface: "partner",
    method: "get",
    path: "/cases",
    prefixes: ["/partner/v1"],
    summary: "List cases",
    description:
      "Of the registration's airline, newest first; with `from` or `to` by scheduled departure, the latest first.",
    scope: "cases.read",
    rate: "read",
    querystring: PartnerCaseListQuery,
    query: "case.partner-list",
    success: 200,
    response: pageOf(PartnerCaseListItem, "PartnerCasePage"),
    problems: [],
  },
  {
    id: "testWebhook",
    surface: "partner",
    method: "post",
    path: "/webhooks/test",
    prefixes: ["/partner/v1"],
    summary: "Send a test delivery",
    description: "To the registered address. A success enables a paused subscription again.",
    // Every scope that brings deliveries (contract, table of event types).
    scope: [
      "cases.events.subscribe",
      "disruptions.events.subscribe",
      "vouchers.read",
      "wallet.events.subscribe",
    ],
    rate: "write",
    command: "webhook.test",
    success: 200,
    response: WebhookTestView,
    problems: ["not-found/resource", "conflict/state"],
  },
  ...partnerCaseRoutes,
  ...partnerNotifyRoutes,
  ...partnerReadRoutes,
  ...partnerReplayRoutes,
  ...partnerWebhookRoutes,
] as const satisfies readonly Route[];
