/** Owns the suite that every row of the route tables must pass, made from the tables themselves. */
import t from "tap";
import { bodyBytesDefault, isTagged, pathsOf, type Route, successesOf } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { exampleOf } from "../../../gateway/schema-example.ts";
import { roles, scopes } from "../../../schemas/vocabulary.ts";
import { type Form, fileForm } from "../../harness/forms.ts";
import {
  type Answered,
  type Asked,
  bearer,
  operatorToken,
  partnerToken,
  passengerHost,
  startTestGateway,
  ulid,
} from "./fixture.ts";
import { problemCheck, surfaceTokens } from "./problem-answers.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());

const tokens = await surfaceTokens(gateway);
type Surface = keyof typeof tokens;
const surfaces = Object.keys(tokens) as Surface[];
const isProblem = problemCheck(gateway);

/** A URN of the first kind that the parameter takes, owned by the airline. */
const pathWith = (route: Route, path: string, airline: string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const schema = route.params!.properties[name]!;
    const { urn: kinds } = schema as { urn?: string[] };
    const kind = kinds?.includes("case") ? "case" : kinds?.[0];
    return kind === undefined ? String(exampleOf(schema)) : `urn:${kind}:${airline}-${ulid}`;
  });

const queryOf = (route: Route): string => {
  const required = (route.querystring?.required ?? []) as string[];
  const pairs = required.map(
    (name) => `${name}=${encodeURIComponent(String(exampleOf(route.querystring!.properties[name]!)))}`,
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
};

/** A file of the kind that each form takes. */
const forms: Readonly<Record<string, Form>> = {
  addPassengers: fileForm("PNR,Surname\nK7QX2M,Lovelace\n", "list.csv"),
  analyzeContract: fileForm("%PDF-1.7\n", "contract.pdf"),
};

const bodyOf = (route: Route): unknown =>
  route.form === undefined ? route.body && exampleOf(route.body) : forms[route.id]?.raw;

const headersOf = (route: Route, token = tokens[route.surface as Surface]): Record<string, string> => ({
  ...(route.form === undefined ? {} : forms[route.id]?.headers),
  ...(route.surface === "passenger" ? { Host: passengerHost } : {}),
  ...("public" in route ? {} : bearer(token)),
});

const call = (route: Route, path: string, asked: Asked = {}): Promise<Answered> =>
  gateway.ask(pathWith(route, path, "XN") + queryOf(route), {
    method: route.method.toUpperCase(),
    body: bodyOf(route),
    ...asked,
    headers: { ...headersOf(route), ...asked.headers },
  });

for (const route of allRoutes) {
  for (const path of pathsOf(route)) {
    t.test(`${route.method} ${path}`, async (t) => {
      if ("handler" in route) return;
      gateway.received.length = 0;
      const answer = await call(route, path, {
        headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
      });
      t.equal(answer.status, route.success, answer.text);
      t.match(answer.headers["content-type"], route.produces ?? "application/json");
      t.equal(answer.headers.traceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
      t.match(answer.headers.etag, isTagged(route) ? /^"3-[\w-]{16}"$/ : /^"3"$/);
      const [{ name, envelope } = { name: "none", envelope: undefined }] = gateway.received;
      t.equal(name, "command" in route ? route.command : route.query);
      t.match(envelope, {
        tenant: "XN",
        traceparent: answer.headers.traceparent,
        correlationUrn: /^urn:correlation:[0-9A-Z]{26}$/,
        principal: { surface: route.surface, tenant: "XN" },
      });
      if (!("command" in route)) return;
      const id = envelope?.correlationUrn.replace("urn:correlation:", "api:");
      t.match(envelope, { id, name, entity: "entity" in route ? `XN-${ulid}` : "", issuedAt: /Z$/ });
    });

    t.test(`${route.method} ${path}: who may call`, async (t) => {
      if ("public" in route) return;
      const anonymous = await call(route, path, { headers: { Authorization: "" } });
      isProblem(t, anonymous, "auth/missing-token", route);
      for (const surface of surfaces.filter((surface) => surface !== route.surface)) {
        const foreign = await call(route, path, { headers: bearer(tokens[surface]) });
        isProblem(t, foreign, "auth/invalid-token", route);
        t.equal(foreign.headers["www-authenticate"], 'Bearer error="invalid_token"');
      }
    });

    if (route.params !== undefined && !("public" in route)) {
      t.test(`${route.method} ${path}: URNs in the path`, async (t) => {
        const { method, body } = { method: route.method.toUpperCase(), body: bodyOf(route) };
        const asked = { method, body, headers: headersOf(route) };
        const foreign = await gateway.ask(pathWith(route, path, "YB"), asked);
        isProblem(t, foreign, "auth/foreign-tenant", route);
        t.notOk(foreign.headers["www-authenticate"], "a tenant is no matter of scope");
        isProblem(
          t,
          await gateway.ask(path.replaceAll(/\{\w+\}/g, "nonsense"), asked),
          "not-found/resource",
          route,
        );
        isProblem(
          t,
          await gateway.ask(path.replaceAll(/\{\w+\}/g, "%E0%A4%A"), asked),
          "validation/malformed",
          route,
        );
        const long = pathWith(route, path, "XN").replaceAll(/urn:([a-z-]+:)/g, "urn%3Astopover%3A$1");
        gateway.received.length = 0;
        t.equal((await gateway.ask(long, asked)).status, route.success, "the long form, percent-encoded");
        const sent = JSON.stringify(gateway.received);
        t.notMatch(sent, "urn:stopover", "actors see the short form only");
      });
    }

    if (route.body !== undefined) {
      t.test(`${route.method} ${path}: broken bodies`, async (t) => {
        const big = (route.bodyBytesMax ?? bodyBytesDefault) + 1;
        isProblem(t, await call(route, path, { body: "{" }), "validation/malformed", route);
        isProblem(
          t,
          await call(route, path, { body: Buffer.from([0x22, 0xff, 0x22]) }),
          "validation/malformed",
          route,
        );
        isProblem(t, await call(route, path, { body: "[]" }), "validation/body", route);
        isProblem(t, await call(route, path, { body: Buffer.alloc(big, 32) }), "validation/too-large", route);
        for (const type of [
          "text/plain",
          "application/x-www-form-urlencoded",
          "application/json; charset=latin1",
        ]) {
          const answer = await call(route, path, { headers: { "Content-Type": type } });
          isProblem(t, answer, "validation/media-type", route);
        }
        for (const name of (route.body!.required ?? []) as string[]) {
          const { [name]: _left, ...rest } = exampleOf(route.body!) as Record<string, unknown>;
          const answer = await call(route, path, { body: rest });
          isProblem(t, answer, "validation/body", route);
          t.same(answer.json.errors, [{ pointer: `/${name}`, detail: "is required" }]);
        }
      });
    }

    t.test(`${route.method} ${path}: other methods`, async (t) => {
      const where = pathWith(route, path, "XN");
      const answer = await gateway.ask(where, { method: "TRACE" });
      isProblem(t, answer, "not-found/method");
      t.match(answer.headers.allow, route.method.toUpperCase());
      const options = await gateway.ask(where, { method: "OPTIONS" });
      t.equal(options.status, 204);
      t.equal(options.headers.allow, answer.headers.allow);
      if (route.method !== "get" || "handler" in route) return;
      // A GET that has an effect has no HEAD, which is to have none.
      if (route.rate === "write") {
        t.equal((await gateway.ask(where, { method: "HEAD" })).status, 405);
        return;
      }
      const head = await gateway.ask(where + queryOf(route), { method: "HEAD", headers: headersOf(route) });
      t.equal(head.status, route.success);
      t.equal(head.text, "");
      t.ok(Number(head.headers["content-length"]) > 0);
    });
  }
}

t.test("roles and scopes", async (t) => {
  for (const route of allRoutes) {
    const path = pathsOf(route)[0]!;
    if ("role" in route) {
      const allowed = [route.role].flat();
      const inherited = { OPS_SUPERVISOR: ["AIRPORT_OPERATOR"] } as Record<string, string[]>;
      for (const role of roles) {
        const may =
          role === "ADMIN" || [role, ...(inherited[role] ?? [])].some((r) => allowed.includes(r as never));
        const answer = await call(route, path, { headers: bearer(await operatorToken(gateway, role)) });
        if (may) t.equal(answer.status, route.success, `${route.id} as ${role}`);
        else {
          isProblem(t, answer, "auth/insufficient-role", route);
          t.equal(answer.headers["www-authenticate"], 'Bearer error="insufficient_scope"');
        }
      }
    }
    if ("scope" in route) {
      const needed = [route.scope].flat();
      const others = scopes.filter((scope) => !needed.includes(scope as never)).join(" ");
      const answer = await call(route, path, { headers: bearer(await partnerToken(gateway, others)) });
      isProblem(t, answer, "auth/insufficient-scope", route);
      t.equal(
        answer.headers["www-authenticate"],
        `Bearer error="insufficient_scope", scope="${needed.join(" ")}"`,
      );
      for (const scope of needed) {
        const granted = await call(route, path, { headers: bearer(await partnerToken(gateway, scope)) });
        t.equal(granted.status, route.success, `${route.id} with ${scope}`);
      }
    }
  }
});

t.test("a command that changes what was there has created nothing", async (t) => {
  const rows = allRoutes.filter((route) => route.method === "post" && "command" in route);
  t.ok(rows.some((route) => successesOf(route).length > 1));
  for (const route of rows) {
    if (!("command" in route)) continue;
    gateway.act(route.command, () => ({ ok: { html: "<p></p>" }, version: 3, created: false }));
    const [path] = pathsOf(route) as [string];
    t.equal((await call(route, path)).status, successesOf(route).at(-1), route.id);
    gateway.act(route.command, () => ({ ok: { html: "<p></p>" }, version: 3 }));
    t.equal((await call(route, path)).status, route.success, route.id);
  }
});
