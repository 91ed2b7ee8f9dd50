// What is kept of a file without its types: as good as the file itself, whatever has become of either.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

const folder = t.testdir({
  "told.ts": "",
  "asks.ts": `import { told } from "./told.ts";
const strips: boolean = (process as any).moduleLoadList.some((name: string) => name.includes("amaro"));
console.log(told() + (strips ? ", stripped" : ""));
`,
});
const cache = join(folder, "cache");
const stripCache = join(import.meta.dirname, "../../../scripts/strip-cache.mjs");

const run = (keptIn = cache): string =>
  execFileSync(process.execPath, ["--import", stripCache, join(folder, "asks.ts")], {
    env: { NODE_COMPILE_CACHE: keptIn, NODE_OPTIONS: "--disable-warning=ExperimentalWarning" },
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
const kept = (): string[] =>
  readdirSync(join(cache, "stripped")).map((name) => join(cache, "stripped", name));
const tells = (text: string): void =>
  writeFileSync(join(folder, "told.ts"), `export const told = (): string => ${JSON.stringify(text)};\n`);

tells("one");
t.equal(run(), "one, stripped");
const first = kept();
t.equal(first.length, 2, "one file for each source");
t.equal(run(), "one", "as kept, and what strips is not even loaded");
t.notMatch(readFileSync(first[0] as string, "utf8") + readFileSync(first[1] as string, "utf8"), /: string/);

tells("another");
t.equal(run(), "another, stripped", "a file that has changed is stripped anew");
t.strictSame(kept(), first, "in place of what was kept of it");

for (const path of kept()) truncateSync(path, 10);
t.equal(run(), "another, stripped", "a kept file that is not whole counts for nothing");

writeFileSync(join(folder, "no-folder"), "");
t.equal(
  run(join(folder, "no-folder")),
  "another, stripped",
  "where nothing can be kept it is run all the same",
);

writeFileSync(join(folder, "told.ts"), "export const told = (): string => ;");
t.throws(() => run(), /told\.ts/, "what is no TypeScript is told with its place");
