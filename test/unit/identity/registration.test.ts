// Registrations, without servers: the attempts, changes that die on the way, and what the audit may see.
import t from "tap";
import { attemptMs, decideRegistration } from "../../../actors/identity/decide.ts";
import { registrationCommands } from "../../../actors/identity/registration.ts";
import { hashOf } from "../../../actors/identity/secrets.ts";
import { registrations } from "../../../actors/identity/service.ts";
import {
  evolveRegistration,
  type RegistrationEvent,
  type RegistrationState,
} from "../../../actors/identity/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext, CommandFunction } from "../../../actors/runtime/host.ts";
import { messagesOf } from "../../../actors/runtime/messages.ts";
import { Problem } from "../../../schemas/problems.ts";

type Dispatch = Parameters<CommandFunction>[1];
const start = new Date("2026-11-21T21:00:00.000Z");
const later = (ms: number) => new Date(start.getTime() + ms);
const dayMs = 86_400_000;

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
  const rotate = command("store-client-secret", { hash: hashOf("new"), mode: "PLAIN" });
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

/** What the commands tell the webhook actor; the process dies at the first step of the registration itself. */
const commandsThatDie = (state: RegistrationState, asked: [string, unknown][]) =>
  registrationCommands({
    clock: { now: () => later(1) },
    tenants: { byCode: () => ({}) },
    documents: {
      tenant: () => ({ collection: () => ({ findOne: async () => ({ _id: "XN-tower", ...state }) }) }),
    },
    call: async (name: string, { params, data }: { params?: unknown; data?: unknown }) => {
      asked.push([name, params ?? data]);
      return {};
    },
  } as unknown as ActorContext);

t.test("a change that dies has told the webhook nothing more than is registered", async (t) => {
  const dying: Dispatch = async () => {
    throw new Error("died");
  };
  const active = after(begin("a"), complete("a")) as RegistrationState;
  const { webhookUrl: _, ...without } = active;
  const wider = { scopes: ["cases.read", "cases.events.subscribe"] };
  const first = { ...wider, webhookUrl: "https://b.example/" };
  const table: [string, RegistrationState, object, [string, object][]][] = [
    ["more scopes", active, wider, [["webhook.check-subscription", { url: attributes.webhookUrl }]]],
    [
      "a first webhook",
      without as RegistrationState,
      first,
      [
        ["webhook.check-subscription", { url: first.webhookUrl }],
        // Whatever an attempt before it has left there was seen by nobody.
        ["webhook.put-subscription", { url: first.webhookUrl, scopes: [], rotation: "REVOKE_FORMER" }],
      ],
    ],
  ];
  for (const [what, state, data, expected] of table) {
    const asked: [string, unknown][] = [];
    const change = commandsThatDie(state, asked)["change-partner"];
    await t.rejects(change(command("change-partner", data), dying), { message: "died" }, what);
    t.match(asked, expected, what);
    t.equal(asked.length, expected.length, what);
  }
  const { name, scopes, tier, contact } = attributes;
  const registering = { clientId: "tower", name, scopes, tier, webhookUrl: attributes.webhookUrl, contact };
  const begun: [string, unknown][] = [];
  const register = commandsThatDie(active, begun)["register-partner"];
  const diesAtTheEnd: Dispatch = async (verb) =>
    verb === "begin-registration" ? { ok: null } : dying(verb, begin("a"));
  await t.rejects(register(command("register-partner", registering), diesAtTheEnd), { message: "died" });
  t.match(
    begun,
    [["webhook.put-subscription", { scopes: [] }]],
    "a registration that is abandoned leaves nobody listening",
  );

  const asked: [string, unknown][] = [];
  const rotate = commandsThatDie(after(begin("a")) as RegistrationState, asked)["rotate-webhook-secret"];
  await t.rejects(rotate(command("rotate-webhook-secret", {}), dying), { code: "conflict/state" });
  t.same(asked, [], "one that is not registered yet rotates nothing");
});

t.test("a rotation sent again is the same to the webhook", async (t) => {
  const active = after(begin("a"), complete("a")) as RegistrationState;
  const ids: string[] = [];
  const commands = registrationCommands({
    clock: { now: () => later(1) },
    documents: {
      tenant: () => ({ collection: () => ({ findOne: async () => ({ _id: "XN-tower", ...active }) }) }),
    },
    call: async (name: string, { id }: { id: string }) => {
      if (name === "webhook.put-subscription") ids.push(id);
      return {};
    },
  } as unknown as ActorContext);
  const done: Dispatch = async () => ({
    ok: registrations.view(active, { id: "XN-tower", version: 2, command: begin("a") }),
  });
  const rotate = (id: string) =>
    commands["rotate-webhook-secret"](
      { ...command("rotate-webhook-secret", { mode: "END_FORMER" }), id },
      done,
    );
  for (const id of ["c1", "c1", "c2"]) await rotate(id);
  t.equal(ids[0], ids[1], "whatever secret it brings: the former is ended once");
  t.not(ids[0], ids[2]);
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

t.test("changes of a registration", async (t) => {
  const active = after(begin("a"), complete("a")) as RegistrationState;
  const changed = (data: object, state: RegistrationState | undefined = active) =>
    decideRegistration(state, command("store-changes", { newWebhook: false, ...data }, later(1)));
  t.same(changed({ tier: 1, scopes: ["cases.read"], contact: attributes.contact }), [], "as it is");
  t.same(changed({ tier: 2, contact: attributes.contact }), [
    { type: "identity.partner-changed", data: { tier: 2 } },
  ]);
  const two = changed({ scopes: ["cases.read", "metrics.read"] }).reduce<RegistrationState | undefined>(
    evolveRegistration,
    active,
  );
  t.same(changed({ scopes: ["metrics.read", "cases.read"] }, two), [], "the order of scopes means nothing");
  t.throws(() => decideRegistration(undefined, command("store-changes", { newWebhook: false })), {
    code: "not-found/resource",
  });
  t.throws(() => changed({ tier: 2 }, after(begin("a"))), { code: "conflict/state" });

  const { webhookUrl: _, ...bare } = attributes;
  const without = { ...active, ...bare } as RegistrationState & { webhookUrl?: string };
  delete without.webhookUrl;
  const first = changed({ webhookUrl: "https://b.example/?key=hidden", newWebhook: true }, without);
  const grown = first.reduce<RegistrationState | undefined>(evolveRegistration, without) as RegistrationState;
  t.match(grown, { webhookUrl: "https://b.example/?key=hidden", webhookSecretCreatedAt: later(1) });
  const view = (state: RegistrationState) =>
    registrations.view(state, { id: "XN-tower", version: 2, command: begin("a") });
  t.match(view(grown), { webhookRotateBy: later(1 + 90 * dayMs).toISOString() });
  t.notOk("webhookRotateBy" in (view({ ...without, webhookSecretCreatedAt: undefined } as never) as object));

  const move = command("store-changes", { contact: "new@b.example", newWebhook: false }, later(2));
  const events = decideRegistration(grown, move);
  const state = events.reduce<RegistrationState | undefined>(evolveRegistration, grown) as RegistrationState;
  const sent = messagesOf(registrations, {
    id: "XN-tower",
    command: move,
    before: grown,
    after: state,
    events,
  });
  const told = sent.map(({ payload }) => JSON.parse(payload));
  t.same(
    told.flatMap(({ name }) => name ?? []),
    ["identity.announce-tier", "identity.align-webhook"],
    "gateways and the subscription are brought in line",
  );
  t.match(
    told.filter(({ type }) => type === "audit.recorded"),
    [
      {
        data: {
          action: "identity.change-partner",
          after: { contactChanged: true, webhookHost: "b.example" },
        },
      },
    ],
  );
  t.notMatch(JSON.stringify(sent), /hidden|@/, "neither a contact nor a whole address leaves");
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
    ...told(active, command("store-client-secret", { hash: hashOf("new"), mode: "PLAIN" }, later(1))),
    ...told(active, command("note-webhook-secret", {}, later(2))),
  ];
  const sent = messages.map((text) => JSON.parse(text));
  t.match(
    sent.filter(({ name }) => name !== undefined),
    [
      { name: "identity.announce-tier", entity: "XN-tower", data: {} },
      { name: "identity.align-webhook", entity: "XN-tower", data: {} },
      { name: "identity.align-webhook", entity: "XN-tower", data: {} },
    ],
    "once registered, the gateways are to know its tier, and its webhook may hear; a new secret goes to what is registered",
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
