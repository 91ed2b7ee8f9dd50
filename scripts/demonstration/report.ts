/** Owns what the demo prints: the timeline of the case, and what the partner's receiver got. */
import { publicEventTypes } from "../../schemas/events.ts";
import type { DemoAirline } from "./provision.ts";
import type { Timeline } from "./timeline.ts";

/** Event and step names in the order of a night, with the words for a person. */
const rows: [string, string][] = [
  ["case.opened", "case opened, every passenger owned"],
  ["demand.approved", "rooms approved by policy"],
  ["subcase.processing", "groups assigned to hotels"],
  ["graph.step-completed hold", "rooms held"],
  ["graph.step-completed book", "rooms booked"],
  ["graph.step-completed voucher", "vouchers issued"],
  ["graph.step-completed card", "cards issued"],
  ["graph.step-completed transport", "rides booked"],
  ["graph.step-completed notify", "passengers told"],
  ["subcase.offer-ready", "offers ready"],
  ["subcase.failed", "groups without a room"],
  ["review.opened", "manual review items"],
  ["subcase.resolved", "offers accepted"],
  ["subcase.declined", "offers declined"],
  ["graph.step-completed cancel-room", "rooms given back"],
  ["case.resolved", "case resolved"],
];

const offset = (ms: number): string => `${(ms / 1000).toFixed(2).padStart(7)} s`;

export const printTimeline = (
  say: (line: string) => void,
  timeline: Timeline,
  facts: { acceptedMs: number; caseUrn: string; subCaseCount: number; accepted: number; declined: number },
): void => {
  say("");
  say(`  ${"step".padEnd(36)} ${"first".padStart(9)} ${"last".padStart(9)}  count`);
  say(
    `  ${"push answered".padEnd(36)} ${offset(facts.acceptedMs)} ${offset(facts.acceptedMs)}  ${facts.subCaseCount} groups`,
  );
  for (const [name, words] of rows) {
    const seen = timeline.seen(name);
    if (seen === undefined) continue;
    say(`  ${words.padEnd(36)} ${offset(seen.firstMs)} ${offset(seen.lastMs)}  ${seen.count}`);
  }
  say("");
  say(
    `  ${facts.caseUrn}: ${facts.accepted} offers accepted, ${facts.declined} declined through the passenger API`,
  );
};

interface Delivery {
  path: string;
  verified: boolean;
  eventType: string | null;
  duplicate: boolean;
}

/** Waits until the receiver holds every event that the partner may hear of, then says how they were verified. */
export const printWebhooks = async (of: {
  sandboxControlUrl: string;
  airline: DemoAirline;
  timeline: Timeline;
  say: (line: string) => void;
  signal: AbortSignal;
}): Promise<void> => {
  const { timeline, airline, say, signal } = of;
  const path = airline.partners[0]?.clientId;
  // Counted at each look: what follows from a decline comes after the case is resolved.
  const expected = (): number => [...publicEventTypes].reduce((sum, type) => sum + timeline.count(type), 0);
  let deliveries: Delivery[] = [];
  for (let look = 0; look < 50 && deliveries.length < expected(); look++) {
    const answer = await fetch(new URL("/ledger/receiver", of.sandboxControlUrl), { signal });
    const ledger = (await answer.json()) as { deliveries: Delivery[] };
    deliveries = ledger.deliveries.filter((delivery) => delivery.path === path);
    if (deliveries.length < expected()) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const verified = deliveries.filter((delivery) => delivery.verified).length;
  say(`  webhooks: ${deliveries.length} of ${expected()} received by ${path}, ${verified} verified`);
};
