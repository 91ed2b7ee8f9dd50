// Files made to harm their reader: each refused with a word that says why, in bounded time and memory, and nobody else waits.
import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Worker } from "node:worker_threads";
import t from "tap";
import { readPassengerFile } from "../../../gateway/passenger-file/read.ts";
import { createPassengerFileReader, type ReaderLimits } from "../../../gateway/passenger-file/reader.ts";
import { Problem } from "../../../schemas/problems.ts";
import { takesLong } from "../../harness/patience.ts";
import { files, goodText } from "./hostile-files.ts";

takesLong(t);
const MiB = 1024 * 1024;
const withinMs = 10_500;
const memoryMaxMiB = 150;

const reader = createPassengerFileReader();
const read = (bytes: Buffer | string, name = "list", by = reader) =>
  by({ bytes: new Uint8Array(Buffer.from(bytes)), name, today: new Date(), bookingPassengersMax: 150 });

/** What the file is answered with, in one line. */
const outcomeOf = (reading: ReturnType<typeof read>): Promise<string> =>
  reading.then(
    ({ passengers, errors }) => `${passengers.length} taken, ${errors[0]?.detail ?? "nothing wrong"}`,
    (error: unknown) => (error instanceof Problem ? `${error.code} ${error.message}` : String(error)),
  );

const direct: typeof reader = ({ bytes, name, ...terms }) =>
  readPassengerFile(Buffer.from(bytes.buffer), name, terms);
/** Those that ask most of their reader, each in its way; a thread for each of the others would take longer than the rest of this. */
const inThread = /bomb|shared texts|every cell|tire|below headers|zeros/;

/** A module's own, also those in braces that hold nothing but types: they are loaded all the same. */
const imported = /(?:^(?:import|export) (?!type\b)[^;]*?from |\bimport\()"([^"]+)"/gm;

// First: what has once been asked for hides what is asked for again.
t.test("in bounded time and memory, while nobody else waits", async (t) => {
  for (const [what, make, expected, name] of files.filter(([what]) => inThread.test(what))) {
    const bytes = Buffer.from(make());
    t.ok(bytes.length <= 10 * MiB, `${what}: ${bytes.length} bytes`);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    const [peakKib, residentKib] = [process.resourceUsage().maxRSS, process.memoryUsage.rss() / 1024];
    const begun = performance.now();
    delay.enable();
    t.match(await outcomeOf(read(bytes, name)), expected, what);
    delay.disable();
    const tookMs = Math.round(performance.now() - begun);
    const waitMs = Math.round(delay.max / 1e6);
    const nowKib = process.resourceUsage().maxRSS;
    const grownMiB = nowKib > peakKib ? Math.round((nowKib - residentKib) / 1024) : 0;
    t.ok(tookMs < withinMs, `${what}: ${tookMs} ms`);
    t.ok(waitMs < tookMs / 2 + 100, `${what}: others wait ${waitMs} ms at the most`);
    t.ok(grownMiB < memoryMaxMiB, `${what}: ${grownMiB} MiB more at its height`);
  }
});

t.test("each is refused for what it is", async (t) => {
  for (const [what, make, expected, name] of files.filter(([what]) => !inThread.test(what)))
    t.match(await outcomeOf(read(make(), name, direct)), expected, what);
});

t.test("the limits end whatever goes on", async (t) => {
  const text = `${goodText}${"€".repeat(3 * MiB)}`;
  const threads: Worker[] = [];
  const note = (thread: Worker) => threads.push(thread);
  process.on("worker", note);
  t.teardown(() => process.off("worker", note));
  const limited = async (limits: Partial<ReaderLimits>) => {
    const outcome = await outcomeOf(read(text, "a.csv", createPassengerFileReader(limits)));
    t.equal(threads.at(-1)?.threadId, -1, "its thread has ended by then, and kept nothing for the next one");
    return outcome;
  };
  t.match(await limited({ timeMs: 1 }), /^validation\/too-large .*takes more than 0.001 s/);
  t.match(await limited({ heapMib: 12 }), /^validation\/too-large .*memory/);
});

t.test("files are read one after the other, and only so many wait", async (t) => {
  const one = createPassengerFileReader({ waitingMax: 1 });
  const outcomes = await Promise.all(
    Array.from({ length: 4 }, () => outcomeOf(read(goodText, "a.csv", one))),
  );
  t.strictSame(
    outcomes.map((outcome) => outcome.slice(0, 20)),
    [
      ...Array.from({ length: 2 }, () => "1 taken, nothing wro"),
      ...Array.from({ length: 2 }, () => "upstream/unavailable"),
    ],
  );
  t.match(await outcomeOf(read(goodText, "a.csv", one)), /^1 taken/, "and then there is room again");
});

t.test("a thread loads what it reads files with, and no library of schemas", async (t) => {
  const loaded = new Set<string>();
  const load = (from: URL): void => {
    for (const [, name = ""] of readFileSync(from, "utf8").matchAll(imported)) {
      const next = name.startsWith(".") ? new URL(name, from) : undefined;
      if (loaded.has(next?.href ?? name)) continue;
      loaded.add(next?.href ?? name);
      if (next !== undefined) load(next);
    }
  };
  load(new URL("../../../gateway/passenger-file/worker.ts", import.meta.url));
  t.ok(loaded.has("sax"));
  t.notOk(loaded.has("typebox"), "it would take as long as all the rest");
});
