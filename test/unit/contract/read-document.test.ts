// Reading a document as its command comes, comes again after a death, comes twice at once, or too late.
import type { Document } from "mongodb";
import t, { type Test } from "tap";
import { analyses } from "../../../actors/contract/analysis.ts";
import type { AnalysisEvent, AnalysisState } from "../../../actors/contract/analysis-state.ts";
import { readDocument } from "../../../actors/contract/read-document.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext, Dispatch } from "../../../actors/runtime/host.ts";
import type { AnalyzeDocument, ReadingOutcome } from "../../../schemas/contract-analysis.ts";
import { folded, received, supervisor } from "../../harness/given.ts";

const file = { name: "a.pdf", mediaType: "application/pdf", bytes: 3, sha256: "ab" } as const;
const data: AnalyzeDocument = { file, document: { stagedId: "S", pieces: 2 } };
const requested = analyses.decide(
  undefined,
  received("contract.analyze", data, { principal: supervisor }),
  undefined,
);
const outcome: ReadingOutcome = { refusal: { reason: "NO_TEXT", detail: "Nothing on it" } };

/** One analysis, its staged bytes, and a reader; `died` is how often a process has died of it before. */
const stand = ({ died = 0, staged = true, fails = false, turn = Promise.resolve() } = {}) => {
  let state = folded<AnalysisState, AnalysisEvent>(analyses, requested) as AnalysisState;
  const told: string[] = [];
  const dispatch: Dispatch = async (verb, command) => {
    const events = analyses.decide(state, { ...command, now: new Date(command.issuedAt) }, undefined);
    if (events.length > 0) told.push(verb);
    state = folded<AnalysisState, AnalysisEvent>(analyses, events, state) as AnalysisState;
    return { ok: null };
  };
  const text = JSON.stringify(Buffer.from("PDF").toString("base64"));
  const pieces = new Map<string, string>(
    staged
      ? [
          ["S/0", text.slice(0, 2)],
          ["S/1", text.slice(2)],
        ]
      : [],
  );
  const collections: Record<string, object> = {
    contractAnalyses: {
      findOne: async () => ({ ...state, _id: "XN-1", version: 1, schemaVersion: 1 }) as Document,
    },
    staged: {
      find: () => ({ toArray: async () => [...pieces].map(([_id, piece]) => ({ _id, text: piece })) }),
      deleteMany: async () => pieces.clear(),
    },
  };
  const documents = { tenant: () => ({ collection: (name: string) => collections[name] }) };
  const read: string[] = [];
  const reader = {
    inTurn: <Result>(_tenant: string, work: () => Promise<Result>) => turn.then(work),
    read: async (
      bytes: Uint8Array,
      _type: unknown,
      onProgress: (at: { pages: number; pagesRead: number }) => void,
    ) => {
      read.push(Buffer.from(bytes).toString());
      onProgress({ pages: 1, pagesRead: 1 });
      if (fails) throw new Error("its process has ended");
      return outcome;
    },
  };
  const command: Received = received("contract.read-document", {}, { entity: "XN-1" });
  const carryOut = readDocument({ documents } as unknown as ActorContext, reader);
  const run = () => carryOut(command, dispatch);
  for (let i = 0; i < died; i++)
    state = folded<AnalysisState, AnalysisEvent>(
      analyses,
      analyses.decide(state, received("contract.begin-reading"), undefined),
      state,
    ) as AnalysisState;
  return { run, told, read, pieces, state: () => state };
};

const whole = ["begin-reading", "note-progress", "note-reading"];

t.test("read, told, forgotten", async (t) => {
  const { run, told, read, pieces, state } = stand();
  await run();
  t.strictSame(read, ["PDF"]);
  t.strictSame(told, whole);
  t.equal(pieces.size, 0);
  t.match(state(), { status: "REFUSED", attempts: 1, pages: 1, pagesRead: 1, ...outcome });
  await run();
  t.strictSame(read, ["PDF"], "and not again");
});

t.test("after a death it is read again, and in the end given up", async (t: Test) => {
  const again = stand({ died: 2 });
  await again.run();
  t.match(again.state(), { attempts: 3, ...outcome });
  const over = stand({ died: 3 });
  await over.run();
  t.strictSame(over.read, []);
  t.match(over.state(), { status: "REFUSED", refusal: { reason: "LOST" } });
  t.equal(over.pieces.size, 0);
});

t.test("what the reader fails at comes again with its bytes still there", async (t) => {
  const { run, pieces, state } = stand({ fails: true });
  for (const attempts of [1, 2, 3]) {
    await t.rejects(run(), { message: "its process has ended" });
    t.match(state(), { status: "READING", attempts });
    t.equal(pieces.size, 2);
  }
  await run();
  t.match(state(), { refusal: { reason: "LOST" } });
});

t.test("asked for twice at once it is read once; without its bytes it is lost", async (t) => {
  const { promise: turn, resolve: itsTurn } = Promise.withResolvers<void>();
  const twice = stand({ turn });
  const first = twice.run();
  await twice.run();
  t.strictSame(twice.read, [], "who asks again waits for nothing");
  itsTurn();
  await first;
  t.strictSame(twice.read, ["PDF"]);
  const lost = stand({ staged: false });
  await lost.run();
  t.match(lost.state(), { status: "REFUSED", refusal: { reason: "LOST" } });
});
