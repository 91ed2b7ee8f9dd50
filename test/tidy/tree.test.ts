// Holds the tree to its rules: names, import direction, bans, length, nothing dead. Each failure names what to do instead.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, posix, resolve } from "node:path";
import t from "tap";
import ts from "typescript";

interface SourceFile {
  /** From the root, with slashes. */
  path: string;
  text: string;
}

/** A rule says of a file what breaks it, or nothing. `breaks` is a file that it must catch, so that no rule goes blind. */
interface Rule {
  name: string;
  instead: string;
  check(file: SourceFile): string[];
  breaks: SourceFile;
}

const root = resolve(import.meta.dirname, "../..");
/** Its examples break the rules on purpose, and its quoted paths run nothing. */
const thisFile = "test/tidy/tree.test.ts";
const linesMax = 400;

const nameRules: Rule[] = [
  {
    name: "a file says what it holds",
    instead: "name it after the concept it owns",
    check: ({ path }) =>
      /^(utils?|helpers?|manager|common|data)\b|[-](utils?|helpers?|manager)\./.test(basename(path))
        ? [path]
        : [],
    breaks: { path: "gateway/utils.ts", text: "" },
  },
  {
    name: "files are kebab-case",
    instead: "lower-case words joined by dashes",
    check: ({ path }) => (/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.ts$/.test(basename(path)) ? [] : [path]),
    breaks: { path: "gateway/rateLimit.ts", text: "" },
  },
  {
    name: `no file has more than ${linesMax} lines`,
    instead: "split it by what its parts own",
    check: ({ text }) => (text.split("\n").length > linesMax + 1 ? [`${text.split("\n").length} lines`] : []),
    breaks: { path: "gateway/long.ts", text: "\n".repeat(linesMax + 2) },
  },
];

const importRules: Rule[] = [
  importRule({
    name: "an actor never imports another actor",
    instead: "send it a command, react to its events or call its action; what all share is in actors/runtime",
    from: /^actors\/([^/]+)\//,
    banned: (target, [, actor]) =>
      /^actors\/[^/]+\//.test(target) &&
      !target.startsWith("actors/runtime/") &&
      !target.startsWith(`actors/${actor}/`),
    breaks: ["actors/case/service.ts", "../wave/decide.ts"],
  }),
  importRule({
    name: "the gateway never imports actors",
    instead: "call the action by its name",
    from: /^gateway\//,
    banned: (target) => target.startsWith("actors/"),
    breaks: ["gateway/operator/routes.ts", "../../actors/case/view.ts"],
  }),
  importRule({
    name: "actors never import the gateway",
    instead: "publish an event that the gateway consumes",
    from: /^actors\//,
    banned: (target) => target.startsWith("gateway/"),
    breaks: ["actors/case/service.ts", "../../gateway/auth/token.ts"],
  }),
  importRule({
    name: "schemas import nothing but schemas",
    instead: "move the type into schemas/, or the code out of it",
    from: /^schemas\//,
    banned: (target) => !target.startsWith("schemas/"),
    breaks: ["schemas/case.ts", "../streams/subjects.ts"],
  }),
  importRule({
    name: "streams never import actors or the gateway",
    instead: "let the caller pass in what is needed",
    from: /^streams\//,
    banned: (target) => /^(actors|gateway)\//.test(target),
    breaks: ["streams/consume.ts", "../actors/runtime/clock.ts"],
  }),
  importRule({
    name: "the product never imports scripts or tests",
    instead: "move what it needs into the folder that owns it",
    from: /^(actors|config|gateway|schemas|streams)\//,
    banned: (target) => /^(scripts|test)\//.test(target),
    breaks: ["gateway/server.ts", "../scripts/up.ts"],
  }),
];

const codeBans: Rule[] = [
  ban({
    name: "the environment is read in one place",
    instead: "add a setting to config/; a test takes its servers from test/harness/processes.ts",
    files: (path) => !/^(config|scripts|test\/harness)\//.test(path),
    pattern: /\bprocess\.env\b/,
    example: ["gateway/server.ts", "const port = process.env.PORT;"],
  }),
  ban({
    name: "actors take time, chance and ids from the clock",
    instead: "take `now`, the id or the random number as an argument; actors/runtime/clock.ts makes them",
    files: (path) => path.startsWith("actors/") && path !== "actors/runtime/clock.ts",
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(/,
    example: ["actors/case/decide.ts", "const now = new Date();"],
  }),
  ban({
    name: "tests wait for events, not for time",
    instead: "wait for what must happen: a line, an event, an end (test/harness)",
    files: (path) => path.startsWith("test/") && !path.startsWith("test/harness/"),
    pattern: /\bsetTimeout\(|["']node:timers\/promises["']/,
    example: ["test/scenario/night.test.ts", "await new Promise((done) => setTimeout(done, 500));"],
  }),
];

/** Of every text file, not of TypeScript alone. */
const textBans: Rule[] = [
  {
    name: "nothing names a package registry's host",
    instead: "leave it to the machine's own npm and apt settings",
    check: ({ text }) =>
      linesWith(text, /registry\.npmjs|registry\.yarnpkg|deb\.debian\.org|security\.debian\.org/),
    breaks: { path: "README.md", text: `see https://${["registry", "npmjs", "org"].join(".")}/x` },
  },
  {
    name: "nothing names a place outside the checkout",
    instead: "a path from the root of the checkout, or an option",
    check: ({ text }) => linesWith(text, /(^|[\s"'`(=:])\/work\/|\.\.\/shared\b(?!\/[\w-]+\.ts)/),
    breaks: { path: "README.md", text: `see ${["", "work", "x"].join("/")}` },
  },
];

function importRule(options: {
  name: string;
  instead: string;
  from: RegExp;
  banned(target: string, from: RegExpExecArray): boolean;
  breaks: [path: string, imported: string];
}): Rule {
  const [path, imported] = options.breaks;
  return {
    name: options.name,
    instead: options.instead,
    check: (file) => {
      const from = options.from.exec(file.path);
      return from ? relativeImports(file).filter((target) => options.banned(target, from)) : [];
    },
    breaks: { path, text: `import { x } from "${imported}";\n` },
  };
}

function ban(options: {
  name: string;
  instead: string;
  files(path: string): boolean;
  pattern: RegExp;
  example: [path: string, text: string];
}): Rule {
  const [path, text] = options.example;
  return {
    name: options.name,
    instead: options.instead,
    check: (file) =>
      options.files(file.path) && file.path !== thisFile
        ? linesWith(withoutComments(file.text), options.pattern)
        : [],
    breaks: { path, text },
  };
}

/** What a file imports from this tree, types and dynamic imports included, as paths from the root. */
function relativeImports({ path, text }: SourceFile): string[] {
  const imported = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => fileName);
  return imported
    .filter((name) => name.startsWith("."))
    .map((name) => posix.normalize(posix.join(posix.dirname(path), name)));
}

function linesWith(text: string, pattern: RegExp): string[] {
  return text
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`line ${index + 1}: ${line.trim()}`] : []));
}

/** Comments may speak of what code may not do. Keeps the lines' numbers. */
function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$|\s\/\/\s.*$/gm, "");
}

/** The files of the checkout that are or could be committed. */
function filesOf(folder: string): SourceFile[] {
  const ignored = new Set(["node_modules", ".git", ".data", ".cache", ".tap", "package-lock.json"]);
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name);
    if (ignored.has(entry.name) || entry.name.endsWith(".log")) return [];
    if (entry.isDirectory()) return filesOf(path);
    const text = entry.isFile() ? readFileSync(join(root, path), "utf8") : "";
    return text.includes("\0") ? [] : [{ path, text }];
  });
}

const files = filesOf("");
const sources = files.filter(({ path }) => path.endsWith(".ts"));

for (const [subjects, rules] of [
  [sources, [...nameRules, ...importRules, ...codeBans]],
  [files, textBans],
] as const) {
  for (const rule of rules) {
    t.test(rule.name, async (t) => {
      t.not(rule.check(rule.breaks).length, 0, "the rule sees what breaks it");
      const broken = subjects.flatMap((file) => rule.check(file).map((what) => `${file.path}: ${what}`));
      t.strictSame(broken, [], `instead: ${rule.instead}`);
    });
  }
}

/** Files that are run, not imported: tests, script entries, each actor's wiring, and what a quoted path names. */
function isRun(path: string): boolean {
  if (path.endsWith(".test.ts") || /^actors\/[^/]+\/service\.ts$/.test(path)) return true;
  if (dirname(path) === "scripts" && files.some((file) => file.path === path.slice(0, -".ts".length)))
    return true;
  const others = sources.filter((file) => file.path !== thisFile);
  return others.some((file) =>
    [...withoutComments(file.text).matchAll(/["'`]([^"'`\s]+\.ts)["'`]/g)].some(([, named = ""]) =>
      ["", "scripts", posix.dirname(file.path)].some((base) => posix.join(base, named) === path),
    ),
  );
}

t.test("no file is dead", async (t) => {
  const imported = new Set(sources.flatMap(relativeImports));
  t.ok(imported.has("scripts/supervisor/supervise.ts"), "imports are seen");
  t.notOk(isRun("scripts/supervisor/nowhere.ts"), "a file that nothing names is seen as dead");
  const dead = sources.map(({ path }) => path).filter((path) => !imported.has(path) && !isRun(path));
  t.strictSame(dead, [], "instead: import it, run it from a script, or delete it");
});

t.test("every script entry has its program, and every program that is an entry can be run", async (t) => {
  const entries = files.filter(({ path, text }) => dirname(path) === "scripts" && text.startsWith("#!"));
  t.not(entries.length, 0);
  for (const { path, text } of entries) {
    t.ok(
      files.some((file) => file.path === `${path}.ts`),
      `${path}.ts exists`,
    );
    t.match(text, new RegExp(`run_script ${basename(path)} `), `${path} runs it`);
  }
});
