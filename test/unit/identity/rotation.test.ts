// The secrets of a registration, without servers: what is good around a rotation, which rotation is refused, and what is due.
import t from "tap";
import { decideRegistration } from "../../../actors/identity/decide.ts";
import {
  accepts,
  type ClientKey,
  dualKeyWindowMs,
  hashOf,
  rotated,
  webhookWindowOf,
} from "../../../actors/identity/secrets.ts";
import type { Active } from "../../../actors/identity/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { decideSubscription, type SealedInput } from "../../../actors/webhook/decide.ts";
import { webhookActor } from "../../../actors/webhook/service.ts";
import { evolveSubscription, type SubscriptionState } from "../../../actors/webhook/state.ts";
import type { Command } from "../../../schemas/command.ts";
import type { PartnerView, RotationMode } from "../../../schemas/partner-registration.ts";
import { rotationsOf } from "../../../scripts/administration/partners-secrets.ts";

const start = new Date("2026-11-21T21:00:00.000Z");
const later = (ms: number) => new Date(start.getTime() + ms);
const dayMs = 86_400_000;

t.test("secrets around a rotation", async (t) => {
  const first: ClientKey[] = [{ hash: hashOf("one"), createdAt: start }];
  const second = rotated(first, hashOf("two"), later(dayMs), "PLAIN");
  const third = rotated(second, hashOf("three"), later(2 * dayMs), "END_FORMER");
  const replaced = rotated(second, hashOf("three"), later(2 * dayMs), "REPLACE_NEWEST");
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
    ["a second rotation ends the oldest at once", third, "one", 2 * dayMs, false],
    ["the one before it has its own window", third, "two", end + dayMs - 1, true],
    ["and no longer", third, "two", end + dayMs, false],
    ["its answer was lost: the newest is replaced", replaced, "two", 2 * dayMs, false],
    ["by this one", replaced, "three", 2 * dayMs, true],
    ["the former keeps its end", replaced, "one", end - 1, true],
    ["and no more", replaced, "one", end, false],
    ["revoked at once", rotated(second, hashOf("three"), later(dayMs), "REVOKE_FORMER"), "one", dayMs, false],
    ["revoked too", rotated(second, hashOf("three"), later(dayMs), "REVOKE_FORMER"), "two", dayMs, false],
  ];
  for (const [what, keys, secret, atMs, expected] of table) {
    t.equal(accepts(keys, secret, later(atMs)), expected, what);
  }
  let many = first;
  for (let i = 0; i < 20; i++) many = rotated(many, hashOf(`r${i}`), later(dayMs + i), "END_FORMER");
  t.equal(many.length, 2, "of all former secrets one is kept");
  t.ok(accepts(many, "r18", later(2 * dayMs)), "and is good");
  t.notOk(accepts(many, "r17", later(2 * dayMs)));
});

t.test("what a webhook's secrets are known to be", async (t) => {
  const opened = later(2 * dayMs);
  const until = new Date(opened.getTime() + dualKeyWindowMs);
  const window = (newestAt: Date | undefined, formerAt?: Date, now = opened) =>
    webhookWindowOf({ newestAt, formerAt }, until, now);
  const noted = later(2 * dayMs + 50);
  t.same(window(noted, start), { newestAt: noted, formerAt: start, until });
  t.same(window(noted), { newestAt: noted, until }, "from before the former was noted");
  t.same(window(start), { newestAt: opened, formerAt: start, until }, "it died before it noted the newest");
  t.same(window(noted, start, until), undefined, "the window is over");
  t.same(webhookWindowOf({ newestAt: start, formerAt: undefined }, undefined, start), undefined, "none");
});

const rotate = (mode: RotationMode, days: number): Received => ({
  id: "c1",
  name: "identity.store-client-secret",
  tenant: "XN",
  entity: "XN-tower",
  principal: { surface: "system", tenant: "XN", urn: "urn:user:admin-ana" },
  correlationUrn: "urn:correlation:x",
  traceparent: "00-0-0-01",
  issuedAt: start.toISOString(),
  data: { hash: hashOf(`${mode} ${days}`), mode },
  now: later(days * dayMs),
});

const withKeys = (keys: ClientKey[]): Active => ({
  ...{ status: "ACTIVE", name: "Tower", scopes: ["cases.read"], tier: 1, contact: "duty@partner.example" },
  ...{ createdAt: start, createdBy: "urn:user:admin-ana", keys },
});

t.test("a rotation while two secrets are good", async (t) => {
  const one = withKeys([{ hash: hashOf("one"), createdAt: start }]);
  const two = withKeys(rotated(one.keys, hashOf("two"), later(dayMs), "PLAIN"));
  const table: [string, Active, Received, string][] = [
    ["plainly", two, rotate("PLAIN", 2), "refused"],
    ["plainly, once the former's time is over", two, rotate("PLAIN", 15), "done"],
    ["in place of the newest", two, rotate("REPLACE_NEWEST", 2), "done"],
    ["in place of the newest, once it is the only one", two, rotate("REPLACE_NEWEST", 15), "refused"],
    ["in place of the only one", one, rotate("REPLACE_NEWEST", 1), "refused"],
    ["ending the former", two, rotate("END_FORMER", 2), "done"],
    ["ending a former that is not there", one, rotate("END_FORMER", 1), "done"],
    ["ending all", two, rotate("REVOKE_FORMER", 2), "done"],
  ];
  for (const [what, state, move, expected] of table) {
    if (expected === "done") t.equal(decideRegistration(state, move).length, 1, what);
    else t.throws(() => decideRegistration(state, move), { code: "conflict/state" }, what);
  }
  const detail = new RegExp(
    `made at ${later(dayMs).toISOString()}, .* made at ${start.toISOString()}, .*--replace-newest.*--end-former`,
  );
  t.throws(
    () => decideRegistration(two, rotate("PLAIN", 2)),
    { message: detail },
    "both times, and what to do",
  );
});

t.test("a webhook's secret, as the webhook actor decides it by its own window", async (t) => {
  const secret = (name: string) => ({ sealed: `sealed ${name}`, fingerprint: name });
  const target = { clientId: "XN-tower", url: "https://partner.example/", contact: "duty@partner.example" };
  const put = (name: string, days: number, rotation?: RotationMode): Received => ({
    ...rotate("PLAIN", days),
    name: "webhook.put-subscription",
    data: { ...target, scopes: [], secret: secret(name), ...(rotation === undefined ? {} : { rotation }) },
  });
  const decide = decideSubscription({ allowLoopback: false });
  const after = (...moves: Received[]) =>
    moves.reduce<SubscriptionState | undefined>(
      (state, move) => decide(state, move).reduce<SubscriptionState | undefined>(evolveSubscription, state),
      undefined,
    );
  const opened = [put("one", 0), put("two", 1, "PLAIN")];
  const kept = (move: Received, ...before: Received[]) => {
    const previous = after(...before, move)?.previousSecret;
    return previous && [previous.fingerprint, previous.until];
  };
  t.same(kept(put("three", 2, "REPLACE_NEWEST"), ...opened), ["one", later(15 * dayMs)], "with its own end");
  t.same(kept(put("three", 2, "END_FORMER"), ...opened), ["two", later(16 * dayMs)]);
  t.same(kept(put("three", 15, "PLAIN"), ...opened), ["two", later(29 * dayMs)], "the window was over");
  t.same(kept(put("three", 2, "REVOKE_FORMER"), ...opened), undefined);
  t.same(kept(put("two", 2, "PLAIN"), ...opened), ["one", later(15 * dayMs)], "the same one is no rotation");
  t.throws(() => after(...opened, put("three", 2, "PLAIN")), { code: "conflict/state" });
  t.throws(() => after(...opened, put("three", 15, "REPLACE_NEWEST")), { code: "conflict/state" });
});

t.test("what is due to be rotated", async (t) => {
  const at = (days: number) => later(days * dayMs).toISOString();
  const partner = (clientId: string, clientDays: number, webhookDays?: number): PartnerView => ({
    ...{
      clientId,
      partnerUrn: "",
      tenant: "XN",
      name: "",
      status: "ACTIVE",
      scopes: [],
      tier: 1,
      contact: "",
    },
    createdAt: at(0),
    clientSecrets: [
      { createdAt: at(clientDays - 90) },
      { createdAt: at(-200), expiresAt: at(clientDays - 76) },
    ],
    rotateBy: at(clientDays),
    ...(webhookDays === undefined
      ? {}
      : { webhookSecretCreatedAt: at(webhookDays - 90), webhookRotateBy: at(webhookDays) }),
  });
  const begun: PartnerView = { ...partner("XN-begun", 0), clientSecrets: [] };
  const partners = [
    partner("XN-a", 13.5, -2),
    partner("XN-b", 14),
    partner("XN-c", 0),
    partner("XN-d", 80),
    begun,
  ];
  const due = (within: number) =>
    rotationsOf(partners, start, within).map(({ clientId, secret, overdue, days, formerUntil }) =>
      [clientId, secret, overdue, days, ...(formerUntil === undefined ? [] : ["former"])].join(" "),
    );
  t.same(due(14), ["XN-a webhook true -2", "XN-c client true 0", "XN-a client false 13"]);
  t.same(due(0), ["XN-a webhook true -2", "XN-c client true 0"], "overdue alone");
  t.same(due(90).slice(-2), ["XN-b client false 14", "XN-d client false 80 former"]);
});

t.test("a webhook's secret is told only by the command that has stored it", async (t) => {
  let kept: object | null = null;
  const documents = { tenant: () => ({ collection: () => ({ findOne: async () => kept }) }) };
  const context = { config: { sealKey: Buffer.alloc(32, 7) }, documents } as unknown as ActorContext;
  const { commands = {} } = webhookActor(context);
  const [channel, subscribe] = [commands["put-alert-channel"], commands["put-subscription"]];
  const url = "https://partner.example/hooks";
  const sent = (name: string, data: object): Command => ({
    ...rotate("PLAIN", 0),
    ...{ name: `webhook.${name}`, entity: "", data },
  });
  const stores = async (_: string, each: Command) => {
    const decided = decideSubscription({ allowLoopback: false })(undefined, { ...each, now: start });
    kept = {
      schemaVersion: 1,
      ...decided.reduce<SubscriptionState | undefined>(evolveSubscription, undefined),
    };
    return { ok: null };
  };
  const repeats = async () => ({ ok: null, repeated: true });
  const move = sent("put-alert-channel", { url, rotateSecret: true });
  t.match(await channel?.(move, stores as never), { ok: { secret: String } });
  t.match(await channel?.(move, repeats as never), { ok: { secret: undefined, host: "partner.example" } });
  const another = { clientId: "XN-tower", url, secret: "of-another-attempt-at-it" };
  const again = async () => {
    await subscribe?.(sent("put-subscription", another), repeats as never);
  };
  await t.rejects(again, { code: "conflict/duplicate" });
  let told: unknown;
  const tells = async (_: string, { data }: Command) => {
    told = (data as SealedInput).rotation;
    return { ok: null };
  };
  await channel?.(move, tells as never);
  t.equal(told, "PLAIN", "which is refused while two are good: on-call may have neither of the newer ones");
});
