// An event of one evening, for the tables of what webhooks make of it.
export const now = new Date("2026-11-21T20:00:00.000Z");
export const later = (ms: number, from: Date = now): Date => new Date(from.getTime() + ms);
export const dayMs = 86_400_000;

export const event = {
  urn: "urn:event:XN-E",
  type: "subcase.offer-ready",
  occurred_at: now.toISOString(),
  tenant: "urn:airline:XN",
  case_urn: "urn:case:XN-C",
  correlation_urn: "urn:correlation:c",
  traceparent: "00-1-1-01",
  data: { rooms: 2 },
};
