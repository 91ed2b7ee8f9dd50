// The command `scripts/test`: lint, types and the test suite, one after the other's news, and a last line with the totals.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { inspect, parseArgs } from "node:util";
import { Parser, type Result } from "tap-parser";
import { ensureNatsServer } from "./embedded/nats.ts";
import { describeEnd, endOf } from "./supervisor/running.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

const help = `Usage: scripts/test [test file…]

Runs lint, the type check and the whole test suite. With test files, only those, without lint and types.
The last line is \`N passed, N failed\` (assertions); the exit code is 0 when all passed.`;

const root = resolve(import.meta.dirname, "..");
const together = join(root, "test/harness/together.ts");
const packages = join(root, "node_modules");
/** Marks what this run starts, at any depth, so that a process left behind can be told from anyone else's. */
const runMark = `STOPOVER_TEST_RUN=${process.pid}-${Date.now()}`;
const children = new Set<ChildProcess>();

/** Our own Node first on PATH, for the tools' `#!/usr/bin/env node`. */
function start(command: string, args: string[], more: NodeJS.ProcessEnv = {}): ChildProcess {
  const [markName = "", markValue = ""] = runMark.split("=");
  const env = {
    ...process.env,
    ...more,
    [markName]: markValue,
    PATH: `${join(process.execPath, "..")}:${process.env.PATH}`,
  };
  const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Quiet when it passes. */
async function check(name: string, command: string, args: string[]): Promise<boolean> {
  const child = start(command, args);
  const [end, out, err] = await Promise.all([endOf(child), text(child.stdout!), text(child.stderr!)]);
  if (end.code === 0) {
    console.log(`${name}: passed`);
    return true;
  }
  console.log(`${out}${err}\n${name} ${describeEnd(end)}`);
  return false;
}

async function lintAndTypes(): Promise<boolean> {
  const passed = await Promise.all([
    check("lint", join(packages, ".bin/biome"), ["ci", "--colors=off", "."]),
    // Another process' core is its own; the package named `typescript` is the one that tests and tap read sources with.
    check("types", join(packages, "typescript-native/bin/tsc"), ["--noEmit", "--singleThreaded"]),
  ]);
  return passed.every(Boolean);
}

interface Report {
  passed: number;
  failed: number;
}

/** Test files that one process runs. */
type Job = readonly string[];

/** Two at once on two cores; two more fill the time in which the others wait for a server. */
const atOnce = 4;
/** Of a whole file, in seconds; a file that needs more says so by `takesLong`. */
const timeoutSeconds = 120;

/** One line per process as it ends, with its failures, which stand at the end once more. */
async function suite(jobs: readonly Job[], signal: AbortSignal): Promise<Report> {
  const totals: Report = { passed: 0, failed: 0 };
  const failures: string[] = [];
  const waiting = [...jobs];
  const worker = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined && !signal.aborted; job = waiting.shift()) {
      const { passed, failed, told } = await run(job);
      totals.passed += passed;
      totals.failed += failed;
      failures.push(...told);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  for (const failure of failures) console.log(failure);
  return totals;
}

/**
 * A file is a program that tells TAP. It is run by node alone: the loaders that tap's own runner puts in front of every import,
 * for mocks and coverage, take as long as the tests.
 */
async function run(files: Job): Promise<Report & { told: string[] }> {
  const [first = ""] = files;
  const name = `${relative(root, first)}${files.length > 1 ? ` and ${files.length - 1} more` : ""}`;
  const startedAt = performance.now();
  const seconds = String(timeoutSeconds);
  const more = { TAP_TIMEOUT: seconds, TEST_FILE_SECONDS: seconds, TEST_FILES: JSON.stringify(files) };
  const child = start(process.execPath, [files.length > 1 ? together : first], more);
  child.stderr!.pipe(process.stderr, { end: false });
  const [output, end] = await Promise.all([text(child.stdout!), endOf(child)]);
  const report = countAssertions(name, output);
  const unheard = files.length === 1 ? [] : files.filter((file) => !output.includes(`- ${file} `));
  if (unheard.length > 0) {
    report.failed += 1;
    report.told.push(
      `\nFAILED ${unheard.map((file) => relative(root, file)).join(", ")}: not run to the end`,
    );
  }
  if (end.code !== 0 && report.failed === 0) {
    report.failed = 1;
    report.told.push(`\nFAILED ${name}: it ${describeEnd(end)}`);
  }
  const progress = new Parser();
  showComments(progress);
  progress.end(output);
  const took = Math.round(performance.now() - startedAt);
  console.log(`${report.failed === 0 ? "passed" : "FAILED"} ${name} (${took} ms)`);
  for (const failure of report.told) console.log(failure);
  return report;
}

/** What tests say by `t.comment`, such as the log of a server whose test failed; tap's own remarks left out. */
function showComments(parser: Parser): void {
  parser.on("child", (child: Parser) => {
    child.on("comment", (comment: string) => {
      if (!/^# (Subtest|time=)/.test(comment)) process.stdout.write(comment);
    });
    showComments(child);
  });
}

/** Assertions at the leaves: a subtest's own line only repeats what is inside it. */
function countAssertions(file: string, output: string): Report & { told: string[] } {
  const report = { passed: 0, failed: 0, told: [] as string[] };
  for (const [kind, result] of Parser.parse(output, { flat: true })) {
    if (kind !== "assert" || result.skip || result.todo) continue;
    if (result.ok) report.passed += 1;
    else {
      report.failed += 1;
      report.told.push(describeFailure(file, result));
    }
  }
  return report;
}

function describeFailure(job: string, { name, diag }: Result): string {
  const { diff, stack, at, source, ...rest } = (diag ?? {}) as Record<string, unknown>;
  const file = (at as { fileName?: string } | undefined)?.fileName ?? job;
  const details = [
    diff,
    source,
    Object.keys(rest).length > 0 ? inspect(rest, { depth: 6 }) : undefined,
    stack,
  ];
  return `\nFAILED ${file} > ${name}\n${details.filter((detail) => detail !== undefined).join("\n")}`;
}

/** The processes that still run with this run's mark in their environment. Linux only; elsewhere none are found. */
function leftBehind(): number[] {
  if (process.platform !== "linux") return [];
  const marked = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(runMark);
    } catch {
      return false; // it has ended meanwhile, or is another user's
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && marked(name))
    .map(Number);
}

/** False when there was any: a test that leaves a process running has not cleaned up. */
function endLeftBehind(): boolean {
  const pids = leftBehind();
  for (const pid of pids) {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 4);
    console.log(
      `left running by the tests, now killed: ${words.map((word) => basename(word)).join(" ")} (${pid})`,
    );
    process.kill(pid, "SIGKILL");
  }
  return pids.length === 0;
}

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, "test", folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".test.ts"))
    .sort()
    .map((name) => join(root, "test", folder, name));

/** How many files one process runs, one after the other: what it has loaded serves the next. */
const togetherMax: Readonly<Record<string, number>> = {
  fault: 1,
  scenario: 1,
  contract: 5,
  tidy: 1,
  unit: 25,
};

/** What says that it changes or measures what all of a process share. */
const standsAlone = (file: string): boolean =>
  /^\/\/ In a process of its own/m.test(readFileSync(file, "utf8"));

/** Those of many processes first, so that none of them is alone at the end. */
function everyFile(): Job[] {
  return Object.entries(togetherMax).flatMap(([folder, most]) => {
    const files = filesIn(folder);
    const shared = files.filter((file) => most > 1 && !standsAlone(file));
    const groups = Math.ceil(shared.length / most);
    const jobs = Array.from({ length: groups }, (_, i) => shared.slice(i * most, (i + 1) * most));
    return [...files.filter((file) => !shared.includes(file)).map((file) => [file]), ...jobs];
  });
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: { help: { type: "boolean" } },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(help);
    return true;
  }
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      stopping.abort();
      for (const child of children) child.kill("SIGTERM");
    });
  }
  await ensureNatsServer(join(root, ".cache/nats"), { onProgress: console.log, signal: stopping.signal });
  const files = positionals.map((path) => resolve(path));
  const missing = files.find((file) => !existsSync(file));
  if (missing) throw new StartFailure(`${missing} does not exist`);
  // The checks fill the time in which tests wait.
  const [checked, { passed, failed }] = await Promise.all([
    files.length > 0 || lintAndTypes(),
    suite(files.length > 0 ? files.map((file) => [file]) : everyFile(), stopping.signal),
  ]);
  if (stopping.signal.aborted) return false;
  const clean = endLeftBehind();
  console.log(`${passed} passed, ${failed} failed`);
  return checked && clean && failed === 0;
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  const isUsage =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof StartFailure || isUsage)) throw error;
  console.error(`error: ${(error as Error).message}`);
  process.exit(1);
}
