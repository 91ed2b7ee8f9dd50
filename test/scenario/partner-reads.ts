// What is read of people and rooms and what never is, the feed of disruptions, how available the service was, and one event pushed five
// hundred times at once.
import type { Test } from "tap";
import { noteAvailability } from "../../actors/metrics/availability.ts";
import type { ActorContext } from "../../actors/runtime/host.ts";
import type { AvailabilityView } from "../../schemas/availability.ts";
import type { Command, Page } from "../../schemas/command.ts";
import type { DisruptionFeed } from "../../schemas/partner-disruptions.ts";
import type {
  PartnerBooking,
  PartnerPassenger,
  PartnerPolicy,
  PartnerServices,
  PartnerVoucher,
  PassengerCase,
} from "../../schemas/partner-reads.ts";
import { smallFlight } from "../harness/instance.ts";
import { ago, inHours, type PartnerNight, traveller } from "./partner-night.ts";

const isSecret = /contact|@example\.com|specialReq|Minor|currency|vendor|lockedBy|sandbox/i;

export const partnerReads = (
  t: Test,
  { night, token, foreign, supervisor, push, read, tonight, services }: PartnerNight,
): void => {
  const [xn, qz] = night.airlines;
  const { events } = night;

  t.test("who is stranded and what they have got, and nothing that is not a partner's", async (t) => {
    const { items } = await read<Page<PartnerPassenger>>("listPartnerPassengers", { caseUrn: tonight });
    t.equal(items.length, 4, "three bookings, one of them of two");
    t.match(items[0], { lastName: /Traveller/, cabinClass: "ECONOMY", operationalStatus: "OFFER_READY" });
    t.equal(services.length, 3);
    for (const { booking, voucher, rides } of services) {
      t.match(booking, { status: "CONFIRMED", nights: 1, rooms: 1 });
      t.match(voucher, { status: "ISSUED" });
      t.strictSame(rides.map(({ direction }) => direction).sort(), ["AIRPORT_TO_HOTEL", "HOTEL_TO_AIRPORT"]);
    }
    const [{ booking, voucher, groupId } = {} as PartnerServices] = services;
    const bookingUrn = booking?.urn ?? "";
    const shown = await read<PartnerBooking>("getPartnerBooking", { bookingUrn });
    t.match(shown, {
      urn: bookingUrn,
      groupId,
      caseUrn: tonight,
      confirmationNumber: /./,
      voucherUrn: voucher?.urn,
    });
    const byReservation = bookingUrn.replace("urn:booking:", "urn:reservation:");
    t.strictSame(await read("getPartnerBooking", { bookingUrn: byReservation }), shown);
    const [passengerUrn = ""] = shown.passengerUrns;
    const code = await read<PartnerVoucher>("getPartnerVoucher", { voucherUrn: voucher?.urn ?? "" });
    t.match(code, { bookingUrn, code: /./, status: "ISSUED", passengerUrns: shown.passengerUrns });
    const cases = await read<Page<PassengerCase>>("listPassengerCases", { passengerUrn });
    t.match(cases.items, [{ urn: tonight, groupId, operationalStatus: "OFFER_READY" }]);
    t.strictSame((await read<Page<PartnerVoucher>>("listPassengerVouchers", { passengerUrn })).items, [code]);
    const policies = (await read<Page<PartnerPolicy>>("listPartnerPolicies")).items;
    t.ok(policies.length > 0);
    for (const told of [items, services, shown, code, cases, policies])
      t.notMatch(JSON.stringify(told), isSecret);
    t.notMatch(
      JSON.stringify(policies),
      /maxNightlyRate|excludedChains|allowProviders|Weight|autoApprove|incidentals/,
    );
    t.notMatch(JSON.stringify(services), /confirmationNumber|"code"/, "what opens a door has its own scope");
  });

  t.test("people are told page by page, and a read that has not changed spares its body", async (t) => {
    const params = { caseUrn: tonight };
    const all = (await read<Page<PartnerPassenger>>("listPartnerPassengers", params)).items;
    const walked: PartnerPassenger[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<PartnerPassenger> = await read("listPartnerPassengers", params, {
        limit: 1,
        ...(cursor && { cursor }),
      });
      walked.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    t.strictSame(walked, all);
    const first = await night.call("listPartnerPassengers", { token, params });
    const headers = { "If-None-Match": first.headers.etag ?? "" };
    t.equal((await night.call("listPartnerPassengers", { token, params, headers })).status, 304);
  });

  t.test("drills and figures outside the catalogue don't exist for partners", async (t) => {
    const admin = await night.operatorToken(xn.urn, "ADMIN");
    const { flight } = smallFlight("XN", "drill", 0);
    const drill = await night.call<{ caseUrn: string }>("openCaseManually", {
      token: admin,
      body: {
        ...{
          externalEventId: "XN-drill",
          kind: "DRILL",
          passengerGroups: [{ passengers: [traveller("DRILL1", "Drake")] }],
        },
        flight: {
          number: "XN9",
          origin: "JFK",
          destination: "LIS",
          scheduledDeparture: flight.scheduledDeparture,
        },
      },
    });
    const params = { caseUrn: drill.body.caseUrn };
    const body = { decidedAt: ago(1), passengers: [traveller("DRILL2", "Drake")] };
    for (const [id, call] of [
      ["listPartnerPassengers", { params }],
      ["listPartnerServices", { params }],
      ["amendManifest", { params, body }],
      ["requestPriority", { params, body: { groupIds: ["G1"], reason: "VIP" } }],
    ] as const)
      t.match(await night.refused(id, { token, ...call }), { status: 404 }, id);
    const namesake = { ...smallFlight("XN", "drill", 1), externalEventId: "DRILL:XN-drill" };
    const refusal = await night.refused("pushDisruption", { token, body: namesake });
    t.match(refusal, { status: 422, errors: [{ pointer: "/externalEventId" }] }, "nor by the name of one");
    const query = { kpi: "pilots.asleep", from: ago(120), to: ago(1) };
    const unknown = await night.refused("getPartnerMetrics", { token, query });
    t.match(unknown, {
      status: 422,
      type: /validation\/kpi$/,
      errors: [{ pointer: "?kpi", detail: /rooms\.booked/ }],
    });
    const opened = { kpi: "cases.opened", from: ago(120), to: inHours(1), airport: "JFK" };
    await night.eventually(
      "the night counts in the figures",
      () => read<{ points: { value: number }[] }>("getPartnerMetrics", {}, opened),
      ({ points }) => (points[0]?.value ?? 0) >= 1,
    );
  });

  t.test("the feed is read on from where it was left, and misses nothing", async (t) => {
    const feed = (query = {}) => read<DisruptionFeed>("listDisruptions", {}, query);
    const since = ago(5);
    const before = await feed({ since });
    t.ok(before.items.some(({ type, case_urn }) => type === "case.opened" && case_urn === tonight));
    t.notMatch(JSON.stringify(before.items), /traceparent|urn:case:QZ/);
    t.strictSame((await feed({ cursor: before.resumeCursor })).items, [], "nothing has come since");
    const added = [await push("feed-a", 1, "LHR"), await push("feed-b", 1, "LHR")];
    for (const caseUrn of added) await events.untilCount("case.opened", 1, { caseUrn });
    const opened = ({ items }: DisruptionFeed) =>
      items.flatMap(({ type, case_urn = "" }) => (type === "case.opened" ? [case_urn] : []));
    const after = await feed({ cursor: before.resumeCursor });
    t.strictSame(opened(after).sort(), [...added].sort());
    const [first] = after.items;
    const behind = await feed({ since: first?.urn });
    t.strictSame(behind.items, after.items.slice(1), "behind an event that was seen");
    const walked: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await feed({ limit: 1, ...(cursor === undefined ? { since } : { cursor }) });
      walked.push(...opened(page));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    t.strictSame(walked, [...opened(before), ...opened(after)], "page by page, in the same order");
    const refused = async (query: Record<string, string>, asker = token) =>
      night.refused("listDisruptions", { token: asker, query });
    t.match(await refused({ since: ago(8 * 24 * 60) }), { status: 422, type: /replay-window$/ });
    const old = first?.urn.replace(/-0\w{9}/, "-01J0000000") ?? "";
    t.match(await refused({ since: old }), { status: 422, type: /replay-window$/ }, "an event of long ago");
    t.match(await refused({ since: first?.urn ?? "" }, foreign), { status: 403, type: /foreign-tenant$/ });
    const nobodys = `${first?.urn.slice(0, -4)}ZZZZ`;
    t.match(await refused({ since: nobodys }), { status: 404 });
    t.match(await refused({ since: "yesterday" }), { status: 400 });
    t.match(await refused({ cursor: "MTA".repeat(9) }), { status: 400 });
    const foreigners = await night.call<DisruptionFeed>("listDisruptions", {
      token: foreign,
      query: { since },
    });
    t.notMatch(JSON.stringify(foreigners.body), /:XN/);
  });

  t.test("what gateways have counted is told once, by tier, beside the contract's targets", async (t) => {
    const note = noteAvailability({ documents: night.documents } as ActorContext);
    const counts = [
      { tier: 1, rate: "read", requests: 2000, failed: 1 },
      { tier: 3, rate: "write", requests: 4, failed: 1 },
    ];
    const minutes = [{ at: ago(3), counts }];
    const told = (gateway: string) => ({ tenant: "XN", data: { gateway, minutes } }) as unknown as Command;
    const nothing = async () => ({ ok: null });
    for (const gateway of ["a", "a", "b"]) await note(told(gateway), nothing);
    const query = { from: ago(4), to: ago(2) };
    const seen = await night.call<AvailabilityView>("getPartnerAvailability", { token: supervisor, query });
    t.match(seen.body.tiers, [
      {
        tier: 1,
        reads: { requests: 4000, failed: 2, availability: 0.9995, target: 0.9995 },
        writes: { availability: null },
      },
      { tier: 2, reads: { requests: 0, availability: null } },
      { tier: 3, writes: { requests: 8, failed: 2, availability: 0.75 } },
    ]);
    t.notOk("target" in (seen.body.tiers[2]?.writes ?? {}), "tier 3 has no write target");
    const other = await night.operatorToken(qz.urn, "OPS_SUPERVISOR");
    const foreigners = await night.call<AvailabilityView>("getPartnerAvailability", { token: other, query });
    t.ok(foreigners.body.tiers.every(({ reads }) => reads.requests === 0));
    const long = { from: ago(40 * 24 * 60), to: ago(1) };
    t.match(await night.refused("getPartnerAvailability", { token: supervisor, query: long }), {
      status: 400,
    });
  });

  t.test("five hundred of the same push at once make one case", async (t) => {
    const body = smallFlight("XN", "crowd", 2);
    const told = await Promise.all(Array.from({ length: 500 }, () => night.pushed(xn, body)));
    t.equal(new Set(told.map(({ body: { caseUrn } }) => caseUrn)).size, 1);
    t.ok(told.every(({ status }) => status === 202));
    const { items } = await read<Page<{ externalEventId: string }>>("listPartnerCases", {}, { limit: 200 });
    t.equal(items.filter(({ externalEventId }) => externalEventId === body.externalEventId).length, 1);
  });
};
