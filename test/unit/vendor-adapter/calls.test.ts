// One call for another actor, and the search over all hotel vendors, as tables over vendors in this process.
import { pino } from "pino";
import t from "tap";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { askHotels, resultOf } from "../../../actors/vendor-adapter/search.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { type VendorCall, type VendorVerb, vendorVerbs } from "../../../schemas/vendor-call.ts";
import { trace } from "../../harness/given.ts";
import { type Turn, turns, type VendorsInMemory, vendorsInMemory } from "../../harness/vendors-in-memory.ts";

const context = { traceparent: trace.traceparent, attempt: 1 };
const kindOf: Readonly<Record<VendorVerb, "hotel" | "payment" | "transport" | "message">> = {
  hold: "hotel",
  book: "hotel",
  modify: "hotel",
  cancel: "hotel",
  "issue-card": "payment",
  "load-card": "payment",
  "cancel-card": "payment",
  "book-ride": "transport",
  "cancel-ride": "transport",
  send: "message",
};
/** What must have been done before, for a verb to have something to work on. */
const before: Readonly<Partial<Record<VendorVerb, VendorVerb[]>>> = {
  book: ["hold"],
  modify: ["hold", "book"],
  cancel: ["hold", "book"],
  "load-card": ["issue-card"],
  "cancel-card": ["issue-card"],
  "cancel-ride": ["book-ride"],
};

const callOf = (doubt: boolean): VendorCall => ({
  reference: "ref.1",
  tries: 1,
  doubt,
  request: {
    reference: "another's",
    rooms: 1,
    offer: { nightlyRateMinor: 1_000_000, currency: "USD" },
    bookedUnder: "ref.1",
    issuedUnder: "ref.1",
    loaded: { amountMinor: 2, currency: "USD" },
    checkIn: "2026-11-21",
    checkOut: "2026-11-23",
  },
  replyTo: { name: "sub-case.record-answer", entity: "XN-1" },
});
const carry = (vendors: VendorsInMemory, verb: VendorVerb, doubt = false, attempt = 1) =>
  carryOut(vendors[kindOf[verb]], verb, callOf(doubt), { ...context, attempt });
/** Vendors that have done these verbs, and from then on take these turns, the last one for ever. */
const vendorsAfter = async (verbs: readonly VendorVerb[], ...script: Turn[]): Promise<VendorsInMemory> => {
  let scripted = false;
  const vendors = vendorsInMemory(() =>
    !scripted ? "done" : script.length > 1 ? (script.shift() as Turn) : (script[0] ?? "done"),
  );
  for (const verb of verbs) await carry(vendors, verb);
  vendors.asked.length = 0;
  scripted = true;
  return vendors;
};
const operations = ({ asked }: VendorsInMemory): string[] => asked.map(({ operation }) => operation);

t.test("every verb, asked at once", async (t) => {
  const outcomes: Readonly<Record<Turn, object>> = {
    done: { outcome: "done" },
    refused: { outcome: "refused", code: "SOLD_OUT", detail: "no" },
    unavailable: { outcome: "unavailable", detail: "busy" },
    "lost-done": { outcome: "in-doubt", detail: "no answer" },
    "lost-not-done": { outcome: "in-doubt", detail: "no answer" },
  };
  for (const verb of vendorVerbs) {
    for (const turn of turns) {
      const vendors = await vendorsAfter(before[verb] ?? [], turn);
      const answer = await carry(vendors, verb);
      const { name } = vendors[kindOf[verb]];
      t.match(answer, { verb, vendor: name, reference: "ref.1", ...outcomes[turn] }, `${verb}: ${turn}`);
      t.equal("result" in answer, turn === "done", `${verb}: only what is done has a result`);
      t.notOk("outcome" in (answer.result ?? {}), "which is the vendor's alone");
      t.strictSame(operations(vendors), [verb], "nothing is looked up");
      t.match(vendors.asked[0], { reference: "ref.1", request: { reference: "ref.1", rooms: 1 } });
    }
  }
});

t.test("the answer says which asking it is of", async (t) => {
  const call = { ...callOf(false), again: 2 };
  for (const [verb, attempt] of [
    ["send", 1],
    ["send", 2],
    ["hold", 1],
  ] as const) {
    const answer = await carryOut(vendorsInMemory(() => "done")[kindOf[verb]], "send", call, {
      ...context,
      attempt,
    });
    t.match(answer, { reference: "ref.1", tries: 1, again: 2 }, `${verb}, ${attempt}`);
  }
  t.notOk(
    "again" in (await carry(await vendorsAfter([]), "send")),
    "none where nobody has had it asked again",
  );
});

t.test("in doubt, the look-up comes first", async (t) => {
  for (const verb of vendorVerbs) {
    const earlier = before[verb] ?? [];
    const rows: [string, Turn[], boolean, string[], object][] = [
      ["nothing was done, so it is asked again", ["done"], false, ["lookup", verb], { outcome: "done" }],
      ["it had been done", ["done"], true, ["lookup"], { outcome: "done" }],
      [
        "the look-up teaches nothing",
        ["unavailable"],
        false,
        ["lookup"],
        { outcome: "in-doubt", detail: "busy" },
      ],
      [
        "nothing was done, and now it is refused",
        ["done", "refused"],
        false,
        ["lookup", verb],
        { outcome: "refused" },
      ],
      [
        "nothing was done, and now it can't be",
        ["done", "unavailable"],
        false,
        ["lookup", verb],
        { outcome: "unavailable" },
      ],
      [
        "nothing was done, and the answer is lost again",
        ["done", "lost-done"],
        false,
        ["lookup", verb],
        { outcome: "in-doubt" },
      ],
    ];
    for (const [what, script, wasDone, asked, outcome] of rows) {
      const vendors = await vendorsAfter(wasDone ? [...earlier, verb] : earlier, ...script);
      t.match(await carry(vendors, verb, true), { verb, reference: "ref.1", ...outcome }, `${verb}: ${what}`);
      t.strictSame(operations(vendors), asked, `${verb}: ${what}`);
    }
    const twice = await vendorsAfter(earlier, "lost-done", "done");
    await carry(twice, verb);
    const found = await carry(twice, verb, true);
    t.strictSame(
      operations(twice),
      [verb, "lookup"],
      `${verb}: what was done unseen is found, not done twice`,
    );
    t.notOk("state" in (found.result ?? {}), "and reads like a first answer");
    t.match(found, { outcome: "done" });
  }
});

t.test("a command that comes again is looked up, never asked again", async (t) => {
  for (const verb of vendorVerbs) {
    const earlier = before[verb] ?? [];
    const rows: [string, Turn, VendorVerb[], object][] = [
      ["it had been done", "done", [...earlier, verb], { outcome: "done" }],
      ["nothing is there", "done", earlier, { outcome: "in-doubt", detail: /Delivered before/ }],
      ["the look-up teaches nothing", "unavailable", earlier, { outcome: "in-doubt", detail: "busy" }],
    ];
    for (const [what, turn, past, outcome] of rows) {
      for (const doubt of [false, true]) {
        const vendors = await vendorsAfter(past, turn);
        t.match(await carry(vendors, verb, doubt, 2), { verb, ...outcome }, `${verb}: ${what}`);
        t.strictSame(operations(vendors), ["lookup"], `${verb}: ${what}`);
      }
    }
  }
});

t.test("a state that isn't the verb's is not its success", async (t) => {
  const table: [VendorVerb, VendorVerb[]][] = [
    ["book", ["hold"]],
    ["cancel", ["hold", "book"]],
    ["cancel-card", ["issue-card"]],
    ["cancel-ride", ["book-ride"]],
    ["issue-card", ["issue-card", "cancel-card"]],
  ];
  for (const [verb, done] of table) {
    const vendors = await vendorsAfter(done);
    await carry(vendors, verb, true);
    t.strictSame(operations(vendors), ["lookup", verb], `${verb} after ${done.join(", ")}`);
  }
});

t.test("a vendor takes the verbs of its kind", async (t) => {
  const vendors = await vendorsAfter([]);
  for (const verb of vendorVerbs) {
    for (const kind of ["hotel", "payment", "transport", "message"] as const) {
      if (kind === kindOf[verb]) continue;
      const answer = await carryOut(vendors[kind], verb, callOf(true), context);
      t.match(
        answer,
        { outcome: "refused", code: "INVALID_REQUEST", reference: "ref.1" },
        `${kind}: ${verb}`,
      );
    }
  }
  t.strictSame(operations(vendors), [], "and isn't asked for others");
});

const search: HotelSearch = {
  airport: "JFK",
  coordinates: { latitude: 40.64, longitude: -73.78 },
  radiusKm: 50,
  checkIn: "2026-11-21",
  checkOut: "2026-11-22",
  rooms: 3,
};
const offer = (name: string) =>
  ({
    name,
    providerOfferId: name,
    coordinates: { latitude: 40.66, longitude: -73.8 },
    nightlyRateMinor: 10_000,
    currency: "USD",
  }) as HotelOffer;
type Search = Pick<HotelPort, "search">;
const offering = (...names: string[]): Search => ({
  search: async () => ({ outcome: "done", offers: names.map(offer) }),
});
/** Answers only once it is told to give up, as an adapter does whose vendor is silent. */
const silent: Search = {
  search: (_, { signal }) =>
    new Promise((resolve) => {
      signal?.addEventListener("abort", () => resolve({ outcome: "unavailable", detail: "aborted" }));
    }),
};
const broken: Search = {
  search: async () => ({ outcome: "unavailable", detail: "the vendor answered 500" }),
};
const throwing: Search = {
  search: async () => {
    throw new TypeError("chain.toLowerCase is not a function");
  },
};
const refusing: Search = {
  search: async () => ({ outcome: "refused", code: "NOT_AUTHORISED", detail: "no" }),
};

t.test("a search asks everybody at once and names who said nothing", async (t) => {
  // The time-box alone keeps no process alive.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  const log = pino({ level: "silent" });
  const options = { timeBoxMs: 60, traceparent: trace.traceparent, log };
  const table: [string, [string, Search][], string[], object[]][] = [
    ["nobody to ask", [], [], []],
    [
      "all answer",
      [
        ["a", offering("x", "y")],
        ["b", offering("z")],
      ],
      ["x", "y", "z"],
      [],
    ],
    ["nothing there is an answer", [["a", offering()]], [], []],
    [
      "one is late",
      [
        ["a", silent],
        ["b", offering("z")],
      ],
      ["z"],
      [{ failedDomain: "a", detail: "No answer within the time-box." }],
    ],
    [
      "one fails",
      [
        ["a", broken],
        ["b", offering("z")],
      ],
      ["z"],
      [{ failedDomain: "a", detail: "the vendor answered 500" }],
    ],
    [
      "one cannot even be asked",
      [
        ["a", throwing],
        ["b", offering("z")],
      ],
      ["z"],
      [{ failedDomain: "a", detail: "It could not be asked, or its answer not be read." }],
    ],
    [
      "all fail",
      [
        ["a", broken],
        ["b", refusing],
      ],
      [],
      [{ failedDomain: "a" }, { failedDomain: "b", detail: "no" }],
    ],
  ];
  for (const [what, sources, names, failures] of table) {
    const found = resultOf(
      await askHotels(
        sources.map(([name, port]) => ({ name, port })),
        search,
        options,
      ),
    );
    t.strictSame(
      found.offers.map(({ name }) => name),
      names,
      what,
    );
    t.equal(found.partialFailures.length, failures.length, what);
    t.match(found.partialFailures, failures, what);
  }

  const asked: string[] = [];
  const meeting = Promise.withResolvers<void>();
  const together = (name: string): Search => ({
    search: async (wanted, { traceparent }) => {
      asked.push(`${name} ${wanted.airport} ${traceparent}`);
      if (asked.length === 2) meeting.resolve();
      await meeting.promise;
      return { outcome: "done", offers: [] };
    },
  });
  await askHotels(
    [
      { name: "a", port: together("a") },
      { name: "b", port: together("b") },
    ],
    search,
    options,
  );
  t.strictSame(
    asked,
    [`a JFK ${trace.traceparent}`, `b JFK ${trace.traceparent}`],
    "the second isn't kept waiting by the first",
  );
});
