// Passengers' streams without a server: whoever joins, follows or comes back hears each event once, in order; how streams end.
import fc from "fast-check";
import t from "tap";
import type { PastEntry } from "../../../gateway/live/passenger-past.ts";
import { waitingMax } from "../../../gateway/live/passenger-queue.ts";
import { placeIn } from "../../../gateway/live/passenger-stream.ts";
import type { Position } from "../../../gateway/live/position.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import {
  ada,
  aProcess,
  at,
  bob,
  caseId,
  changed,
  clientOf,
  eventOf,
  type Frame,
  group,
  names,
  opened,
  other,
  turn,
} from "../../harness/stream-process.ts";

t.test("a group's streams hear what is theirs, each event once, with one read for all", async (t) => {
  const it = aProcess();
  const [first, second] = [await opened(it), await opened(it, bob)];
  it.moveTo({ [ada]: group, [bob]: group, stranger: other });
  const stranger = await opened(it, "stranger");
  t.same(names((await first()).frames), ["snapshot"]);
  t.same(names((await second()).frames), ["snapshot"]);
  t.same(names((await stranger()).frames), ["snapshot"]);
  const before = it.reads.length;
  it.tell("INTERNAL", changed());
  it.tell("EVENTS", eventOf("voucher.issued", { voucherUrn: "urn:voucher:XN-1" }));
  it.tell("INTERNAL", eventOf("notification.dispatched", { channel: "SMS", onlyFor: ada }));
  it.tell("INTERNAL", eventOf("subcase.lock-changed"));
  it.tell("EVENTS", { ...eventOf("case.opened"), data: {} });
  const heard = (await first()).frames;
  t.same(names(heard), ["offer.updated", "voucher.updated", "notification.sent"]);
  t.match(heard[0]?.data, { at, offer: { state: "READY" } });
  t.same(
    names((await second()).frames),
    ["offer.updated", "voucher.updated"],
    "another's message is not told",
  );
  t.same((await stranger()).frames, []);
  t.same(it.reads.slice(before), [group]);
  const release = it.hold();
  for (const state of ["READY", "ACCEPTED", "READY"]) it.tell("INTERNAL", changed(state));
  release();
  const together = [...(await first()).frames, ...(await second()).frames];
  t.equal(together.length, 6);
  t.same(
    together.map(({ data }) => data.offer !== undefined),
    [true, false, true, true, false, true],
    "of those that are told together the last shows the offer",
  );
  t.notMatch(JSON.stringify(heard), /airport|groupId|messageUrn/, "only what is theirs to know");
});

t.test("who comes back hears what it has missed, and nothing twice", async (t) => {
  const it = aProcess();
  const first = await opened(it);
  it.tell("INTERNAL", changed());
  it.tell("EVENTS", eventOf("voucher.issued", { voucherUrn: "urn:voucher:XN-1" }));
  it.tell("INTERNAL", changed("ACCEPTED"));
  const { frames } = await first();
  t.equal(frames.length, 4);
  for (const [i, { id = "" }] of frames.entries()) {
    const again = await opened(it, ada, id);
    t.same(
      (await again()).frames.map((one) => one.id),
      frames.slice(i + 1).map((one) => one.id),
      `after ${i}`,
    );
  }
  const last = frames.at(-1)?.id ?? "";
  for (const [what, id] of [
    ["another group's place", last.replace(/.$/, (sign) => (sign === "0" ? "1" : "0"))],
    ["no place", "nonsense"],
    ["a place of the future", last.replace(/^\d+/, "99999")],
    ["a bare place", last.split("-")[0] ?? ""],
    ["an endless one", `${"9".repeat(60)}.1-00000000`],
  ] as const)
    t.same(names((await (await opened(it, ada, id))()).frames), ["snapshot"], what);
  t.equal(placeIn(last, other), undefined);
});

t.test("what has left the memory is read from the log, or told as a whole", async (t) => {
  const it = aProcess();
  const first = await opened(it);
  it.tell("INTERNAL", changed());
  const place = (await first()).frames[0]?.id ?? "";
  it.ring.beginAt({ EVENTS: 9, INTERNAL: 9 });
  t.same(names((await (await opened(it, ada, place))()).frames), ["snapshot"], "nobody can tell");
  const step = (INTERNAL: number, event: EventRecord): PastEntry => ({
    position: { EVENTS: 0, INTERNAL } as Position,
    event: () => event,
  });
  it.remember([step(1, changed()), step(2, eventOf("subcase.lock-changed")), step(3, changed("ACCEPTED"))]);
  const back = (await (await opened(it, ada, place))()).frames;
  t.same(
    back.map(({ event, id }) => [event, id?.split("-")[0]]),
    [
      ["offer.updated", "0.1"],
      ["offer.updated", "0.3"],
    ],
  );
  it.remember([step(1, changed()), step(2, eventOf("subcase.members-changed"))]);
  t.same(names((await (await opened(it, ada, place))()).frames), ["snapshot"], "the group is another one");
});

t.test("a stream follows its passenger into another group", async (t) => {
  const it = aProcess();
  const [first, second] = [await opened(it), await opened(it, bob)];
  await first();
  await second();
  it.moveTo({ [ada]: group });
  it.tell("INTERNAL", eventOf("subcase.members-changed"));
  t.match((await first()).frames, [{ event: "snapshot", data: { me: { groupId: group } } }]);
  t.same((await second()).frames, [], "where it is going is not known yet");
  it.moveTo({ [ada]: group, [bob]: other });
  it.tell("INTERNAL", changed("READY", other));
  const until = Date.now() + 5000;
  let frames: Frame[] = [];
  while (frames.length === 0 && Date.now() < until) frames = (await second()).frames;
  t.match(frames[0], { event: "snapshot", data: { me: { groupId: other } } });
  it.tell("INTERNAL", changed());
  t.same(names((await first()).frames), ["offer.updated"]);
  t.same((await second()).frames, [], "the former group's are not told");
  it.tell("INTERNAL", changed("ACCEPTED", other));
  t.same(names((await second()).frames), ["offer.updated"]);
});

t.test("how streams end", async (t) => {
  const it = aProcess();
  const closing = await opened(it);
  it.closings.set(caseId, { closedAt: new Date(at), open: false });
  it.hears.change("XN-ANOTHER");
  t.same((await closing()).ended, false);
  it.hears.change(caseId);
  t.match(await closing(), {
    frames: [
      { event: "snapshot" },
      { event: "offer.withdrawn", data: {} },
      { event: "session.revoked", data: { reason: "CASE_CLOSED" } },
    ].slice(1),
    ended: true,
  });
  it.closings.clear();
  const revoked = it.session();
  const stream = clientOf((await it.streams.open(revoked, "")).queue);
  await stream();
  it.withdrawn.add(revoked.presented.tokenId);
  it.hears.withdrawal();
  t.match(await stream(), {
    frames: [{ event: "session.revoked", data: { reason: "REVOKED" } }],
    ended: true,
  });
  const late = await it.streams.open(revoked, "");
  t.match(
    (await clientOf(late.queue)()).frames.at(-1),
    { event: "session.revoked" },
    "withdrawn while it began",
  );
  const old = it.session(ada, Date.parse(at) - 7 * 86_400_000);
  const expired = clientOf((await it.streams.open(old, "")).queue);
  const until = Date.now() + 5000;
  let last: Frame | undefined;
  while (last?.event !== "session.revoked" && Date.now() < until)
    last = (await expired()).frames.at(-1) ?? last;
  t.match(last, { data: { reason: "EXPIRED" } });
  const gone = await it.streams.open(it.session(), "");
  await gone.queue.return();
  t.equal(it.streams.size, 0, "nothing of them is left");
  const stopping = await opened(it);
  it.streams.close();
  t.match(await stopping(), { frames: [{ event: "snapshot" }], ended: true });
  await t.rejects(it.streams.open(it.session(), ""), { code: "upstream/unavailable" });
});

t.test("limits: of a session, of a process, of a reader that takes nothing", async (t) => {
  const it = aProcess({ ofSession: 2, ofProcess: 3 });
  const one = it.session();
  const [first] = [await it.streams.open(one, ""), await it.streams.open(one, "")];
  await t.rejects(it.streams.open(one, ""), { code: "rate/exceeded", members: { retryAfterSeconds: 15 } });
  const reading = await opened(it, bob);
  await t.rejects(it.streams.open(it.session(), ""), { code: "upstream/unavailable" });
  await first?.queue.return();
  await it.streams.open(one, "");
  const sent: Frame[] = [];
  for (let n = 0; n < waitingMax + 20; n++) {
    it.tell("EVENTS", eventOf("wallet.card-tx", { kind: "SETTLEMENT" }));
    sent.push(...(await reading()).frames);
  }
  t.equal(names(sent).filter((name) => name === "wallet.updated").length, waitingMax + 20);
  t.equal(new Set(sent.map(({ id }) => id)).size, sent.length);
  t.equal(it.streams.size, 1, "who has taken nothing is cut off");
  it.moveTo({});
  await t.rejects(it.streams.open(it.session(), ""), { code: "not-found/resource" });
  t.equal(it.streams.size, 1, "who is refused takes no place");
});

t.test("whatever comes in between, each event is told once and in order", async () => {
  const step = fc.constantFrom("tell", "tell other", "open", "hold", "release", "take", "back");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const it = aProcess({ ofSession: 100, ofProcess: 1000 });
      const clients: { from: number; frames: Frame[]; take: () => Promise<void> }[] = [];
      const joining: Promise<unknown>[] = [];
      let told = 0;
      let release = () => {};
      const open = (from: number, lastEventId: string, frames: Frame[]) => {
        const begun = it.streams.open(it.session(), lastEventId).then(({ queue }) => {
          const client = clientOf(queue);
          const take = async () => void frames.push(...(await client()).frames);
          clients.push({ from, frames, take });
        });
        joining.push(begun);
      };
      for (const one of steps) {
        if (one === "tell") {
          const type = told % 3 === 0 ? "subcase.offer-changed" : "wallet.card-tx";
          const event = { ...eventOf(type), occurred_at: `${++told}` };
          it.tell(told % 2 === 0 ? "EVENTS" : "INTERNAL", event);
        }
        if (one === "tell other") it.tell("INTERNAL", changed("READY", other));
        if (one === "open") open(told, "", []);
        if (one === "hold") {
          release();
          release = it.hold();
        }
        if (one === "release") release();
        if (one === "take") for (const client of clients) await client.take();
        const [left] = one === "back" ? clients.splice(0, 1) : [];
        // Who has received nothing begins anew.
        const place = left?.frames.at(-1)?.id;
        if (left !== undefined) open(place === undefined ? told : left.from, place ?? "", left.frames);
        await turn();
      }
      release();
      await Promise.all(joining);
      for (const client of clients) await client.take();
      for (const { from, frames } of clients) {
        const heard = frames.filter(({ event }) => event !== "snapshot").map(({ data }) => Number(data.at));
        const expected = Array.from({ length: told - from }, (_, i) => from + 1 + i);
        if (JSON.stringify(heard) !== JSON.stringify(expected))
          throw new Error(`${heard} of ${from + 1} to ${told}`);
      }
      it.streams.close();
    }),
    { numRuns: 150, seed: 8 },
  );
});
