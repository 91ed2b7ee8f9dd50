/** Owns the wire shape of a message that was sent to a passenger, as its readers see it: never the whole address. */
import Type, { type Static } from "typebox";
import { channels, Timestamp } from "./vocabulary.ts";

export const notificationTemplates = ["offer-ready", "stay-changed"] as const;
export type NotificationTemplate = (typeof notificationTemplates)[number];

export const NotificationView = Type.Object(
  {
    channel: Type.Enum([...channels]),
    template: Type.Enum([...notificationTemplates], { description: "What it was about." }),
    status: Type.Enum(["SENT"], { description: "SENT: taken by the carrier." }),
    recipient: Type.String({
      description: "Enough of the number or address to know it by.",
      examples: ["•••0142", "a•••@example.com"],
    }),
    sentAt: Timestamp,
  },
  { title: "Notification" },
);
export type NotificationView = Static<typeof NotificationView>;
