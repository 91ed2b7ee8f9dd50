// The life of an analysis: read once however often it is told, given up when no process survives it, and what becomes of it
// when somebody makes a contract of it.
import t, { type Test } from "tap";
import { analyses, analysisView, requireReach } from "../../../actors/contract/analysis.ts";
import type { AnalysisEvent, AnalysisState } from "../../../actors/contract/analysis-state.ts";
import type { AnalyzeDocument, Extraction, ReadingOutcome } from "../../../schemas/contract-analysis.ts";
import { Problem } from "../../../schemas/problems.ts";
import { eventsOf, folded, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";

const given = (test: Test) => givenOf<AnalysisState, AnalysisEvent>(test, analyses);
const data: AnalyzeDocument = {
  file: { name: "contract.pdf", mediaType: "application/pdf", bytes: 1000, sha256: "ab" },
  document: { stagedId: "01JD", pieces: 1 },
};
const analyze = received("contract.analyze", data, { principal: supervisor });
const extraction: Extraction = {
  language: "en",
  pagesRecognised: [],
  draft: {},
  conditions: { roomTypes: [] },
  found: [],
  unclear: [],
  missing: [],
};
const ended = (outcome: ReadingOutcome) => received("contract.note-reading", outcome);
const read = ended({ extraction, pages: 2 });
const refused = ended({ refusal: { reason: "ENCRYPTED", detail: "locked" } });
const begin = received("contract.begin-reading");
const confirmed = (contractId: string) => received("contract.note-confirmed", { contractId });
const after = (...commands: ReturnType<typeof received>[]): AnalysisEvent[] =>
  eventsOf<AnalysisState, AnalysisEvent>(analyses, [], analyze, ...commands);
const stateAfter = (...commands: ReturnType<typeof received>[]): AnalysisState =>
  folded<AnalysisState, AnalysisEvent>(analyses, after(...commands)) as AnalysisState;

t.test("handed in, read, confirmed", async (t) => {
  given(t)()
    .when(analyze)
    .then({ type: "contract.analysis-requested" })
    .sends({ to: "command", name: "contract.read-document", entity: "XN-ENTITY" })
    .leads({ status: "QUEUED", attempts: 0, requestedBy: supervisor.urn });
  given(t)(...after())
    .when(analyze)
    .nothing();
  given(t)(...after())
    .when(begin)
    .leads({ status: "READING", attempts: 1 });
  given(t)(...after(begin))
    .when(received("contract.note-progress", { pages: 4, pagesRead: 1 }))
    .leads({ status: "READING", pages: 4, pagesRead: 1 });
  given(t)(...after(begin))
    .when(read)
    .leads({ status: "READY", pages: 2, pagesRead: 2 });
  given(t)(...after(begin))
    .when(refused)
    .leads({ status: "REFUSED", refusal: { reason: "ENCRYPTED" } });
  given(t)(...after(begin, read))
    .when(confirmed("XN-1"))
    .leads({ status: "CONFIRMED", contractIds: ["XN-1"] });
  given(t)(...after(begin, read, confirmed("XN-1")))
    .when(confirmed("XN-2"))
    .leads({ contractIds: ["XN-1", "XN-2"] });
});

t.test("what comes late or twice changes nothing", async (t) => {
  const late = [begin, received("contract.note-progress", { pages: 4, pagesRead: 1 }), read, refused];
  for (const command of late) {
    given(t)(...after(begin, read))
      .when(command)
      .nothing();
    given(t)(...after(begin, refused))
      .when(command)
      .nothing();
    given(t)(...after(begin, read, confirmed("XN-1")))
      .when(command)
      .nothing();
  }
  given(t)(...after(begin, read, confirmed("XN-1")))
    .when(confirmed("XN-1"))
    .nothing();
  given(t)(...after(begin, refused))
    .when(confirmed("XN-1"))
    .nothing();
  given(t)(...after())
    .when(confirmed("XN-1"))
    .nothing();
  given(t)().when(read).refused("not-found/resource");
});

t.test(
  "a document that no process survives is given up, and one that is silent is begun again",
  async (t) => {
    given(t)(...after(begin, begin, begin))
      .when(begin)
      .leads({ status: "REFUSED", refusal: { reason: "LOST" } });
    const asked = stateAfter({ ...begin, now: secondsLater(60) });
    t.strictSame(analyses.timers?.(asked), [{ name: "read-document", dueAt: secondsLater(240) }]);
    for (const over of [
      stateAfter(begin, read),
      stateAfter(begin, refused),
      stateAfter(begin, read, confirmed("XN-1")),
    ])
      t.strictSame(analyses.timers?.(over), []);
  },
);

t.test("who sees it", async (t) => {
  const scoped = { ...supervisor, airport: "JFK" };
  const [wide, narrow] = [
    stateAfter(),
    folded<AnalysisState, AnalysisEvent>(
      analyses,
      eventsOf<AnalysisState, AnalysisEvent>(analyses, [], { ...analyze, principal: scoped }),
    ) as AnalysisState,
  ];
  requireReach(supervisor, wide);
  requireReach(supervisor, narrow);
  requireReach(scoped, narrow);
  t.throws(() => requireReach(scoped, wide), Problem);
  t.throws(() => requireReach({ ...scoped, airport: "LAX" }, narrow), { code: "auth/foreign-airport" });
  const shown = analysisView("XN-1", stateAfter(begin, read, confirmed("XN-2")), 3);
  t.match(shown, {
    status: "CONFIRMED",
    contractUrns: ["urn:contract:XN-2"],
    progress: { pages: 2, pagesRead: 2 },
  });
  t.notOk(JSON.stringify(shown).includes("01JD"), "where the document is kept is nobody's to know");
});
