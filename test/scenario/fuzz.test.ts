// Every route of the tables under requests that nobody should send: each answer is one that the route names, in the shape
// that it names, nothing of another airline is in it, and the service stands afterwards.

import fc from "fast-check";
import t from "tap";
import type { TSchema } from "typebox";
import type { Route } from "../../gateway/route.ts";
import { allRoutes } from "../../gateway/routes/all.ts";
import { exampleOf } from "../../gateway/schema-example.ts";
import type { CaseView } from "../../schemas/case.ts";
import { type Call, checkPromise, startClients, type Told, type ToldProblem } from "../harness/clients.ts";
import { fuzz } from "../harness/environment.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { bodyBytes, hostileName, hostileText } from "./fuzzing/hostile.ts";

const night = await startClients(t, { sandbox: false });
const [xn, qz] = night.airlines;
const processId = night.services[0]?.pid;
const push = smallFlight("XN", "fuzz", 3);
const { caseUrn } = (await night.pushed(xn, push)).body;
await night.pushed(qz, smallFlight("QZ", "other", 1));
await night.events.untilCount("review.opened", 1, { caseUrn });
/** On a case that no request names: whatever happens to the others, this session lives on. */
const aside = smallFlight("XN", "aside", 1);
const { caseUrn: asideUrn } = (await night.pushed(xn, aside)).body;
await night.events.untilCount("review.opened", 1, { caseUrn: asideUrn });
const traveller = travellersOf(aside.passengers)[0] ?? { pnr: "", lastName: "" };
const tokens: Record<Route["surface"], string> = {
  operator: await night.operatorToken(xn.urn, "ADMIN"),
  partner: await night.partnerToken(xn),
  passenger: await night.passengerToken(xn, traveller),
  platform: "",
};
const seen = (await night.call<CaseView>("getCase", { token: tokens.operator, params: { caseUrn } })).body;
/** URNs in the text of one case: of most kinds there is one that stands. */
const own = [...new Set(JSON.stringify(seen).match(/urn:[a-z-]+:XN-[0-9A-Z-]+/g))];

const kindsOf = (schema: TSchema): readonly string[] => (schema as { urn?: string[] }).urn ?? [];

/** A path's parameter: one that stands, one that could, or anything at all. */
const parameter = (schema: TSchema): fc.Arbitrary<string> => {
  const [kind = "case"] = kindsOf(schema);
  const standing = own.filter((urn) => urn.startsWith(`urn:${kind}:`));
  const unknown = `urn:${kind}:XN-01JD0000000000000000000000`;
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(unknown, ...standing) },
    { weight: 2, arbitrary: hostileText },
  );
};

/** Spaces and control characters cannot stand in a request line; everything else goes out as it is or encoded. */
const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

const pathOf = (route: Route): fc.Arbitrary<string> => {
  const parameters = Object.entries(route.params?.properties ?? {});
  return fc
    .tuple(...parameters.map(([, schema]) => parameter(schema)))
    .map((values) =>
      parameters.reduce(
        (path, [name], i) => path.replace(`{${name}}`, () => encoded(values[i] ?? "")),
        String(route.path),
      ),
    );
};

const queryOf = (route: Route): fc.Arbitrary<string> => {
  const known = Object.entries(route.querystring?.properties ?? {});
  const fitting = known.map(([name, schema]) => [name, String(exampleOf(schema))] as const);
  const name = fc.oneof(
    hostileName,
    fc.constantFrom("limit", "cursor", "offset", ...known.map(([name]) => name)),
  );
  return fc
    .tuple(fc.subarray(fitting), fc.array(fc.tuple(name, hostileText), { maxLength: 2 }))
    .map(([given, hostile]) =>
      [...given, ...hostile].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&"),
    );
};

const printable = fc.string({ maxLength: 300, unit: "grapheme-ascii" }).map((text) => text.trim());
const headers = fc.record(
  {
    "Idempotency-Key": fc.oneof(printable, fc.constantFrom("k1", "k2")),
    "If-Match": fc.oneof(printable, fc.constantFrom('"1"', "*", 'W/"1"', '"999999999999999999999"')),
    "If-None-Match": fc.oneof(printable, fc.constantFrom('"1"', "*")),
    Accept: fc.oneof(printable, fc.constantFrom("*/*", "application/json;q=0", "text/html")),
    "Content-Type": fc.oneof(
      printable,
      fc.constantFrom("application/json", "application/json; charset=latin1", "text/plain"),
    ),
    "Content-Encoding": fc.constantFrom("gzip", "identity", "br"),
    traceparent: fc.oneof(printable, fc.constant("00-00000000000000000000000000000000-0000000000000000-00")),
    Origin: fc.oneof(printable, fc.constantFrom("null", "https://evil.example")),
    Cookie: fc.oneof(printable, fc.constant("__Host-session=x")),
  },
  { requiredKeys: [] },
);
const fewHeaders = fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: headers });

const callOf = (route: Route): fc.Arbitrary<Call> =>
  fc
    .tuple(
      pathOf(route),
      queryOf(route),
      route.body === undefined
        ? fc.constant(undefined)
        : bodyBytes(exampleOf(route.body) as Record<string, unknown>),
      fewHeaders,
    )
    .map(([path, query, raw, headers]) => ({
      rawPath: query === "" ? path : `${path}?${query}`,
      headers,
      ...(raw === undefined ? {} : { raw }),
    }));

/** Whoever may do everything there; not part of what is drawn, so that no token stands in a report. */
const as = (surface: Route["surface"]): Call => ({
  ...(surface === "platform" ? {} : { token: tokens[surface] }),
  ...(surface === "passenger" ? { host: xn.passengerHost } : {}),
});

/** A hostile parameter may make the path that of another route, or of none. */
const missed = ({ body }: Told<unknown>): boolean =>
  /not-found\/(route|method)$/.test((body as Partial<ToldProblem>)?.type ?? "");

/** RFC 6585: more than 4 KiB of headers and request line, which the server below answers by itself. */
const headersTooLarge = 431;

const check = (route: Route, told: Told<unknown>): void => {
  if (told.status === headersTooLarge) return;
  if (told.status >= 500 && route.id !== "reportReadiness")
    throw new Error(`${route.id} answered ${told.status}: ${JSON.stringify(told.body)}`);
  if (!missed(told)) checkPromise(route.id, told);
  if (told.headers.traceparent === undefined) throw new Error(`${route.id} answered without a traceparent`);
  const text = JSON.stringify(told.body);
  if (told.status < 400 && /urn:[a-z-]+:QZ/.test(text))
    throw new Error(`${route.id} shows another airline: ${text.slice(0, 500)}`);
};

const timeoutMs = 60_000 + fuzz.requests * 3000;
t.test(`every route, ${fuzz.requests} requests each`, { timeout: timeoutMs }, async (t) => {
  const statuses = new Map<number, number>();
  for (const route of allRoutes) {
    const property = fc.asyncProperty(callOf(route), async (call) => {
      const told = await night.sent(route.id, { ...call, ...as(route.surface) });
      statuses.set(told.status, (statuses.get(told.status) ?? 0) + 1);
      check(route, told);
    });
    const found = await fc.check(property, { seed: fuzz.seed, numRuns: fuzz.requests, endOnFailure: true });
    const why = `${String(found.errorInstance)}\n${fc.defaultReportMessage(found)}`;
    t.notOk(found.failed, found.failed ? why : route.id);
  }
  t.comment(JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b))));
});

t.test("the service stands, and a flight that follows is taken in", async (t) => {
  t.equal(night.services[0]?.pid, processId);
  const { subCaseCount } = (await night.pushed(xn, smallFlight("XN", "after", 2))).body;
  t.equal(subCaseCount, 2);
});
