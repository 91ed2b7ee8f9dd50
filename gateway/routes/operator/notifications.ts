/** Owns the operator rows about messages to passengers (contract, "Notifications"): the log, and sending by hand. */
import Type from "typebox";
import {
  NotificationRecord,
  NotificationsSent,
  SendNotificationBody,
} from "../../../schemas/notification.ts";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

export const notificationRoutes = [
  {
    id: "listNotifications",
    surface: "operator",
    method: "get",
    path: "/notifications/case/{caseUrn}",
    prefixes: ["/v1"],
    summary: "List the messages to a case's passengers",
    description: "Whatever was sent, is being sent or could not be, newest first; recipients are masked.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: caseParams,
    querystring: Type.Object(PageQuery),
    query: "message.of-case",
    success: 200,
    response: pageOf(NotificationRecord, "NotificationRecordPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    id: "sendNotification",
    surface: "operator",
    method: "post",
    path: "/notifications/{caseUrn}/send",
    prefixes: ["/v1"],
    summary: "Send a message by hand",
    description:
      "From a template, in the passenger's language. Each message is tried by SMS, WhatsApp and e-mail, as the passenger has them, until a carrier has taken it; who has opted out of a channel is not written to in it. Passed over, with the reason, is who has nothing that the template tells of, and who has been sent the same less than a minute ago or still has it on its way. It goes on behind the answer, which shows the first 200 messages.",
    role: "AIRPORT_OPERATOR",
    rate: "write",
    params: caseParams,
    body: SendNotificationBody,
    command: "message.send-manually",
    success: 202,
    response: NotificationsSent,
    problems: ["auth/foreign-airport", "not-found/resource", "conflict/state", "conflict/concurrent-write"],
  },
] as const satisfies readonly Route[];
