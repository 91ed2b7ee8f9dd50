// Dead letters on a real stream, what scripts/admin does at a running instance, and it and scripts/token as processes.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { decodeJwt } from "jose";
import t from "tap";
import { identityActor } from "../../actors/identity/service.ts";
import { webhookActor } from "../../actors/webhook/service.ts";
import { createVerifiers, openSurfaceKeys } from "../../gateway/auth/surfaces.ts";
import { deadLetterSubcommands } from "../../scripts/administration/dead-letters.ts";
import { keySubcommands } from "../../scripts/administration/keys.ts";
import { partnerSubcommands } from "../../scripts/administration/partners.ts";
import { tenantSubcommands } from "../../scripts/administration/tenants.ts";
import { consume, done } from "../../streams/consume.ts";
import { getDeadLetter, listDeadLetters, retryDeadLetter } from "../../streams/dead-letters.ts";
import { publish } from "../../streams/publish.ts";
import { isAck, startActorsUnderTest, watch } from "../harness/actors.ts";
import { type Ended, openAdministration, runScript } from "../harness/administration.ts";

const { context, dataDir, send } = await startActorsUnderTest(t, [identityActor, webhookActor]);
const { config, log, streams, tenants } = context;
const administer = openAdministration(
  t,
  { dataDir },
  { ...deadLetterSubcommands, ...keySubcommands, ...partnerSubcommands, ...tenantSubcommands },
);
const caseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const tower = {
  clientId: "tower",
  name: "Tower Systems",
  scopes: ["cases.read", "disruptions.events.publish"],
  tier: 1,
  contact: "duty@tower.example",
};
await send("identity.register-tenant", { name: "Xenia Air", passengerHosts: [], homeCountry: "US" });
await send("identity.register-partner", tower);

t.test("dead letters are listed, sent once more, and dropped", async (t) => {
  let isBroken = true;
  const handled: string[] = [];
  const dead = await watch(streams.connection, "dead.ZZ.>");
  const acks = await watch(streams.connection, "$JS.ACK.COMMANDS.probe.>");
  const consuming = await consume(streams, {
    stream: "COMMANDS",
    durable: "probe",
    filterSubjects: ["cmd.ZZ.probe.>"],
    owner: "probe",
    concurrency: 1,
    log,
    handle: async (delivery) => {
      if (isBroken) return { kind: "dead", reason: "It is broken." };
      handled.push(JSON.stringify(delivery.json()));
      return done;
    },
  });
  for (const n of [1, 2, 3]) {
    await publish(streams, { subject: "cmd.ZZ.probe.try.-", payload: `{"n":${n}}`, messageId: `probe-${n}` });
  }
  await dead.until((letters) => letters.length === 3);
  t.strictSame(await listDeadLetters(streams, { tenant: "LM", limit: 10 }), [], "an airline's own only");
  const letters = await listDeadLetters(streams, { tenant: "ZZ", limit: 10 });
  t.match(letters, [
    { tenant: "ZZ", actor: "probe", subject: "cmd.ZZ.probe.try.-", reason: "It is broken.", body: '{"n":1}' },
    { body: '{"n":2}' },
    { body: '{"n":3}' },
  ]);
  const [one = 0, two = 0, three = 0] = letters.map(({ sequence }) => sequence);
  t.strictSame(
    (await listDeadLetters(streams, { tenant: "ZZ", from: two, limit: 1 })).map(({ sequence }) => sequence),
    [two],
  );
  isBroken = false;
  t.ok(await retryDeadLetter(streams, one));
  await acks.until((all) => all.some(isAck));
  t.strictSame(handled, ['{"n":1}']);
  t.notOk(await retryDeadLetter(streams, one), "it is gone");

  const listed = await administer("dead", "list", "--airline", "ZZ");
  t.match(
    listed.text,
    new RegExp(`^NUMBER .*REASON\\n${two} .*It is broken\\.\\n${three} .*It is broken\\.$`, "s"),
  );
  t.match(await administer("dead", "show", String(two)), { text: /\{"n":2\}/ });
  t.match(await administer("dead", "drop", "--all", "--airline", "ZZ"), {
    text: /^dropped \d+\ndropped \d+$/,
  });
  t.equal(await getDeadLetter(streams, three), undefined);
  t.match(await administer("dead", "retry", String(two)), { failed: true, text: /^no dead letter/ });
  await consuming.stop();
});

t.test("scripts/admin as a process: provisions, is refused, is not understood", async (t) => {
  const adminCli = (...args: string[]) => runScript("admin", { dataDir }, args);
  // biome-ignore format: one command a line
  const [tenant, refused, unknown] = await Promise.all([
    adminCli("tenant", "create", "--code", "NX", "--name", "Nox", "--country", "FR", "--host", "nx.localhost"),
    adminCli("partner", "create", "--airline", "XN", "--client", "desk", "--name", "Desk", "--scope", "cases.read", "--tier", "9", "--contact", "duty@desk.example"),
    adminCli("tenant", "burn"),
  ]);
  t.match(tenant, { code: 0, stdout: /^code +NX\nname +Nox\n/ });
  t.equal(tenants.byPassengerHost("nx.localhost")?.code, "NX");
  t.match(refused, { code: 1, stderr: /^error: \/tier: must be <= 3\.\n {2}\/tier: must be <= 3\n$/ });
  t.match(unknown, { code: 2, stderr: /^error: there is no command 'tenant burn'/ });
  const { json } = await administer("partner", "list", "--airline", "urn:airline:XN");
  t.match(json, [{ clientId: "XN-tower", status: "ACTIVE" }]);
  await t.rejects(administer("tenant", "list", "--loud"), { code: /^ERR_PARSE_ARGS/, message: /--loud/ });
});

t.test("scripts/admin sets how long reviews may wait, and where on-call is paged", async (t) => {
  const paged: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    paged.push(request.headers);
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/on-call`;
  const ofXn = (command: string, ...more: string[]) =>
    administer("tenant", command, "--airline", "XN", ...more);
  const shown = async () => (await ofXn("show")).json as { reviewSla?: object; alertChannel: object | null };
  t.match(await shown(), { code: "XN", reviewSla: undefined, alertChannel: null });
  t.match((await ofXn("show")).text, /HIGH 15 min, MEDIUM 60 min, LOW 240 min/);
  const { json: sla } = await ofXn("sla", "--high", "5");
  t.match(sla, { reviewSla: { HIGH: 5, MEDIUM: 60, LOW: 240 } });
  await send("identity.register-tenant", { name: "Xenia Air", passengerHosts: [], homeCountry: "US" });
  t.same((await shown()).reviewSla, { HIGH: 5, MEDIUM: 60, LOW: 240 }, "a registration leaves it alone");
  for (const wrong of [["--low", "never"], ["--low", "0"], []])
    await t.rejects(ofXn("sla", ...wrong), wrong.join(" "));

  const { json: made } = await ofXn("alerts", "--url", url);
  t.match(made, { host: new URL(url).host, status: "ACTIVE", secret: /^[\w-]{43}$/ });
  t.notMatch((await ofXn("alerts", "--url", url)).text, /secret/, "shown once");
  t.notOk((await ofXn("alerts", "--test")).failed);
  t.match(paged, [{ "x-service-event-type": "webhook.test", "x-service-signature": /^sha256=/ }]);
  const rotated = await ofXn("alerts", "--url", url, "--rotate-secret");
  t.match(rotated.text, /former secret until .*\n.*secret +[\w-]{43}/s);
  t.match((await shown()).alertChannel, { status: "ACTIVE", waiting: 0, lastTest: { delivered: true } });
  const inside = await ofXn("alerts", "--url", "https://10.0.0.1/").catch((error: unknown) => error);
  t.match(inside, { code: "validation/body", members: { errors: [{ pointer: /url/ }] } });
});

t.test("scripts/admin rotates keys step by step", async (t) => {
  const file = join(dataDir, "keys/partner.jwk");
  const rotate = () => administer("keys", "rotate", "--surface", "partner");
  const { kid } = JSON.parse(readFileSync(file, "utf8"));
  const added = (await rotate()).json as { accepted: string[] };
  t.match(added, { step: "add", signs: kid, accepted: [kid, String] });
  t.match(await rotate(), { text: /^nothing done: / }, "too early");
  t.equal(statSync(file).mode & 0o777, 0o600);
  const { keys } = JSON.parse(readFileSync(file, "utf8"));
  for (const [i, key] of keys.entries()) key.createdAt = `2026-01-0${1 + i}T00:00:00Z`;
  writeFileSync(file, JSON.stringify({ keys }));
  const [promoted, list] = [await rotate(), await administer("keys", "list")];
  t.match(promoted, { text: /signs now.*\nnext: the same command after/ });
  const [old, fresh] = added.accepted;
  const rows = `SURFACE .*\npartner +${fresh} +signs +\\d+\npartner +${old} +accepted +\\d+\npassenger `;
  t.match(list, { text: new RegExp(rows) });
  for (const { text } of [promoted, list]) t.notOk(text.includes(keys[0].d), "nothing private is shown");
});

t.test("scripts/token mints what each surface takes", async (t) => {
  const now = () => new Date();
  const [operator, passenger, partner, wrong] = await Promise.all([
    runScript("token", { dataDir }, [
      "operator",
      "--airline",
      "urn:airline:XN",
      "--role",
      "OPS_SUPERVISOR",
      "--airport",
      "JFK",
      "--sub",
      "ana",
    ]),
    runScript("token", { dataDir }, ["passenger", "--case", `urn:case:${caseId}`, "--group", "G1"]),
    runScript("token", { dataDir }, ["partner", "--client", "XN-tower"]),
    runScript("token", { dataDir }, ["operator", "--airline", "urn:airline:XN", "--role", "KING"]),
  ]);
  const tokenOf = ({ stdout }: Ended) => stdout.trimEnd().split("\n").at(-1) ?? "";
  const keys = openSurfaceKeys(config, log);
  t.teardown(() => keys.close());
  const verify = createVerifiers(config, keys, now);
  t.strictSame((await verify.operator(tokenOf(operator))).principal, {
    surface: "operator",
    tenant: "XN",
    urn: "urn:user:ana",
    role: "OPS_SUPERVISOR",
    airport: "JFK",
  });
  t.match((await verify.passenger(tokenOf(passenger))).principal, {
    caseId,
    groupId: "G1",
    tenant: "XN",
  });
  t.match((await verify.partner(tokenOf(partner))).principal, {
    clientId: "XN-tower",
    urn: "urn:partner:XN-tower",
    scopes: tower.scopes,
  });
  const namespaced = (name: string) => `${config.CLAIM_NAMESPACE}/${name}`;
  const claims: [Ended, string[], number][] = [
    [
      operator,
      [
        "iss",
        "sub",
        "aud",
        "exp",
        "iat",
        "scope",
        ...["airline", "role", "operator_urn", "airport"].map(namespaced),
      ],
      900,
    ],
    [passenger, ["iss", "sub", "aud", "exp", "case_urn", "group_id", "tenant"], 7 * 86_400],
    [
      partner,
      ["iss", "sub", "aud", "exp", "iat", "scope", "gty", ...["partner_urn", "tenant_urn"].map(namespaced)],
      3600,
    ],
  ];
  for (const [ended, names, lifetimeSeconds] of claims) {
    const payload = decodeJwt(tokenOf(ended));
    t.strictSame(Object.keys(payload).sort(), names.sort(), "exactly the contract's claims");
    const left = (payload.exp ?? 0) - Date.now() / 1000;
    t.ok(left > lifetimeSeconds - 60 && left <= lifetimeSeconds, "for the contract's time");
  }
  t.match(wrong, { code: 1, stderr: /^error: --role KING: one of ADMIN/ });
});
