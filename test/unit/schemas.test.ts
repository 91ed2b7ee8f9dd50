// What everything else relies on: URNs in both written forms and under hostile texts, the catalogue of problems, scopes of events.
import { Ajv } from "ajv";
import fc from "fast-check";
import t from "tap";
import { publicEvents, publicEventTypes, typesFor } from "../../schemas/events.ts";
import { compiledWhenUsed } from "../../schemas/formats.ts";
import { languageOf, needsOf, normalName, normalPnr, type Passenger } from "../../schemas/passenger.ts";
import { Problem, type ProblemCode, problems } from "../../schemas/problems.ts";
import { idOf, isUrnOf, parseUrn, tenantOfId, urn, urnKinds } from "../../schemas/urn.ts";
import { scopes } from "../../schemas/vocabulary.ts";

const ulid = "01JD0000000000000000000000";

t.test("URNs that are ours", async (t) => {
  const table: [string, string, string, string | undefined][] = [
    [`urn:case:XN-${ulid}`, "case", `XN-${ulid}`, "XN"],
    [`urn:stopover:case:XN-${ulid}`, "case", `XN-${ulid}`, "XN"],
    ["urn:airline:XN", "airline", "XN", "XN"],
    ["urn:stopover:airline:XNA", "airline", "XNA", "XNA"],
    ["urn:hotel:jfk-garden-court", "hotel", "jfk-garden-court", undefined],
    ["urn:user:auth0|5f7c", "user", "auth0|5f7c", undefined],
    ["urn:user:ana@example.com", "user", "ana@example.com", undefined],
    [
      "urn:passenger-session:0b9f6c1e-1111-4222-8333-444455556666",
      "passenger-session",
      "0b9f6c1e-1111-4222-8333-444455556666",
      undefined,
    ],
    [`urn:sub-case:XN-${ulid}`, "sub-case", `XN-${ulid}`, "XN"],
    [`urn:reservation:XN-${ulid}:vendor:stayhub`, "reservation", `XN-${ulid}`, "XN"],
    [`urn:reservation:XN-${ulid}:vendor:stayhub:status:CONFIRMED`, "reservation", `XN-${ulid}`, "XN"],
    [`urn:stopover:reservation:XN-${ulid}:vendor:stayhub`, "reservation", `XN-${ulid}`, "XN"],
  ];
  for (const [text, kind, id, tenant] of table) {
    t.strictSame(parseUrn(text), { kind, id, tenant }, text);
    t.equal(idOf(text), id);
    t.ok(isUrnOf(text, [kind as "case"]));
    t.notOk(isUrnOf(text, [kind === "case" ? "wave" : "case"]));
  }
  t.equal(tenantOfId(`XN-${ulid}`), "XN");
});

t.test("texts that are no URN of ours", async (t) => {
  const table = [
    "",
    "urn",
    "urn:",
    "urn:case",
    "urn:case:",
    "case:XN-1",
    "URN:case:XN-1",
    "urn:case:1",
    "urn:case:-1",
    "urn:case:xn-1",
    "urn:case:LONGCODE-1",
    "urn:airline:xn",
    "urn:airline:X",
    "urn:airline:XN:more",
    "urn:nothing:XN-1",
    "urn:a:b:case:XN-1",
    "urn::case:XN-1",
    "urn:<script>:case:XN-1",
    "urn:-x:case:XN-1",
    "urn:stop over:case:XN-1",
    "urn:__proto__:XN-1",
    "urn:constructor:XN-1",
    "urn:case:XN-1:vendor:stayhub",
    "urn:reservation:XN-1:vendor",
    "urn:reservation:XN-1:status:CONFIRMED",
    "urn:reservation:XN-1:vendor:stayhub:status",
    "urn:reservation:XN-1:vendor:a:status:b:c:d",
    "urn:case:XN-1/../../etc",
    "urn:case:XN-1\n",
    "urn:case:XN-1 ",
    "urn:case:XN-%2e",
    "urn:case:XN-*",
    "urn:case:XN->",
    "urn:case:XN-{$ne:1}",
    `urn:case:XN-${"1".repeat(200)}`,
    `urn:${"n".repeat(290)}:case:XN-1`,
  ];
  for (const text of table) {
    t.equal(parseUrn(text), undefined, JSON.stringify(text.slice(0, 60)));
    t.throws(() => idOf(text), TypeError);
  }
});

t.test("any text at all", async (t) => {
  const hostile = "aZ0-._~|@+:/\\%*>$ \n\u0000\u202e{}'\"<é😀";
  const piece = fc.oneof(
    fc.constantFrom("urn", ...urnKinds, "XN", "XN-1", "vendor", "status", "stopover", "", "__proto__"),
    fc.string({ unit: fc.constantFrom(...hostile), maxLength: 6 }),
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(":")),
    fc.array(piece, { maxLength: 7 }).map((pieces) => ["urn", ...pieces].join(":")),
  );
  fc.assert(
    fc.property(text, (any) => {
      const parsed = parseUrn(any);
      if (parsed === undefined) return true;
      // Ids go into document filters, subjects' last tokens and paths: nothing in them may mean anything there.
      const plain = /^[A-Za-z0-9][A-Za-z0-9._~|@+-]*$/.test(parsed.id);
      const short = urn(parsed.kind, parsed.id);
      return (
        plain && urnKinds.includes(parsed.kind) && JSON.stringify(parseUrn(short)) === JSON.stringify(parsed)
      );
    }),
    { numRuns: 1000 },
  );
  t.pass("is ours in a plain form, or not ours");
});

t.test("the catalogue of problems", async (t) => {
  const statuses: Readonly<Record<string, number[]>> = {
    auth: [401, 403],
    validation: [400, 406, 413, 415, 422],
    "not-found": [404, 405],
    conflict: [409],
    idempotency: [422],
    rate: [429],
    upstream: [502, 503, 504],
    internal: [500],
  };
  const titles = new Set<string>();
  for (const [code, { status, title, retry }] of Object.entries(problems)) {
    const [family = "", what = ""] = code.split("/");
    t.match(what, /^[a-z]+(-[a-z]+)*$/, code);
    t.ok(statuses[family]?.includes(status), `${code} answers ${status}`);
    t.ok(["never", "after_reload", "later"].includes(retry), code);
    t.notMatch(title, /\.$/, `${code}: a title is no sentence`);
    t.notOk(titles.has(title), `${code}: its title is its own`);
    titles.add(title);
    const first = code === "conflict/in-flight" ? "later" : "after_reload";
    if (family === "conflict") t.equal(retry, first, `${code}: load again, then decide`);
    if (status === 429 || status >= 500) t.equal(retry, "later", code);
  }
  for (const code of Object.keys(problems) as ProblemCode[]) {
    const problem = new Problem(code, "What was wrong.", {
      state: "OPEN",
      errors: [{ pointer: "/a", detail: "b" }],
    });
    const again = Problem.from(JSON.parse(JSON.stringify(problem.record())));
    t.strictSame(
      [again.code, again.message, again.members, again.status],
      [code, problem.message, problem.members, problems[code].status],
    );
  }
});

t.test("who hears of which event", async (t) => {
  t.strictSame(new Set(Object.keys(publicEvents)), publicEventTypes);
  for (const [type, needed] of Object.entries(publicEvents)) {
    t.match(type, /^[a-z]+\.[a-z]+(-[a-z]+)*$/, "two words, as a subject needs them");
    t.ok(needed.length > 0 && needed.every((scope) => scopes.includes(scope)), type);
  }
  const table: [Parameters<typeof typesFor>[0], string[]][] = [
    [[], []],
    [["metrics.read"], []],
    [["vouchers.read"], ["voucher.issued", "voucher.amended"]],
    [["wallet.events.subscribe"], ["wallet.card-issued", "wallet.card-tx"]],
    [["disruptions.events.subscribe"], ["disruption.detected", "case.opened"]],
    [
      ["disruptions.events.subscribe", "wallet.events.subscribe"],
      ["disruption.detected", "case.opened", "wallet.card-issued", "wallet.card-tx"],
    ],
  ];
  for (const [held, types] of table) t.strictSame(typesFor(held), types, held.join(", ") || "nothing");
  t.strictSame(new Set(typesFor(scopes)), publicEventTypes, "all scopes hear all");
});

t.test("how names, references, needs and languages compare", async (t) => {
  const person = (more: Partial<Passenger>): Passenger => ({
    urn: "urn:passenger:XN-1",
    specialRequirements: [],
    contact: {},
    ...more,
  });
  t.equal(normalPnr(" k7-q x2m "), "K7QX2M");
  t.equal(normalName("O'Brien-Núñez"), normalName("obrien nunez"));
  const needs: [string[], string[]][] = [
    [["WCHC"], ["WHEELCHAIR"]],
    [["wchr", "WCHS"], ["REDUCED_MOBILITY"]],
    [
      ["service animal", "BSCT"],
      ["SERVICE_ANIMAL", "INFANT_COT"],
    ],
    [["VGML", "constructor"], []],
  ];
  for (const [said, found] of needs)
    t.strictSame(needsOf([person({ specialRequirements: said })]), found, said.join());
  const wheelchairs = ["WCHC", "WCHC"].map((code) => person({ specialRequirements: [code, code] }));
  t.strictSame(needsOf(wheelchairs), ["WHEELCHAIR", "WHEELCHAIR"], "two passengers' are two");
  const languages: [(string | undefined)[], string][] = [
    [[], "en"],
    [["pt-BR"], "pt"],
    [[undefined, "DE"], "de"],
    [["xx", "fr"], "fr"],
    [["xx"], "en"],
  ];
  for (const [said, found] of languages)
    t.equal(
      languageOf(said.map((language) => person({ contact: language === undefined ? {} : { language } }))),
      found,
      said.join(),
    );
});

t.test("schemas are compiled with the first value, and tell of the last", async (t) => {
  const isName = compiledWhenUsed<string>(new Ajv(), { type: "string", maxLength: 3 });
  t.equal(isName.errors, undefined);
  t.notOk(isName("Okafor"));
  t.match(isName.errors, [{ keyword: "maxLength" }]);
  t.ok(isName("Ana"));
  t.equal(isName.errors, null);
  const unknown = compiledWhenUsed(new Ajv({ strict: true }), { nobody: "knows" });
  t.throws(() => unknown("x"), /nobody/, "not when it is made");
});
