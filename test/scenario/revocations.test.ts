// Access is withdrawn and given back on two gateway processes: each hears of it within a second and keeps it over a restart, nobody
// reaches into another airline's list, and what a crash leaves between document and bucket heals.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CryptoKey, importJWK } from "jose";
import t, { type Test } from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import type { RevocationView } from "../../schemas/revocation.ts";
import type { Role } from "../../schemas/vocabulary.ts";
import { request } from "../../scripts/demonstration/http.ts";
import { keyFiles } from "../../scripts/supervisor/keys.ts";
import { endSessionsOf } from "../../streams/revocations.ts";
import { claims, operatorToken } from "../contract/gateway/fixture.ts";
import { type Call, startClients, type ToldProblem } from "../harness/clients.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
/** It dies with the document of its seventh entry written, and nobody told. */
const whole = { ROLE: "all", KILL_POINT: "after-commit@identity.revoke-access#7" };
const night = await startClients(t, { sandbox: false, services: [whole, { ROLE: "gateway" }] });
const [xn, qz] = night.airlines;
const [service, gateway] = night.services as [(typeof night.services)[0], (typeof night.services)[0]];

const jwk = JSON.parse(readFileSync(join(night.instance.keysDir, keyFiles.operator), "utf8"));
const issuer = {
  keys: { operator: (await importJWK(jwk, "RS256")) as CryptoKey } as never,
  config: { OPERATOR_ISSUER: night.instance.operatorIssuer, OPERATOR_AUDIENCE: "stopover-operator" } as never,
};
/** The subject is the role in lower case, at each airline. */
const operator = (airline: string, role: Role, airport?: string): Promise<string> => {
  const sub = role.toLowerCase();
  const own = { [`${claims}/airline`]: airline, [`${claims}/operator_urn`]: `urn:user:${sub}` };
  const changes = { sub, ...own, ...(airport === undefined ? {} : { [`${claims}/airport`]: airport }) };
  return operatorToken(issuer, role, changes, { kid: jwk.kid });
};
const admin = await operator(xn.urn, "ADMIN");
const auditor = await operator(xn.urn, "FINANCE_AUDIT");

interface Way {
  token: string;
  path?: string;
  host?: string;
}

/** Far more than it takes, and less than the runner's own. */
const patienceMs = 15_000;

/** What both gateways answer to one token; unless a path is given it is let in when its role is refused, which takes no actor. */
const asked = ({ token, path = "/v1/admin/revocations", host }: Way) =>
  Promise.all(
    [service, gateway].map(({ url }) =>
      request(url, { method: "GET", path, token, ...(host === undefined ? {} : { host }) }),
    ),
  );
const statuses = async (way: Way): Promise<string> => (await asked(way)).map(({ status }) => status).join();

/** Asks until both gateways answer so; the time it took is told, and no sleep is in it. */
const becomes = async (t: Test, way: Way, status: number, what: string): Promise<void> => {
  const since = performance.now();
  for (let got = ""; got !== `${status},${status}`; got = await statuses(way))
    if (performance.now() - since > patienceMs) throw new Error(`${what}: still ${got}`);
  t.comment(`${what}: on both gateways after ${Math.round(performance.now() - since)} ms`);
};

const revoke = async (body: unknown, status = 201): Promise<RevocationView> => {
  const told = await night.call<RevocationView>("revokeAccess", { token: admin, body });
  if (told.status !== status) throw new Error(`revoking answered ${told.status}`);
  return told.body;
};
const lift = (urn: string, more: Call = {}) =>
  night.call<RevocationView>("liftRevocation", { token: admin, params: { revocationUrn: urn }, ...more });
const listed = async (token: string): Promise<RevocationView[]> =>
  (await night.call<Page<RevocationView>>("listRevocations", { token })).body.items;
const trailOf = async (entityUrn: string): Promise<AuditEntryView[]> =>
  (await night.call<Page<AuditEntryView>>("getEntityAudit", { token: admin, params: { entityUrn } })).body
    .items;

t.test("an operator is shut out on every gateway until an administrator lifts it", async (t) => {
  const way = { token: auditor };
  t.equal(await statuses(way), "403,403");
  const body = { subject: "finance_audit", reason: "Laptop stolen" };
  const entry = await revoke(body);
  await becomes(t, way, 401, "revoked");
  for (const { body: told } of await asked(way))
    t.match(told, { type: /\/auth\/invalid-token$/, detail: /Access was withdrawn.*administrator/ });
  const byUrn = await revoke({ subject: "urn:stopover:user:finance_audit", reason: "Twice" });
  t.equal((await revoke({ ...body, reason: "Again" }, 200)).urn, entry.urn, "the same subject again");
  t.strictSame(
    (await listed(admin)).map(({ subject, reason }) => [subject, reason]),
    [
      ["urn:user:finance_audit", "Twice"],
      ["finance_audit", "Laptop stolen"],
    ],
  );
  const other = await operator(qz.urn, "FINANCE_AUDIT");
  t.equal(await statuses({ token: other }), "403,403", "another airline's operator of the same name");
  await lift(entry.urn);
  t.equal(await statuses(way), "401,401", "the other entry still holds");
  t.match((await lift(byUrn.urn, { query: { reason: "Found" } })).body, { liftedAt: /Z$/ });
  await becomes(t, way, 403, "lifted");
  t.equal((await lift(byUrn.urn)).status, 200, "lifted already");
  t.strictSame(await listed(admin), []);
  const trail = await night.eventually(
    "the audit trail",
    () => trailOf(byUrn.urn),
    ({ length }) => length === 2,
  );
  const shown = { subject: "urn:user:finance_audit", reason: "Twice" };
  t.match(trail, [
    { action: "identity.lift-revocation", actor: "urn:user:admin", reason: "Found", before: shown },
    { action: "identity.revoke-access", actor: "urn:user:admin", reason: "Twice", after: shown },
  ]);
});

/** Known to a gateway after its restart as before. */
const standing: [Way, number, string][] = [];
let liftedOfPartner: RevocationView | undefined;
t.test("one token, one passenger's session, one partner, one session's end", async (t) => {
  const scoped = await operator(xn.urn, "FINANCE_AUDIT", "JFK");
  const tokenId = createHash("sha256").update(scoped).digest("base64url");
  const ofToken = await revoke({ tokenId, reason: "Pasted into a chat" });
  await becomes(t, { token: scoped }, 401, "one token");
  t.equal(await statuses({ token: auditor }), "403,403", "another of the same operator");
  await lift(ofToken.urn);
  await becomes(t, { token: scoped }, 403, "that token given back");

  const flight = smallFlight("XN", "revoked", 2);
  const { caseUrn } = await night.push(xn, flight);
  await night.events.untilCount("case.opened", 1, { caseUrn });
  const travellers = travellersOf(flight.passengers);
  const [lost = "", kept = ""] = await Promise.all(
    travellers.map((traveller) => night.passengerToken(xn, traveller)),
  );
  const me = { path: "/v1/me", host: xn.passengerHost };
  const { sub } = JSON.parse(Buffer.from(lost.split(".")[1] ?? "", "base64url").toString());
  await revoke({ subject: sub, reason: "Phone stolen" });
  await becomes(t, { ...me, token: lost }, 401, "one passenger's session");
  t.equal(await statuses({ ...me, token: kept }), "200,200", "another passenger's of the same case");

  const partner = { token: await night.partnerToken(xn), path: "/partner/v1/cases" };
  t.equal(await statuses(partner), "200,200");
  const ofPartner = await revoke({ subject: `${xn.partners[0]?.clientId}@clients`, reason: "Leaked" });
  await becomes(t, partner, 401, "a partner");
  liftedOfPartner = (await lift(ofPartner.urn)).body;
  await becomes(t, partner, 200, "the partner given back");

  const ended = { tenant: "XN", subject: "finance_audit", issuedUpTo: Math.floor(Date.now() / 1000) };
  await endSessionsOf(night.streams, ended);
  await becomes(t, { token: auditor }, 401, "every session of an operator");
  for (const { body } of await asked({ token: auditor }))
    t.match(body, { detail: /session has ended.*[Ll]og in/ });
  await endSessionsOf(night.streams, { ...ended, issuedUpTo: ended.issuedUpTo - 900 });

  standing.push(
    [{ token: auditor }, 401, "an earlier end that came late changed nothing"],
    [{ ...me, token: lost }, 401, "the passenger"],
    [partner, 200, "what was given back stays so"],
    [{ token: admin }, 200, "nobody else"],
  );
  for (const [way, status, what] of standing) t.equal(await statuses(way), `${status},${status}`, what);
  t.strictSame(
    (await listed(admin)).map(({ subject }) => subject),
    [sub],
    "an ended session is no entry of the list",
  );
});

t.test("who may, and about whom", async (t) => {
  const [entry] = await listed(admin);
  const supervisor = await operator(xn.urn, "OPS_SUPERVISOR");
  const foreign = await operator(qz.urn, "ADMIN");
  const scoped = await operator(xn.urn, "ADMIN", "JFK");
  const body = { subject: "anybody", reason: "x" };
  const params = { revocationUrn: entry?.urn ?? "" };
  const refused = async (id: string, call: Call, status: number, problem: RegExp): Promise<ToldProblem> => {
    const told = await night.refused(id, call);
    t.match(told, { status, type: problem }, `${id}: ${problem}`);
    return told;
  };
  for (const [id, call] of [
    ["listRevocations", {}],
    ["revokeAccess", { body }],
    ["liftRevocation", { params }],
  ] as const) {
    await refused(id, { ...call, token: supervisor }, 403, /insufficient-role$/);
    await refused(id, { ...call, token: scoped }, 403, /foreign-airport$/);
  }
  await refused("liftRevocation", { params, token: foreign }, 403, /foreign-tenant$/);
  t.strictSame(await listed(foreign), []);
  const unknown = { revocationUrn: "urn:revocation:XN-01JD0000000000000000000000" };
  await refused("liftRevocation", { params: unknown, token: admin }, 404, /not-found\/resource$/);
  const theirs = { ...body, subject: "urn:partner:QZ-tower" };
  await refused("revokeAccess", { body: theirs, token: admin }, 403, /foreign-tenant$/);
  for (const wrong of [
    { ...body, subject: "admin" },
    { ...body, subject: "urn:user:admin" },
    { ...body, subject: "urn:stopover:user:admin" },
    { ...body, tokenId: "x" },
    { reason: "x" },
  ]) {
    const told = await refused("revokeAccess", { body: wrong, token: admin }, 422, /validation\/body$/);
    t.match(told.errors, [{ pointer: "/subject" }], JSON.stringify(wrong));
  }
  await refused("revokeAccess", { body: { subject: "x" }, token: admin }, 422, /validation\/body$/);
});

t.test("what a crash leaves between document and bucket is put right, and the rest is kept", async (t) => {
  const way = { token: await operator(xn.urn, "AIRPORT_OPERATOR") };
  const lostWay = { token: await operator(xn.urn, "OPS_SUPERVISOR") };
  const partner = { token: await night.partnerToken(xn), path: "/partner/v1/cases" };
  t.equal(await statuses(way), "403,403");
  const idOf = (urn: string): string => urn.split(":").at(-1) ?? "";
  const bucket = await night.streams.kv.open("revocations");
  const lost = await revoke({ subject: "ops_supervisor", reason: "y" });
  await becomes(t, lostWay, 401, "one operator");
  await bucket.delete(idOf(lost.urn));
  await becomes(t, lostWay, 403, "the bucket has lost an entry");
  const { urn = "", subject } = liftedOfPartner ?? {};
  await bucket.put(idOf(urn), JSON.stringify({ tenant: "XN", subject }));
  await becomes(t, partner, 401, "the bucket has an entry that was lifted");
  await t.rejects(revoke({ subject: "airport_operator", reason: "x" }), "it dies");
  service.settings.KILL_POINT = "";
  await service.restart();
  await becomes(t, way, 401, "after the crash and the restart");
  await becomes(t, lostWay, 401, "compared with its document at the start");
  await becomes(t, partner, 200, "compared with its document at the start");
  for (const [way, status, what] of standing) t.equal(await statuses(way), `${status},${status}`, what);
});
