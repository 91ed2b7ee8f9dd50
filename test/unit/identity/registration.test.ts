// Client secrets and registrations, without servers: the dual-key window, the attempts, and what the audit may see.
import t from "tap";
import { attemptMs, decideRegistration } from "../../../actors/identity/decide.ts";
import {
  accepts,
  type ClientKey,
  dualKeyWindowMs,
  hashOf,
  rotated,
} from "../../../actors/identity/secrets.ts";
import { registrations } from "../../../actors/identity/service.ts";
import {
  evolveRegistration,
  type RegistrationEvent,
  type RegistrationState,
} from "../../../actors/identity/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { messagesOf } from "../../../actors/runtime/messages.ts";
import { Problem } from "../../../schemas/problems.ts";

const start = new Date("2026-11-21T21:00:00.000Z");
const later = (ms: number) => new Date(start.getTime() + ms);
const dayMs = 86_400_000;

t.test("secrets around a rotation", async (t) => {
  const first: ClientKey[] = [{ hash: hashOf("one"), createdAt: start }];
  const second = rotated(first, hashOf("two"), later(dayMs), false);
  const third = rotated(second, hashOf("three"), later(2 * dayMs), false);
  const end = dayMs + dualKeyWindowMs;
  const table: [string, ClientKey[], string, number, boolean][] = [
    ["the only one", first, "one", 0, true],
    ["another's", first, "two", 0, false],
    ["nothing", first, "", 0, false],
    ["no key at all", [], "one", 0, false],
    ["the new one at once", second, "two", dayMs, true],
    ["the old one in the window", second, "one", end - 1, true],
    ["the old one after it", second, "one", end, false],
    ["the new one after it", second, "two", end, true],
    ["a second rotation doesn't cut the first one's window", third, "one", end - 1, true],
    ["nor lengthen it", third, "one", end, false],
    ["the second has its own", third, "two", end, true],
    ["revoked at once", rotated(second, hashOf("three"), later(dayMs), true), "one", dayMs, false],
    ["revoked too", rotated(second, hashOf("three"), later(dayMs), true), "two", dayMs, false],
  ];
  for (const [what, keys, secret, atMs, expected] of table) {
    t.equal(accepts(keys, secret, later(atMs)), expected, what);
  }
  let many = first;
  for (let i = 0; i < 20; i++) many = rotated(many, hashOf(`r${i}`), later(dayMs + i), false);
  t.equal(many.length, 4, "former secrets are bounded");
  t.ok(accepts(many, "r16", later(2 * dayMs)), "every one that is kept is checked");
  t.equal(rotated(second, hashOf("x"), later(end), false).length, 2, "an expired one is forgotten");
});

const attributes = {
  name: "Tower",
  scopes: ["cases.read" as const],
  tier: 1 as const,
  webhookUrl: "https://partner.example/hooks?key=hidden-in-the-address",
  contact: "duty@partner.example",
};
const command = (verb: string, data: unknown, now = start): Received => ({
  id: "c1",
  name: `identity.${verb}`,
  tenant: "XN",
  entity: "XN-tower",
  principal: { surface: "system", tenant: "XN", urn: "urn:user:admin-ana" },
  correlationUrn: "urn:correlation:x",
  traceparent: "00-0-0-01",
  issuedAt: now.toISOString(),
  data,
  now,
});
const begin = (attempt: string, now = start) =>
  command("begin-registration", { attributes, attempt, by: "urn:user:admin-ana" }, now);
const complete = (attempt: string, now = start) =>
  command("complete-registration", { attempt, hash: hashOf(`secret of ${attempt}`) }, now);
const after = (...commands: Received[]): RegistrationState | undefined =>
  commands.reduce<RegistrationState | undefined>(
    (state, each) =>
      decideRegistration(state, each).reduce<RegistrationState | undefined>(evolveRegistration, state),
    undefined,
  );

t.test("attempts at a registration", async (t) => {
  const rotate = command("store-client-secret", { hash: hashOf("new"), revokeFormer: false });
  const release = command("release-registration", { attempt: "a" });
  const active = after(begin("a"), complete("a"));
  const table: [string, RegistrationState | undefined, Received, RegistrationEvent["type"] | string][] = [
    ["the first", undefined, begin("a"), "identity.registration-begun"],
    ["a second at once", after(begin("a")), begin("b"), "conflict/concurrent-write"],
    [
      "a second once the first counts as dead",
      after(begin("a")),
      begin("b", later(attemptMs)),
      "identity.registration-begun",
    ],
    [
      "a second once the first was released",
      after(begin("a"), release),
      begin("b"),
      "identity.registration-begun",
    ],
    ["its end", after(begin("a")), complete("a"), "identity.partner-registered"],
    [
      "the end of one that was overtaken",
      after(begin("a"), begin("b", later(attemptMs))),
      complete("a"),
      "conflict/concurrent-write",
    ],
    [
      "the release of one that was overtaken",
      after(begin("a"), begin("b", later(attemptMs))),
      release,
      "nothing",
    ],
    ["once registered", active, begin("c"), "conflict/duplicate"],
    ["the end once more", active, complete("a"), "conflict/concurrent-write"],
    ["a release after the end", active, release, "nothing"],
    ["a rotation", active, rotate, "identity.client-secret-rotated"],
    ["a rotation before the end", after(begin("a")), rotate, "conflict/state"],
    ["a rotation of nothing", undefined, rotate, "not-found/resource"],
  ];
  for (const [what, state, move, expected] of table) {
    let outcome: string;
    try {
      outcome = decideRegistration(state, move)[0]?.type ?? "nothing";
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      outcome = error.code;
    }
    t.equal(outcome, expected, what);
  }
});

t.test("a limit that a partner has met", async (t) => {
  const minuteMs = 60_000;
  const limit = "60 reads a minute for a partner of tier 3";
  const met = (windowMs: number, now = later(windowMs + 5000)) =>
    command("note-limit-exceeded", { windowStartedAt: later(windowMs).toISOString(), limit }, now);
  const active = after(begin("a"), complete("a"));
  const noted = after(begin("a"), complete("a"), met(0));
  const decided = (state: RegistrationState | undefined, move: Received) => decideRegistration(state, move);
  t.same(
    decided(active, met(0)),
    [{ type: "identity.partner-limit-met", data: { windowStartedAt: start, limit } }],
    "the first",
  );
  t.same(decided(noted, met(0)), [], "another gateway's of the same minute");
  t.same(decided(noted, met(-minuteMs)), [], "a late one");
  t.equal(decided(noted, met(minuteMs)).length, 1, "the next minute");
  t.match(
    decided(active, met(60 * minuteMs, later(1000))),
    [{ data: { windowStartedAt: later(1000) } }],
    "a gateway's clock that is ahead silences nobody",
  );
  t.throws(() => decided(undefined, met(0)), { code: "not-found/resource" });
  t.throws(() => decided(after(begin("a")), met(0)), { code: "conflict/state" });

  const change = {
    id: "XN-tower",
    command: {
      ...met(0),
      principal: { surface: "system" as const, tenant: "XN", urn: "urn:user:system-gateway" },
    },
    before: active,
    after: noted as RegistrationState,
    events: decided(active, met(0)),
  };
  const sent = messagesOf(registrations, change).map(({ subject, payload }) => [
    subject,
    JSON.parse(payload).data,
  ]);
  const windowStartedAt = start.toISOString();
  t.match(sent, [
    ["int.XN.partner.limit-exceeded.XN-tower", { partner: "urn:partner:XN-tower", windowStartedAt, limit }],
    [
      "int.XN.audit.recorded.XN-tower",
      {
        action: "identity.note-limit-exceeded",
        principal: "urn:user:system-gateway",
        after: { clientId: "XN-tower", windowStartedAt, limit },
      },
    ],
  ]);
  const view = registrations.view(noted as RegistrationState, {
    id: "XN-tower",
    version: 2,
    command: met(0),
  });
  t.match(view, { limitMet: { at: windowStartedAt, limit } }, "administrators see it");
  t.notMatch(JSON.stringify(sent), attributes.contact, "whom to tell is looked up when it is told");
});

t.test("the audit hears of what was done and of nothing secret", async (t) => {
  const told = (before: RegistrationState | undefined, move: Received) => {
    const events = decideRegistration(before, move);
    const state = events.reduce<RegistrationState | undefined>(evolveRegistration, before);
    const change = { id: "XN-tower", command: move, before, after: state as RegistrationState, events };
    return messagesOf(registrations, change).map(({ payload }) => payload);
  };
  const active = after(begin("a"), complete("a"));
  const messages = [
    ...told(undefined, begin("a")),
    ...told(after(begin("a")), complete("a")),
    ...told(active, command("store-client-secret", { hash: hashOf("new"), revokeFormer: false }, later(1))),
    ...told(active, command("note-webhook-secret", {}, later(2))),
  ];
  const sent = messages.map((text) => JSON.parse(text));
  t.match(
    sent.filter(({ name }) => name !== undefined),
    [{ name: "identity.announce-tier", entity: "XN-tower", data: {} }],
    "once registered, the gateways are to know its tier",
  );
  t.strictSame(
    sent.filter(({ type }) => type === "audit.recorded").map(({ data }) => data.action),
    ["identity.register-partner", "identity.rotate-client-secret", "identity.rotate-webhook-secret"],
    "the beginning is the service's own",
  );
  for (const secret of [hashOf("secret of a"), hashOf("new"), attributes.contact, "hidden-in-the-address"]) {
    t.notOk(
      messages.some((text) => text.includes(secret)),
      `without ${secret.slice(0, 12)}`,
    );
  }
  const view = registrations.view(active as RegistrationState, {
    id: "XN-tower",
    version: 2,
    command: begin("a"),
  });
  t.notMatch(JSON.stringify(view), hashOf("secret of a").slice(0, 20), "nor does the view show a digest");
});
