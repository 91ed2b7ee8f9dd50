/** Owns what HTTP itself promises on every route: negotiation, methods, entity tags, lists, lengths, traces. */
import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import { bodyBytesDefault, isTagged, pathsOf, type Route } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { exampleOf } from "../../../gateway/schema-example.ts";
import { bearer, passengerHost, startTestGateway, ulid } from "./fixture.ts";
import { problemCheck, surfaceTokens } from "./problem-answers.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
const tokens = await surfaceTokens(gateway);
const isProblem = problemCheck(gateway);
const casePath = `/v1/cases/urn:case:XN-${ulid}`;
const asOperator = bearer(tokens.operator);

const pathWith = (route: Route): string => {
  const required = (route.querystring?.required ?? []) as string[];
  const query = required.map(
    (name) => `${name}=${encodeURIComponent(String(exampleOf(route.querystring!.properties[name]!)))}`,
  );
  const path = pathsOf(route)[0]!.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
    String(exampleOf(route.params!.properties[name]!)),
  );
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
};

/** A request that succeeds. */
const calling = (route: Route) => ({
  method: route.method.toUpperCase(),
  body: route.body && exampleOf(route.body),
  headers: {
    ...(route.surface === "passenger" ? { Host: passengerHost } : {}),
    ...("public" in route ? {} : bearer(tokens[route.surface as keyof typeof tokens])),
    ...Object.fromEntries((route.rawBody?.signedIn ?? []).map((header) => [header, "of somebody's"])),
  } as Record<string, string>,
});

t.test("Accept, on every route", async (t) => {
  for (const route of allRoutes) {
    const { headers, ...call } = calling(route);
    const ask = (accept: string) =>
      gateway.ask(pathWith(route), { ...call, headers: { ...headers, Accept: accept } });
    const produced = route.produces ?? "application/json";
    const other = produced === "text/html" ? "application/json" : "text/html";
    for (const refused of [other, `${produced};q=0, */*`, "image/*", "application/problem+json"]) {
      const answer = await ask(refused);
      isProblem(t, answer, "validation/not-acceptable", route);
      t.match(answer.json.detail, produced);
    }
    if ("handler" in route) continue;
    const [kind] = produced.split("/");
    for (const taken of [
      "*/*",
      `${kind}/*`,
      `${other}, ${produced};q=0.1`,
      `${produced.toUpperCase()};q=1.0;v=2, */*;q=0`,
      `${other}, */*;q=0.8`,
      `${produced};charset=utf-8`,
    ]) {
      const answer = await ask(taken);
      t.equal(answer.status, route.success, `${route.id}: ${taken}`);
    }
  }
  const nobody = await gateway.ask(casePath, { headers: { Accept: "text/html" } });
  isProblem(t, nobody, "auth/missing-token");
});

t.test("what a body may be", async (t) => {
  const path = `/v1/demand/case/urn:case:XN-${ulid}`;
  const body = JSON.stringify({ type: "INITIAL", roomsRequested: 3 });
  const ask = (headers: Record<string, string>) =>
    gateway.ask(path, { method: "POST", body, headers: { ...asOperator, ...headers } });
  for (const type of [
    "application/json",
    "Application/JSON; charset=UTF-8",
    'application/json;charset="utf-8"',
    "application/vnd.stopover.v1+json",
  ])
    t.equal((await ask({ "Content-Type": type })).status, 201, type);
  for (const type of [
    "",
    "json",
    "application/xml",
    "application/jsonp",
    "application/+json",
    "text/json",
    "application/json, application/json",
    "application/json; charset=utf-16",
    "multipart/form-data; boundary=x",
  ]) {
    const answer = await ask({ "Content-Type": type });
    isProblem(t, answer, "validation/media-type");
    t.equal(answer.headers.accept, "application/json", type);
  }
  for (const encoding of ["gzip", "br", "deflate, gzip", "x"]) {
    const answer = await ask({ "Content-Encoding": encoding });
    isProblem(t, answer, "validation/media-type");
    t.equal(answer.headers["accept-encoding"], "identity");
  }
  t.equal((await ask({ "Content-Encoding": "identity" })).status, 201);
});

t.test("methods", async (t) => {
  for (const method of ["TRACE", "PUT", "PROPFIND", "M-SEARCH", "PATCH", "DELETE"]) {
    const answer = await gateway.ask("/v1/cases", { method });
    isProblem(t, answer, "not-found/method");
    t.equal(answer.headers.allow, "GET, HEAD, OPTIONS, POST", method);
  }
  const head = await gateway.ask("/v1/allocation/allocate", { method: "HEAD", headers: asOperator });
  t.match(head, { status: 405, text: "", headers: { allow: "OPTIONS, POST" } });
  t.match(await gateway.ask("/v1/cases", { method: "OPTIONS" }), {
    status: 204,
    headers: { allow: "GET, HEAD, OPTIONS, POST" },
  });
});

t.test("entity tags, on every read", async (t) => {
  for (const route of allRoutes.filter(isTagged)) {
    if (!("query" in route)) continue;
    const { headers, ...call } = calling(route);
    const ask = (ifNoneMatch?: string, method = call.method) =>
      gateway.ask(pathWith(route), {
        ...call,
        method,
        headers: { ...headers, ...(ifNoneMatch === undefined ? {} : { "If-None-Match": ifNoneMatch }) },
      });
    const first = await ask();
    const tag = first.headers.etag ?? "";
    t.match(tag, /^"3-[\w-]{16}"$/, route.id);
    for (const known of [tag, `W/${tag}`, `"old", ${tag}`, "*"]) {
      const again = await ask(known);
      t.match(again, { status: 304, text: "", headers: { etag: tag } }, `${route.id}: ${known}`);
      for (const name of ["cache-control", "vary", "traceparent"])
        t.equal(again.headers[name] === undefined, first.headers[name] === undefined, name);
    }
    t.equal((await ask(tag, "HEAD")).status, 304);
    for (const unknown of ["", '"old"', `"${tag}"`, "nonsense"])
      t.equal((await ask(unknown)).status, route.success, `${route.id}: ${unknown}`);
    gateway.act(route.query, () => ({ ok: { html: "<p>other</p>" }, version: 3 }));
    const changed = await ask(tag);
    t.equal(changed.status, route.success, "the same version shows something else");
    t.not(changed.headers.etag, tag);
    gateway.act(route.query, () => ({ problem: { code: "not-found/resource", detail: "x", members: {} } }));
    t.equal((await ask("*")).status, 404, "a refusal stands before the tag");
    gateway.act(route.query, (_envelope, name) => ({ ok: { html: "<p></p>", name }, version: 3 }));
  }
});

t.test("a read's tag is what a write takes", async (t) => {
  gateway.act("case.detail", () => ({ ok: { urn: "urn:case:x" }, version: 12 }));
  const { etag = "" } = (await gateway.ask(casePath, { headers: asOperator })).headers;
  const close = (ifMatch: string) =>
    gateway.ask(`${casePath}/close`, {
      method: "POST",
      body: { reason: "x" },
      headers: { ...asOperator, "If-Match": ifMatch },
    });
  const seen = async (ifMatch: string): Promise<unknown> => {
    t.equal((await close(ifMatch)).status, 200, ifMatch);
    return gateway.received.at(-1)?.envelope.expectedVersion;
  };
  t.equal(await seen(etag), 12);
  t.equal(await seen('"12"'), 12);
  t.equal(await seen("*"), undefined);
  for (const bad of ['W/"12"', "12", '"12", "13"', '"x"', '"-1"', '"12-"'])
    isProblem(t, await close(bad), "validation/malformed");
});

t.test("lists: one envelope, one way through it", async (t) => {
  const membersOf = (schema: unknown): string[] =>
    Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
  const lists = allRoutes.filter(({ response }) => membersOf(response).includes("nextCursor"));
  t.ok(lists.length > 10);
  for (const route of allRoutes) {
    const isPage = lists.includes(route);
    t.equal((route.response as { type?: string }).type === "array", false, `${route.id}: no bare array`);
    t.equal(isPage, membersOf(route.querystring).includes("cursor"), `${route.id}: cursor`);
    t.equal(isPage, membersOf(route.querystring).includes("limit"), `${route.id}: limit`);
    if (/^list/.test(route.id)) t.ok(isPage, `${route.id} is a page`);
    if (!isPage) continue;
    t.equal(route.method, "get", route.id);
    for (const member of ["items", "nextCursor", "hasMore"])
      t.ok((route.response as { required?: string[] }).required?.includes(member), `${route.id}: ${member}`);
    if (!("query" in route)) continue;
    const { headers } = calling(route);
    const ask = (query: string) => {
      const path = pathWith(route);
      return gateway.ask(`${path}${path.includes("?") ? "&" : "?"}${query}`, { headers });
    };
    for (const wrong of ["limit=0", "limit=-1", "limit=1.5", "limit=x", "cursor=", "offset=0", "page=1"]) {
      const answer = await ask(wrong);
      isProblem(t, answer, "validation/query", route);
      t.equal(answer.json.errors[0].pointer, `?${wrong.split("=")[0]}`);
    }
    for (const [asked, counts] of [
      ["", 50],
      ["limit=7", 7],
      ["limit=200", 200],
      ["limit=201", 200],
    ] as const) {
      await ask(asked);
      const { params } = gateway.received.at(-1)!.envelope as { params?: { limit?: number } };
      t.equal(params?.limit, counts, `${route.id}?${asked}`);
    }
  }
});

t.test("bodies at each route's limit, and one byte over", async (t) => {
  const limits = new Map<number, Route>();
  for (const route of allRoutes)
    if (route.body !== undefined) limits.set(route.bodyBytesMax ?? bodyBytesDefault, route);
  t.ok(limits.has(8 * 1024 * 1024), "a push may have 8 MiB");
  for (const route of allRoutes.filter(({ body }) => body !== undefined)) {
    const limit = route.bodyBytesMax ?? bodyBytesDefault;
    const { headers, method, body } = calling(route);
    const text = JSON.stringify(body);
    // Chunks are sent for one route of each limit: the way is the same for all.
    for (const chunked of limits.get(limit) === route ? [false, true] : [false])
      for (const [bytes, fits] of [
        [limit, true],
        [limit + 1, false],
      ] as const) {
        const padded = Buffer.alloc(bytes, 32);
        padded.write(text);
        const length: Record<string, string> = chunked ? { "Transfer-Encoding": "chunked" } : {};
        const answer = await gateway.ask(pathWith(route), {
          method,
          body: padded,
          headers: { ...headers, ...length },
        });
        const what = `${route.id}: ${bytes} bytes${chunked ? " in chunks" : ""}`;
        if (!fits) isProblem(t, answer, "validation/too-large", route);
        else t.not(answer.status, 413, what);
      }
  }
});

t.test("a request whose length is said twice", async (t) => {
  const raw = async (lines: string[], body: string): Promise<string> => {
    const socket = connect(gateway.port, "127.0.0.1");
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.write([`POST ${casePath}/close HTTP/1.1`, "Host: x", ...lines, "", body].join("\r\n"));
    await once(socket, "close");
    return Buffer.concat(chunks).toString();
  };
  const token = [`Authorization: Bearer ${tokens.operator}`, "Content-Type: application/json"];
  const body = '{"reason":"x"}';
  const length = `Content-Length: ${body.length}`;
  const twoLengths = await raw([...token, length, "Content-Length: 3"], body);
  t.match(
    twoLengths,
    /^HTTP\/1.1 400 .*Connection: close.*validation\/malformed/s,
    "and nothing follows on it",
  );
  t.equal(twoLengths.match(/HTTP\/1.1/g)?.length, 1);
  const anonymous = await raw([length, "Content-Length: 3"], body);
  t.match(anonymous, /^HTTP\/1.1 401 .*Connection: close/s);
  for (const lines of [
    [length, "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", length],
    [`Content-Length: ${body.length}, ${body.length}`],
    ["Content-Length: +14"],
    ["Content-Length: -1"],
  ])
    t.match(await raw([...token, ...lines], body), /^HTTP\/1.1 400/, lines.join());
  const same = await raw([...token, length, length, "Connection: close"], body);
  t.match(same, /^HTTP\/1.1 200/, "the same twice is one");
});

t.test("a process that is not ready says when to come back", async (t) => {
  gateway.skewMs(1);
  const ready = await gateway.ask("/health/ready");
  t.match(ready, { status: 503, headers: { "retry-after": "30" }, json: { failedDomain: "clock" } });
  gateway.skewMs(0);
});

t.test("traces", async (t) => {
  const valid = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const ask = (traceparent: string) =>
    gateway.ask(casePath, { headers: { ...asOperator, traceparent, tracestate: "vendor=1" } });
  const own = await ask(valid);
  t.equal(own.headers.traceparent, valid);
  t.equal(gateway.received.at(-1)?.envelope.traceparent, valid);
  t.notOk(own.headers.tracestate);
  for (const bad of [
    "",
    "x",
    valid.toUpperCase(),
    valid.replace(/^00/, "ff"),
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
  ]) {
    const told = await ask(bad);
    t.match(told.headers.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
    t.not(told.headers.traceparent, bad);
  }
});
