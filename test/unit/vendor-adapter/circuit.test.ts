// A vendor that keeps failing is let alone for a while; a real clock, short times.
import { once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import { pino } from "pino";
import t from "tap";
import { behindCircuit } from "../../../actors/vendor-adapter/circuit.ts";
import type { CallContext } from "../../../actors/vendor-adapter/ports.ts";
import { trace } from "../../harness/given.ts";

const context: CallContext = { traceparent: trace.traceparent };
const log = pino({ level: "silent" });
const settings = { openMs: 200, callsMin: 4, windowMs: 60_000 };
const done = { outcome: "done" };
const away = { outcome: "unavailable", detail: "ECONNREFUSED" };
const lost = { outcome: "in-doubt", detail: "no answer" };
const no = { outcome: "refused", code: "SOLD_OUT", detail: "No rooms left." };

interface Answer {
  outcome: string;
  detail?: string;
  retryAfterMs?: number;
}

/** A vendor that gives these answers in turn, the last one for ever, and counts how often it was asked. */
class Vendor {
  asked = 0;
  answers: (Answer | Error)[];
  #own = "its own";

  constructor(...answers: (Answer | Error)[]) {
    this.answers = answers;
  }

  async #next(): Promise<Answer> {
    this.asked++;
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (answer instanceof Error) throw answer;
    return this.#own === "" ? done : (answer as Answer);
  }

  search(_search: unknown, _context: CallContext): Promise<Answer> {
    return this.#next();
  }

  book(_request: unknown, _context: CallContext): Promise<Answer> {
    return this.#next();
  }

  readonly seats = 7;
}

const guard = (t: { teardown(work: () => void): void }, vendor: Vendor) => {
  const { port, shutdown } = behindCircuit("stayhub", vendor, log, settings);
  t.teardown(shutdown);
  return port;
};
const outcomes = async (times: number, ask: () => Promise<Answer>): Promise<string[]> => {
  const seen: string[] = [];
  for (let i = 0; i < times; i++) seen.push((await ask()).outcome);
  return seen;
};

t.test("most calls failing opens the circuit, and nobody is asked then", async (t) => {
  for (const [failure, first] of [
    [away, "unavailable"],
    [lost, "in-doubt"],
  ] as const) {
    const vendor = new Vendor(failure, done, failure);
    const port = guard(t, vendor);
    t.strictSame(await outcomes(4, () => port.book({}, context)), [first, "done", first, first]);
    t.equal(vendor.asked, 4);
    const { outcome, detail, retryAfterMs } = await port.book({}, context);
    t.equal(outcome, "unavailable", "surely not done");
    t.match(detail, /stayhub keeps failing/);
    t.equal(retryAfterMs, settings.openMs, "and when to come again");
    t.equal(vendor.asked, 4, "it is let alone");
    t.equal((await port.search({}, context)).outcome, first, "its search is asked still");
    t.equal(vendor.asked, 5);
  }
});

t.test("a vendor's no, and a bug of ours, say nothing about the vendor", async (t) => {
  const refusing = new Vendor(no);
  const port = guard(t, refusing);
  t.strictSame(new Set(await outcomes(12, () => port.book({}, context))), new Set(["refused"]));
  t.equal(refusing.asked, 12);
  const broken = new Vendor(new TypeError("a bug"));
  const broke = guard(t, broken);
  for (let i = 0; i < 12; i++) await t.rejects(broke.book({}, context), TypeError);
  t.equal(broken.asked, 12);
  t.equal(broke.seats, 7, "what is no call passes");
});

t.test("too few calls open nothing", async (t) => {
  const vendor = new Vendor(away);
  const port = guard(t, vendor);
  await outcomes(3, () => port.book({}, context));
  t.equal(vendor.asked, 3);
  await outcomes(2, () => port.book({}, context));
  t.equal(vendor.asked, 4, "the fourth opens it");
});

t.test("after a while one call tries the vendor, and its end decides", async (t) => {
  const vendor = new Vendor(away);
  const { port, circuits, shutdown } = behindCircuit("stayhub", vendor, log, settings);
  t.teardown(shutdown);
  // Circuits' timers keep no process alive; this does.
  const { port1 } = new MessageChannel();
  port1.on("message", () => undefined);
  t.teardown(() => port1.close());
  await outcomes(4, () => port.book({}, context));
  t.equal(vendor.asked, 4);
  await once(circuits.desk, "halfOpen");
  t.strictSame(await outcomes(3, () => port.book({}, context)), Array(3).fill("unavailable"));
  t.equal(vendor.asked, 5, "one tries, and failed: it is let alone again");
  vendor.answers = [done];
  await once(circuits.desk, "halfOpen");
  t.strictSame(await outcomes(3, () => port.book({}, context)), Array(3).fill("done"));
  t.equal(vendor.asked, 8, "it answers, and is asked by all");
});
