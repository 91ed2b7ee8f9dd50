// Runs the test files that TEST_FILES lists in this one process, one after the other: starting one takes longer than many files.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import t, { type Test } from "tap";

/** What each file has in the place of the program's own `t`: its servers end, and its time is counted, with the file. */
const testOf = new Map<string, Test>();
let running = "";
const scheme = "stopover-tap:";
Object.assign(globalThis, { [Symbol.for(scheme)]: testOf });

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "tap" && context.parentURL !== import.meta.url
      ? { url: `${scheme}${running}`, format: "module", shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) => {
    if (!url.startsWith(scheme)) return next(url, context);
    const file = JSON.stringify(url.slice(scheme.length));
    const source = `export default globalThis[Symbol.for("${scheme}")].get(${file});`;
    return { format: "module", source, shortCircuit: true };
  },
});

const files: string[] = JSON.parse(process.env.TEST_FILES ?? "[]");
const timeout = Number(process.env.TEST_FILE_SECONDS) * 1000;
/** For what ends by itself a moment after its test. */
const leftRunningMs = 10_000;
t.setTimeout(0);
for (const file of files) {
  await t.test(file, { timeout }, async (ofFile) => {
    running = pathToFileURL(file).href;
    testOf.set(running, ofFile);
    await import(running);
  });
}
// Each file's time is over by now: what one has left running would keep the process for ever.
setTimeout(() => {
  console.error("something that a test has started still runs");
  process.exit(1);
}, leftRunningMs).unref();
