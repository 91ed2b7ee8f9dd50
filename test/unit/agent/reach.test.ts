// Nothing of the agent but an execution can do anything but read: what its files import, which names they hold, by which way they call
// others, and that each name on the list of reads is a query.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix, resolve } from "node:path";
import t from "tap";
import ts from "typescript";
import { commandOf } from "../../../actors/agent/execute.ts";
import { readerFor, readsAllowed } from "../../../actors/agent/reads.ts";
import { toolList } from "../../../actors/agent/tools.ts";
import { caseActor } from "../../../actors/case/service.ts";
import { reviewActor } from "../../../actors/review/service.ts";
import type { Actor, ActorContext } from "../../../actors/runtime/host.ts";
import { waveActor } from "../../../actors/wave/service.ts";
import { systemPrincipal } from "../../../schemas/command.ts";

const root = resolve(import.meta.dirname, "../../..");
const folder = "actors/agent";
const sources = readdirSync(join(root, folder))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(root, folder, name), "utf8") }));
const source = (text: string) => ts.createSourceFile("x.ts", text, ts.ScriptTarget.Latest, true);

/** Every text in a file that has the form of a wire name, imports aside. */
const namesIn = (text: string): string[] => {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteralLike(node) && /^[a-z-]+\.[a-z-]+$/.test(node.text)) names.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source(text));
  return names;
};
const importsIn = (text: string): string[] =>
  ts.preProcessFile(text, true, true).importedFiles.map((one) => one.fileName);
const valuesIn = (text: string): string[] => importsIn(text.replaceAll(/^import type .*?;$/gms, ""));

/** All that is loaded with these files, however far: files of the tree and packages. */
const loadedWith = (...paths: string[]): { files: string[]; packages: string[] } => {
  const files = new Set(paths);
  const packages = new Set<string>();
  for (const path of files)
    for (const target of valuesIn(readFileSync(join(root, path), "utf8")))
      if (target.startsWith(".")) files.add(posix.join(posix.dirname(path), target));
      else packages.add(target);
  return { files: [...files].sort(), packages: [...packages].sort() };
};

t.test("the agent reads, and nothing else", async (t) => {
  // What each file may import of the tree: a planner nothing that reaches the world, the others what an actor needs.
  const reaching = /runtime\/(host|send|relay|consume|store|handle|documents)\.ts$/;
  for (const { name, text } of sources)
    for (const target of importsIn(text)) {
      const path = target.startsWith(".") ? posix.join(folder, target) : target;
      t.match(
        path,
        /^(actors\/(agent|runtime)\/|schemas\/|node:|ulid$|p-limit$|typebox|mongodb$|pino$)/,
        `${name}: ${target}`,
      );
      t.notMatch(
        path,
        /^node:(http|https|net|tls|child_process|worker_threads|dgram)|runtime\/send/,
        `${name}: ${target}`,
      );
    }
  const pure = [
    ...["planner", "facts", "fit", "classify", "options", "rules", "admit"],
    ...["tools", "briefing", "model-planner"],
  ].map((name) => `${name}.ts`);
  for (const { name, text } of sources.filter((one) => pure.includes(one.name))) {
    t.same(
      importsIn(text).filter((target) => reaching.test(target)),
      [],
      `${name} is given nothing to act with`,
    );
    const within = valuesIn(text).filter((target) => target.startsWith("./"));
    t.ok(
      within.every((target) => pure.includes(target.slice(2))),
      `${name} imports only what is as pure`,
    );
    t.notMatch(
      text,
      /\bfetch\(|\beval\(|new Function|globalThis|process\.|\bimport\(/,
      `${name} reaches out by no other way`,
    );
  }

  const commands = new Set<string>(Object.values(commandOf));
  t.same([...commands].sort(), ["review.rebook", "review.relax"]);
  const foreign = (names: string[]) =>
    names.filter((one) =>
      /^(review|case|wave|sub-case|vendor|message|transport|policy|contract|webhook|identity|audit|metrics)/.test(
        one,
      ),
    );
  const heard = new Set(["review.opened", "review.reinstated", "review.resolved", "review.action-noted"]);
  const isKnown: Record<string, (one: string) => boolean> = {
    "execute.ts": (one) => commands.has(one),
    "reactions.ts": (one) => heard.has(one),
    // The one message to another actor that is no read: what the item shows.
    "service.ts": (one) => one === "review.note-recommendations",
    // What a rehearsal is of.
    "gather.ts": (one) => one === "case.relax",
  };
  for (const { name, text } of sources) {
    const others = foreign(namesIn(text)).filter((one) => !(readsAllowed as readonly string[]).includes(one));
    t.same(
      others.filter((one) => !isKnown[name]?.(one)),
      [],
      `${name} names no other command`,
    );
    const calls = [...text.matchAll(/\bcontext\.call\b|\bsendCommand\b|\bstreams\b|\bbroker\b/g)];
    t.equal(
      calls.length,
      { "reads.ts": 1, "execute.ts": 1 }[name] ?? 0,
      `${name} calls others by no other way`,
    );
  }
  t.same(
    namesIn('const x = "wave.override"; import y from "review.book";'),
    ["wave.override"],
    "names are seen",
  );

  const actors = [caseActor, reviewActor, waveActor].map(
    (factory): Actor => factory({ config: {} } as ActorContext),
  );
  for (const name of readsAllowed) {
    const [owner, query = ""] = name.split(".");
    const actor = actors.find((one) => one.name === owner);
    t.ok(actor?.queries?.[query], `${name} is a query of ${owner}`);
    t.notOk(
      actor?.commands?.[query] ?? actor?.deciders.some(({ commands }) => commands.includes(query)),
      "and no command",
    );
  }
  const sent: string[] = [];
  const call = async (name: string) => {
    sent.push(name);
    return null as never;
  };
  const asking = {
    tenant: "XN",
    principal: systemPrincipal("XN", "agent"),
    correlationUrn: "urn:correlation:x",
    traceparent: "00",
  };
  const read = readerFor({ call }, asking) as (name: string, params: object) => Promise<unknown>;
  for (const name of ["wave.override", "review.rebook", "message.send", "sub-case.compensate"])
    await t.rejects(read(name, {}), /no read that the agent may make/);
  t.same(sent, []);
});

t.test("a model has three tools, and none of them reaches anything", async (t) => {
  t.same(
    toolList.map(({ name }) => name),
    ["search_hotels", "cost_policy_relaxation", "classify_failure"],
  );
  const { files, packages } = loadedWith(`${folder}/tools.ts`, `${folder}/briefing.ts`);
  t.same(
    files.filter((path) => !/^(schemas|actors\/agent)\//.test(path)),
    ["actors/runtime/input.ts", "actors/runtime/masking.ts"],
  );
  t.ok(
    files.every((path) => !/reads|gather|triage|execute|keep|service/.test(path)),
    "nor what could read more",
  );
  const allowed = /^(typebox|ajv|ajv-formats|country-to-currency|node:(crypto|fs|path|util))(\/.*)?$/;
  t.same(
    packages.filter((name) => !allowed.test(name)),
    [],
    "no package that reaches out",
  );

  const planner = loadedWith(`${folder}/model-planner.ts`);
  t.same(
    planner.files.filter((path) => !files.includes(path)),
    [`${folder}/model-planner.ts`, "actors/runtime/model.ts"],
    "whoever asks the model has the model, and nothing else",
  );
  t.same(
    planner.packages.filter((name) => !packages.includes(name)),
    ["openai"],
  );
  t.ok(
    loadedWith(`${folder}/service.ts`).files.includes("actors/runtime/store.ts"),
    "what is loaded from afar is seen",
  );
  for (const path of files.filter((one) => one.startsWith(folder)))
    t.notMatch(
      readFileSync(join(root, path), "utf8"),
      /\b(fetch|WebSocket|process|context|dispatch|send)\b[.(]/,
      path,
    );
});
