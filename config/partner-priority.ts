/** Owns the settings that bound partners' priority requests. */
import Type from "typebox";

export const partnerPrioritySettings = {
  PARTNER_PRIORITY_SHARE: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.05,
    description: "Of a case's groups, for how many a partner may ask for priority; for one at least.",
  }),
  PARTNER_PRIORITY_DAILY: Type.Integer({
    minimum: 0,
    maximum: 100_000,
    default: 50,
    description: "How often a day (UTC) a partner may ask for priority.",
  }),
};
