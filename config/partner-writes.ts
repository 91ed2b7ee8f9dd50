/** Owns the settings that bound what partners may write: priority requests, and messages to passengers. */
import Type from "typebox";

const daily = (byDefault: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 10_000, default: byDefault, description });

export const partnerWriteSettings = {
  PARTNER_PRIORITY_SHARE: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.05,
    description: "Of a case's groups, for how many a partner may ask for priority; for one at least.",
  }),
  PARTNER_PRIORITY_DAILY: daily(50, "How often a partner may ask for priority in any 24 hours."),
  PARTNER_NOTIFY_DAILY: daily(500, "How many messages a partner may have sent in any 24 hours."),
  PARTNER_NOTIFY_PASSENGER_DAILY: daily(
    5,
    "How many messages partners may have sent to one passenger in any 24 hours.",
  ),
};
