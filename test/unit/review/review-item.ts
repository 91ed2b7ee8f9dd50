// A review item for the tables: who works on it, the commands that reach it, and how it stands after them.
import { decideReview } from "../../../actors/review/decide.ts";
import { evolveReview, type ReviewItem } from "../../../actors/review/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { Principal } from "../../../schemas/command.ts";
import type { OpenReview } from "../../../schemas/review.ts";

export const start = new Date("2026-11-21T21:00:00.000Z");
export const minutesLater = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
export const caseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";

export const failed: OpenReview = {
  caseId,
  airport: "JFK",
  category: "BOOKING_FAILED",
  origin: "booking",
  detail: "Every hotel refused.",
  attemptedHotels: [{ hotelUrn: "urn:hotel:jfk-garden-court", reason: "sold out" }],
  affectedGroups: ["G1", "G2"],
};

export const system: Principal = { surface: "system", tenant: "XN", urn: "urn:user:system-case" };
export const ana: Principal = {
  surface: "operator",
  tenant: "XN",
  urn: "urn:user:ana",
  role: "AIRPORT_OPERATOR",
};
export const ben: Principal = { ...ana, urn: "urn:user:ben" };
export const atLax: Principal = { ...ana, urn: "urn:user:lax", airport: "LAX" };
export const atJfk: Principal = { ...ana, urn: "urn:user:jfk", airport: "JFK" };

export const command = (name: string, data: unknown = {}, principal = system, now = start): Received => ({
  id: "c1",
  name: `review.${name}`,
  tenant: "XN",
  entity: "",
  principal,
  correlationUrn: "urn:correlation:x",
  traceparent: "00-0-0-01",
  issuedAt: now.toISOString(),
  data,
  now,
});

export const after = (...commands: Received[]): ReviewItem | undefined =>
  commands.reduce<ReviewItem | undefined>(
    (state, each) => decideReview(state, each).reduce<ReviewItem | undefined>(evolveReview, state),
    undefined,
  );
export const done = { resolution: "REBOOKED", reason: "Found a room by phone" };
export const opened = command("open", failed);
export const claimed = command("claim", {}, ana);
export const resolved = command("resolve", done, ana);

export const housed = (groupId: string) => command("note-group-housed", { groupId });
export const changed = (verb: "withdraw" | "reinstate", minutes: number, toldAt = minutes) => {
  const changedAt = minutesLater(minutes).toISOString();
  const data = verb === "withdraw" ? { reason: "All are home", changedAt } : { changedAt };
  return command(verb, data, system, minutesLater(toldAt));
};
export const withdraw = changed("withdraw", 0);
