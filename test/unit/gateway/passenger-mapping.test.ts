// What each event of the log tells passengers, and of whom; what waits on a stream, and how much may.
import t from "tap";
import { heardOf, passengerHeardTypes, subCaseOf } from "../../../gateway/live/passenger-mapping.ts";
import { EventQueue, waitingBytesMax, waitingMax } from "../../../gateway/live/passenger-queue.ts";
import { liveTypes } from "../../../gateway/live/types.ts";
import { ada, at, eventOf, group } from "../../harness/stream-process.ts";

t.test("what each event tells passengers", async (t) => {
  const money = { amountMinor: 500, currency: "USD" };
  const segment = {
    ...{ segmentUrn: "urn:segment:XN-1", direction: "AIRPORT_TO_HOTEL", vehicleType: "SHUTTLE" },
    ...{ scheduledAt: at, passengers: 2, status: "booked" },
  };
  const offer = { name: "offer.updated", data: { at }, showsOffer: true };
  const ride = {
    name: "transport.updated",
    data: {
      ...{ at, segmentUrn: "urn:segment:XN-1", direction: "AIRPORT_TO_HOTEL", status: "booked" },
      ...{ vehicleType: "SHUTTLE", pickupAt: at },
    },
    showsOffer: false,
  };
  const voucher = { voucherUrn: "urn:voucher:XN-1" };
  const table: [string, Record<string, unknown>, unknown][] = [
    ["subcase.state-changed", { offer: "READY", offerBefore: "PENDING" }, [offer]],
    [
      "subcase.state-changed",
      { offer: "WITHDRAWN", offerBefore: "READY" },
      [{ ...offer, name: "offer.withdrawn" }],
    ],
    ["subcase.state-changed", { offer: "WITHDRAWN", offerBefore: "WITHDRAWN" }, [offer]],
    ["subcase.offer-changed", {}, [offer]],
    ["subcase.members-changed", {}, "members-changed"],
    [
      "voucher.issued",
      { ...voucher, checkIn: "2026-11-21", checkOut: "2026-11-22", rooms: 1, hotelUrn: "urn:hotel:1" },
      [
        {
          name: "voucher.updated",
          data: { at, ...voucher, status: "ISSUED", checkIn: "2026-11-21", checkOut: "2026-11-22" },
          showsOffer: false,
        },
      ],
    ],
    [
      "voucher.amended",
      { ...voucher, status: "VOID", reason: "The hotel has cancelled the booking." },
      [{ name: "voucher.updated", data: { at, ...voucher, status: "VOID" }, showsOffer: false }],
    ],
    [
      "wallet.card-issued",
      { last4: "4242", balance: money },
      [{ name: "wallet.updated", data: { at, last4: "4242", balance: money }, showsOffer: false }],
    ],
    [
      "wallet.card-tx",
      { last4: "4242", balance: money, kind: "SETTLEMENT", amount: money },
      [
        {
          name: "wallet.updated",
          data: { at, last4: "4242", balance: money, kind: "SETTLEMENT", amount: money },
          showsOffer: false,
        },
      ],
    ],
    [
      "graph.step-completed",
      { name: "cancel-card", result: "DONE" },
      [{ name: "wallet.updated", data: { at }, showsOffer: false }],
    ],
    ["graph.step-completed", { name: "load-card", result: "FAILED" }, []],
    ["graph.step-completed", { name: "book", result: "DONE" }, []],
    [
      "segment.sought",
      { ...segment, status: "pending" },
      [{ ...ride, data: { ...ride.data, status: "pending" } }],
    ],
    ["segment.booked", segment, [ride]],
    ["segment.kept", segment, [ride]],
    [
      "segment.declined",
      { ...segment, status: "declined" },
      [{ ...ride, data: { ...ride.data, status: "declined" } }],
    ],
    [
      "segment.cancelled",
      { ...segment, status: "cancelled" },
      [{ ...ride, data: { ...ride.data, status: "declined" } }],
    ],
    [
      "notification.dispatched",
      { channel: "SMS", templateId: "offer-ready", recipient: "•••0143", messageUrn: "urn:message:XN-1" },
      [
        {
          name: "notification.sent",
          data: { at, channel: "SMS", template: "offer-ready", recipient: "•••0143" },
          showsOffer: false,
        },
      ],
    ],
    ["subcase.lock-changed", { lockedBy: "urn:user:1" }, []],
    ["operator.alerted", { kind: "offer-declined" }, []],
  ];
  for (const [type, data, expected] of table) t.same(heardOf(eventOf(type, data)), expected, type);
  t.same(
    new Set(table.map(([type]) => type).filter((type) => passengerHeardTypes.includes(type))),
    new Set(passengerHeardTypes),
    "every type stands here",
  );
  for (const type of passengerHeardTypes)
    t.ok(liveTypes.EVENTS.includes(type) || liveTypes.INTERNAL.includes(type), `${type} is read`);
  t.match(heardOf(eventOf("notification.dispatched", { onlyFor: ada })), [{ onlyFor: ada }]);
  t.equal(subCaseOf(eventOf("voucher.issued")), group);
  t.equal(subCaseOf({ ...eventOf("case.opened"), data: {} }), undefined);
});

t.test("what waits is bounded, and taken in one piece", async (t) => {
  let ends = 0;
  const made = () => new EventQueue(() => ends++);
  const queue = made();
  const first = queue.next();
  queue.push("a");
  queue.push("b");
  queue.push("c");
  t.same(await first, { done: false, value: "a" });
  t.same(await queue.next(), { done: false, value: "bc" });
  queue.push("d");
  queue.end();
  queue.end();
  t.equal(queue.push("e"), true, "nothing comes after the end");
  t.same(await queue.next(), { done: false, value: "d" });
  t.same(await queue.next(), { done: true, value: undefined });
  t.equal(ends, 1);
  const slow = made();
  for (let n = 0; n < waitingMax; n++) t.equal(slow.push("x"), true);
  t.equal(slow.push("x"), false);
  t.same(await slow.next(), { done: true, value: undefined }, "and holds nothing any more");
  const heavy = made();
  heavy.push("x".repeat(waitingBytesMax));
  t.equal(heavy.push("x"), false);
  const gone = made();
  const pending = gone.next();
  await gone.return();
  t.same(await pending, { done: true, value: undefined }, "who waits is told");
});
