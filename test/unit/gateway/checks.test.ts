/** Owns the tables for the gateway's pure parts: routing, roles, JSON, schemas, URNs, traces, problems. */
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import t from "tap";
import Type from "typebox";
import { rolesOf } from "../../../gateway/auth/roles.ts";
import { compileBody, compileQuery } from "../../../gateway/checks/match-schema.ts";
import { compileUrnCheck } from "../../../gateway/checks/own-urns.ts";
import { isPrintable, pointerOf, readJson } from "../../../gateway/checks/read-json.ts";
import { compileRoute } from "../../../gateway/compile-route.ts";
import { readableAddress } from "../../../gateway/http/address.ts";
import type { Exchange } from "../../../gateway/http/exchange.ts";
import { createProblemTeller } from "../../../gateway/problem-response.ts";
import { takesIdempotencyKey } from "../../../gateway/route.ts";
import { Router } from "../../../gateway/router.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { exampleOf } from "../../../gateway/schema-example.ts";
import { beginTrace, validTraceparent } from "../../../gateway/trace.ts";
import { ProblemResponse } from "../../../schemas/problem-response.ts";
import { Problem, type ProblemCode, problems } from "../../../schemas/problems.ts";
import { Urn } from "../../../schemas/urn.ts";

const ulid = "01JD0000000000000000000000";

t.test("router", async (t) => {
  const router = new Router<string>();
  router.add("GET", "/cases/{caseUrn}", "detail");
  router.add("GET", "/cases/dashboard", "dashboard");
  router.add("POST", "/cases/{caseUrn}/groups:merge", "merge");
  t.same(router.match("GET", "/cases/dashboard"), { row: "dashboard", values: [] });
  t.same(router.match("GET", "/cases/urn%3Acase%3AXN-1"), { row: "detail", values: ["urn:case:XN-1"] });
  // The fixed segment leads nowhere, so the parameter is tried.
  t.same(router.match("POST", "/cases/dashboard/groups:merge"), { row: "merge", values: ["dashboard"] });
  t.same(router.match("HEAD", "/cases/x%2Fy"), { row: "detail", values: ["x/y"] });
  for (const path of ["", "/", "/cases", "/cases/", "/cases//groups:merge", "/CASES/x"])
    t.throws(() => router.match("GET", path), { code: "not-found/route" }, path);
  const notAllowed = new Problem("not-found/method", "Use one of GET, HEAD, OPTIONS.", {
    allow: ["GET", "HEAD", "OPTIONS"],
  });
  t.throws(() => router.match("PUT", "/cases/x"), notAllowed);
  t.throws(() => router.match("GET", "/cases/%ff"), { code: "validation/malformed" });
  t.throws(() => router.add("GET", "/cases/{other}", "again"), {
    message: "two routes for GET /cases/{other}",
  });
});

t.test("role inheritance", async (t) => {
  t.same([...rolesOf("ADMIN")].sort(), ["ADMIN", "AIRPORT_OPERATOR", "FINANCE_AUDIT", "OPS_SUPERVISOR"]);
  t.same([...rolesOf("OPS_SUPERVISOR")], ["OPS_SUPERVISOR", "AIRPORT_OPERATOR"]);
  t.same([...rolesOf("AIRPORT_OPERATOR")], ["AIRPORT_OPERATOR"]);
  t.same([...rolesOf("FINANCE_AUDIT")], ["FINANCE_AUDIT"]);
});

/** A request that has come in full, without a socket. */
const sent = (text: string | Buffer, contentType = "application/json", contentEncoding = ""): Exchange =>
  ({
    hasBody: true,
    headers: { contentType, contentEncoding },
    body: async () => Buffer.from(text),
  }) as unknown as Exchange;

t.test("JSON", async (t) => {
  const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
  const refused: [string, string | Buffer, ProblemCode, string?][] = [
    ["not JSON", "{a:1}", "validation/malformed"],
    ["empty text", " ", "validation/malformed"],
    ["broken UTF-8", Buffer.from([0x22, 0xc3, 0x22]), "validation/malformed"],
    ["too deep", deep(40), "validation/malformed"],
    ["deep enough to overflow a stack", deep(200_000), "validation/malformed"],
    ["NUL", '{"a":[{"b/c":"x\\u0000"}]}', "validation/body", "/a/0/b~1c"],
    ["escape", '["\\u001b[2J"]', "validation/body", "/0"],
    ["half a surrogate pair", '{"a~":"\\ud800"}', "validation/body", "/a~0"],
    ["prototype", '{"a":{"__proto__":{}}}', "validation/body", "/a/__proto__"],
    ["constructor", '{"constructor":{"prototype":{}}}', "validation/body", "/constructor"],
    ["control character in a name", '{"a\\u0000":1}', "validation/body", "/a\u0000"],
    ["beyond every number", '{"n":1e999}', "validation/body", "/n"],
    ["beyond exactness", '{"n":-9007199254740993}', "validation/body", "/n"],
  ];
  for (const [name, text, code, pointer] of refused) {
    const error = await readJson(sent(text)).catch((thrown: unknown) => thrown);
    t.match(error, { code }, name);
    if (pointer !== undefined) t.equal((error as Problem).members.errors?.[0]?.pointer, pointer, name);
  }
  const fine = '{"a":"tab\\t, line\\n, 😀, é","n":9007199254740991,"d":0.1}';
  t.same((await readJson(sent(fine))).value, JSON.parse(fine));
  t.same((await readJson(sent("\ufeff{}"))).value, {}, "a byte order mark is skipped");
  for (const type of ["application/json; charset=UTF-8", 'Application/JSON;charset="utf-8"'])
    t.same((await readJson(sent("1", type))).value, 1, type);
  for (const type of ["", "text/json", "application/jsonx", "application/json; charset=utf-16"])
    await t.rejects(readJson(sent("1", type)), { code: "validation/media-type" }, type);
  await t.rejects(readJson(sent("1", "application/json", "gzip")), { code: "validation/media-type" });
  t.notOk(isPrintable("\u0085"));
  t.equal(pointerOf([]), "");
});

t.test("what a body is told", async (t) => {
  const match = compileBody(
    Type.Object({
      number: Type.String({ pattern: "^X[0-9]$", examples: ["X1"] }),
      at: Type.Optional(Type.String({ format: "date-time" })),
      of: Type.Optional(Urn("case", "wave")),
      kind: Type.Optional(Type.Enum(["A", "B"])),
      "a/b~c": Type.Optional(Type.Integer({ minimum: 1 })),
      list: Type.Optional(Type.Array(Type.Object({ x: Type.String({ maxLength: 2 }) }), { maxItems: 100 })),
    }),
  );
  const told = (body: unknown, bytes = 10) => {
    try {
      return match(body, bytes);
    } catch (error) {
      return Object.fromEntries(((error as Problem).members.errors ?? []).map((e) => [e.pointer, e.detail]));
    }
  };
  t.same(told({ number: "X1", more: 1, list: [{ x: "a", y: 2 }] }), { number: "X1", list: [{ x: "a" }] });
  t.same(told([]), { "": "must be an object" });
  t.same(
    told({ at: "today", of: "urn:hotel:a", kind: "C", "a/b~c": 0, list: [{ x: "a" }, { x: "abc" }, {}, 7] }),
    {
      "/number": "is required",
      "/at": "must be a time in ISO 8601 with its zone, such as 2026-11-21T21:30:00Z",
      "/of": `must be a URN of the kind case or wave, such as urn:case:XN-${ulid}`,
      "/kind": "must be one of A, B",
      "/a~1b~0c": "must be >= 1",
      "/list/1/x": "must NOT have more than 2 characters",
      "/list/2/x": "is required",
      "/list/3": "must be an object",
    },
  );
  t.same(told({ number: "7" }), { "/number": "has the wrong form, such as X1" });
  // Times that their formats let pass, and that no calculation takes.
  for (const at of ["2016-12-31T23:59:60Z", "2026-11-21T21:30:00+05"])
    t.same(told({ number: "X1", at }), {
      "/at": "must be a time in ISO 8601 with its zone, such as 2026-11-21T21:30:00Z",
    });
  const many = { number: "X1", list: Array(90).fill({}) };
  t.equal(Object.keys(told(many)).length, 50, "not more than anybody reads");
  t.equal(Object.keys(told(many, 1_000_000)).length, 1, "a large body gets the first alone");
  t.throws(() => match(undefined, 0), { code: "validation/malformed" });
  t.same(compileBody(Type.Object({ a: Type.Optional(Type.String()) }))(undefined, 0), {});
  const strict = compileBody(Type.Object({ id: Type.String() }, { additionalProperties: false }));
  t.same(strict({ id: "a" }, 10), { id: "a" });
  t.throws(() => strict({ id: "a", text: "Hello" }, 10), {
    code: "validation/body",
    members: { errors: [{ pointer: "/text", detail: "is not taken here" }] },
  });
  const mixed = Type.Object({ a: Type.Union([Type.Object({ b: Type.String() }), Type.Null()]) });
  t.throws(() => compileBody(mixed), { message: /must not mix/ });
  t.same({ ...compileQuery(Type.Object({}))("a=1&toString=2") }, {});
});

t.test("URNs wherever a schema lets one stand", async (t) => {
  const check = compileUrnCheck(
    Type.Object({
      one: Type.Optional(Urn("case")),
      list: Type.Optional(Type.Array(Type.Object({ of: Urn("passenger", "hotel") }))),
      plain: Type.Optional(Type.Array(Urn("airline"))),
      map: Type.Optional(Type.Record(Type.String({ pattern: "^k" }), Urn("wave"))),
      either: Type.Optional(Type.Union([Urn("review"), Type.Null()])),
      text: Type.Optional(Type.String()),
    }),
  )!;
  const foreign = { message: /urn:.* belongs to another airline/, code: "auth/foreign-tenant" };
  t.throws(() => check({ one: `urn:case:YB-${ulid}` }, "XN"), foreign);
  t.throws(() => check({ one: `urn:ns:case:YB-${ulid}` }, "XN"), foreign, "the long form too");
  t.throws(() => check({ list: [{ of: "urn:hotel:a" }, { of: `urn:passenger:YB-1` }] }, "XN"), foreign);
  t.throws(() => check({ plain: ["urn:airline:XN", "urn:airline:YB"] }, "XN"), foreign);
  t.throws(() => check({ map: { k1: `urn:wave:YB-1` } }, "XN"), foreign);
  t.throws(() => check({ either: `urn:review:YB-1` }, "XN"), foreign);
  const values = {
    one: `urn:ns:case:XN-${ulid}`,
    list: [{ of: "urn:ns:hotel:a" }],
    either: null,
    text: "urn:case:YB-1",
  };
  check(values, "XN");
  t.same(values, {
    one: `urn:case:XN-${ulid}`,
    list: [{ of: "urn:hotel:a" }],
    either: null,
    text: "urn:case:YB-1",
  });
  const reservation = { r: "urn:ns:reservation:XN-1:vendor:stayhub:status:CONFIRMED" };
  compileUrnCheck(Type.Object({ r: Urn("reservation") }))!(reservation, "XN");
  t.same(reservation, { r: "urn:reservation:XN-1" });
  t.equal(compileUrnCheck(Type.Object({ a: Type.String() })), undefined);
  t.equal(compileUrnCheck(undefined), undefined);
});

t.test("traces", async (t) => {
  const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  t.equal(validTraceparent(good), good);
  t.equal(validTraceparent(`${good.replace("00-", "cc-")}-later`), good);
  const bad = [
    "",
    "x",
    `${good}-more`,
    good.toUpperCase(),
    good.replace("00-", "ff-"),
    good.replace("0af7651916cd43dd8448eb211c80319c", "0".repeat(32)),
    good.replace("b7ad6b7169203331", "0".repeat(16)),
    `${good}\r\nX: 1`,
  ];
  for (const text of bad) t.equal(validTraceparent(text), undefined, text);
  const now = new Date();
  const made = Array.from({ length: 100 }, () => beginTrace("x", now));
  t.equal(new Set(made.map(({ correlationUrn }) => correlationUrn)).size, 100);
  t.equal(new Set(made.map(({ traceparent }) => validTraceparent(traceparent))).size, 100);
});

t.test("addresses", async (t) => {
  const of = (hex: string): string => readableAddress(Buffer.from(hex, "hex"));
  t.equal(of("7f000001"), "127.0.0.1");
  t.equal(of("00000000000000000000ffffc0a80102"), "192.168.1.2", "mapped into IPv6");
  t.equal(of("20010db8000000000000000000000001"), "2001:0db8:0000:0000:0000:0000:0000:0001");
});

t.test("problems", async (t) => {
  const tell = createProblemTeller("https://errors.example/");
  const fits = addFormats.default(new Ajv({ keywords: ["urn"] })).compile(ProblemResponse);
  for (const code of Object.keys(problems) as ProblemCode[]) {
    const answer = tell(new Problem(code, "So."), `urn:correlation:${ulid}`);
    const body = JSON.parse(String(answer.body));
    t.ok(fits(body), code);
    t.equal(body.type, `https://errors.example/${code}`);
    const names = answer.headers.map(([name]) => name);
    t.equal(
      names.includes("WWW-Authenticate"),
      /^auth\/insufficient/.test(code) || answer.status === 401,
      code,
    );
    t.equal(names.includes("Retry-After"), answer.status === 503, code);
  }
  const members = { retryAfterSeconds: 7, allow: ["GET"], scope: "cases.read", lockedBy: "urn:user:1" };
  const answer = tell(new Problem("rate/exceeded", "So.", members), "x");
  t.match(answer.headers, [...answer.headers.slice(0, 3), ["Allow", "GET"], ["Retry-After", "7"]]);
  t.same(Object.keys(JSON.parse(String(answer.body))), [
    "type",
    "title",
    "status",
    "detail",
    "instance",
    "lockedBy",
  ]);
});

t.test("rows", async (t) => {
  const ids = allRoutes.map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, "ids are unique");
  for (const route of allRoutes) {
    const [compiled, ...others] = compileRoute(route);
    t.equal(others.length, route.prefixes.length - 1, `${route.id}: one for each prefix`);
    if (route.body !== undefined)
      t.ok(compiled?.matchBody?.(exampleOf(route.body), 1), `${route.id}: its example fits`);
    if (route.method === "get" && !("command" in route)) t.not(route.rate, "write", `${route.id} reads`);
    else if (route.rawBody === undefined)
      t.equal(route.rate, "write", `${route.id}: what is no GET may cost as much as a write`);
    if ("command" in route && route.method !== "get")
      t.ok(takesIdempotencyKey(route), `${route.id}: a command takes a key`);
  }
  const { params: _left, ...without } = allRoutes.find(({ id }) => id === "getCase")!;
  t.throws(() => compileRoute(without as never), { message: /getCase: path parameters/ });
});
