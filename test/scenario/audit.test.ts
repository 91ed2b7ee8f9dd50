// A night's audit trail: what is in it and what must not be, who may search and export it, and scripts/admin proving it or
// naming what was tampered with. Deaths while it is written are the unit tests'.
import t from "tap";
import type { AuditEntry } from "../../actors/audit/entry.ts";
import { Appender, trailOf } from "../../actors/audit/trail.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import { auditSubcommands } from "../../scripts/administration/audit.ts";
import { openAdministration, runScript } from "../harness/administration.ts";
import { type Call, startClients } from "../harness/clients.ts";
import { isFullSize } from "../harness/environment.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
const night = await startClients(t);
const [xn, qz] = night.airlines;
const [finance, supervisor, operator, admin, foreign, atOpo, atJfk] = (await Promise.all([
  ...["FINANCE_AUDIT", "OPS_SUPERVISOR", "AIRPORT_OPERATOR", "ADMIN"].map((role) =>
    night.operatorToken(xn.urn, role),
  ),
  night.operatorToken(qz.urn, "ADMIN"),
  night.scopedToken(xn.urn, "OPS_SUPERVISOR", "OPO"),
  night.scopedToken(xn.urn, "FINANCE_AUDIT", "JFK"),
])) as [string, string, string, string, string, string, string];
const trail = trailOf(night.documents.tenant("XN"));

/** Every report so far is an entry, and acknowledged. */
const settled = (): Promise<unknown> =>
  night.eventually(
    "the trail has heard of everything",
    () => night.streams.manager.consumers.info("INTERNAL", "audit"),
    ({ num_pending, num_ack_pending }) => num_pending + num_ack_pending === 0,
  );

const push = async (name: string, airport: string, bookings: number, airline = xn) => {
  const body = smallFlight(airline.code, name, bookings);
  const flight = { ...body.flight, originAirport: airport };
  const passengers = body.passengers.map((passenger, i) => ({
    ...passenger,
    contact: {
      email: `guest${i}@mail.example`,
      phone: `+1212555${String(1000 + i)}`,
      language: "en" as const,
    },
  }));
  const { caseUrn } = (await night.pushed(airline, { ...body, flight, passengers })).body;
  return { caseUrn, travellers: travellersOf(body.passengers) };
};
const entriesCount = isFullSize ? 5000 : 450;
const formula = '=HYPERLINK("http://evil.example")';

const [jfk, opo] = await Promise.all([push("trail", "JFK", 3), push("trail-opo", "OPO", 1)]);
await push("other", "JFK", 1, qz);
await night.events.untilCount("subcase.offer-ready", 3, { caseUrn: jfk.caseUrn });
await night.events.untilCount("review.opened", 1, { caseUrn: opo.caseUrn });
for (const [i, route] of ["acceptMyOffer", "declineMyOffer"].entries())
  await night.call(route, {
    token: await night.passengerToken(xn, jfk.travellers[i] ?? { pnr: "", lastName: "" }),
    host: xn.passengerHost,
    body: {},
  });
await night.call("createPolicy", {
  token: supervisor,
  body: { name: "P", context: { airport: "SFO" }, tiers: ["CREW"] },
});
await night.call("revokeAccess", { token: admin, body: { subject: "a-lost-account", reason: "Lost" } });
await night.client.command("identity.rotate-client-secret", {
  tenant: "XN",
  entity: xn.partners[0]?.clientId ?? "",
});
await night.call("closeCase", {
  token: supervisor,
  params: { caseUrn: opo.caseUrn },
  body: { reason: formula },
});
await settled();

const search = async (query: Call["query"], token = finance) =>
  (await night.call<Page<AuditEntryView>>("searchAudit", { token, query: { limit: 200, ...query } })).body
    .items;

t.test("the trail is searched by each filter and by all of them", async (t) => {
  const all = await search({});
  t.equal(all.length, await trail.entries.countDocuments(), "everything of the airline");
  const times = all.map(({ at }) => at);
  t.strictSame(times, [...times].sort().reverse(), "newest first");
  const middle = times[Math.floor(times.length / 2)] ?? "";
  const closed = all.find(({ action, reason }) => action === "case.close" && reason === formula);
  t.match(closed, { entityUrn: opo.caseUrn, caseUrn: opo.caseUrn, airport: "OPO", role: "OPS_SUPERVISOR" });
  const filters: [query: Record<string, string>, holds: (entry: AuditEntryView) => boolean][] = [
    [{ entity: "policy" }, ({ entityUrn }) => entityUrn.startsWith("urn:policy:")],
    [{ entity: "sub-case" }, ({ entityUrn }) => entityUrn.startsWith("urn:sub-case:")],
    [{ entityUrn: opo.caseUrn }, ({ entityUrn }) => entityUrn === opo.caseUrn],
    [{ caseUrn: opo.caseUrn }, ({ caseUrn }) => caseUrn === opo.caseUrn],
    [{ action: "case.close" }, ({ action }) => action === "case.close"],
    [{ actor: closed?.actor ?? "" }, ({ actor }) => actor === closed?.actor],
    [{ from: middle }, ({ at }) => at >= middle],
    [{ to: middle }, ({ at }) => at < middle],
    [
      {
        entity: "case",
        entityUrn: opo.caseUrn,
        action: "case.close",
        actor: closed?.actor ?? "",
        from: closed?.at ?? "",
      },
      ({ urn }) => urn === closed?.urn,
    ],
  ];
  for (const [query, holds] of filters) {
    const wanted = all.filter(holds).map(({ urn }) => urn);
    t.ok(wanted.length > 0, `${JSON.stringify(query)}: ${wanted.length} entries`);
    t.strictSame(
      (await search(query)).map(({ urn }) => urn),
      wanted,
    );
  }
  t.strictSame(await search({ entity: "policy", action: "case.close" }), []);
  t.strictSame(await search({ entityUrn: "urn:case:XN-01JD0000000000000000000000" }), []);
  const bare = await night.ask({ method: "GET", path: "/audit?action=case.close", token: finance });
  t.match(bare, { status: 200, body: { items: [{ action: "case.close" }] } }, "without /v1 too");
  for (const [query, status] of [
    [{ from: "yesterday" }, 400],
    [{ entity: "passenger-name" }, 400],
    [{ entityUrn: "urn:case:QZ-01JD0000000000000000000000" }, 403],
  ] as const)
    t.match(await night.refused("searchAudit", { token: finance, query }), { status });
});

t.test("who reads the trail", async (t) => {
  for (const token of [supervisor, admin]) t.ok((await search({}, token)).length > 0);
  for (const id of ["searchAudit", "exportAudit"]) {
    t.match(await night.refused(id, { token: operator }), { status: 403 }, `${id}: AIRPORT_OPERATOR`);
    t.match(await night.refused(id, { token: await night.partnerToken(xn) }), { status: 401 });
  }
  const urns = JSON.stringify(await search({}, foreign));
  t.notMatch(urns, /XN-/, "another airline has its own");
  const scoped = await search({}, atOpo);
  t.ok(scoped.length >= 3);
  t.strictSame([...new Set(scoped.map(({ airport }) => airport))], ["OPO"], "one airport's own");
  t.strictSame(await search({ caseUrn: jfk.caseUrn }, atOpo), []);
  const read = (id: string, params: Record<string, string>, token: string) =>
    night.call<Page<AuditEntryView>>(id, { token, params });
  for (const [id, params] of [
    ["getCaseAudit", { caseUrn: jfk.caseUrn }],
    ["getEntityAudit", { entityUrn: jfk.caseUrn }],
  ] as const) {
    t.equal((await read(id, params, atOpo)).status, 403, id);
    t.ok((await read(id, params, atJfk)).body.items.length > 0, id);
  }
  t.strictSame(
    (await read("getEntityAudit", { entityUrn: xn.urn }, atJfk)).body.items,
    [],
    "the airline's own",
  );
});

t.test("no entry holds a secret or a contact detail", async (t) => {
  const entries = await trail.entries.find().toArray();
  t.ok(entries.length > 15, `${entries.length} entries`);
  const actions = new Set(entries.map(({ action }) => action));
  for (const action of ["identity.register-partner", "identity.rotate-client-secret", "sub-case.accept"])
    t.ok(
      [...actions].some((one) => one.startsWith(action)),
      `${action} is among ${[...actions].join()}`,
    );
  // URNs and digests are opaque: digits in them are nobody's number.
  const text = JSON.stringify(
    entries.map(({ digest, previousDigest, listKey, _id, ...entry }) => entry),
  ).replace(/urn:[\w:.|~+@-]+|"(?:at|issuedAt|\w*At)":"[^"]*"/g, "");
  const [partner] = xn.partners;
  for (const secret of [partner?.clientSecret, partner?.webhookSecret, finance])
    t.notOk(secret !== undefined && text.includes(secret), "a secret");
  t.notMatch(text, /[\w.+-]+@[\w-]+\.[a-z]+/i, "an address");
  t.notMatch(text, /\+\d{7,}/, "a telephone number");
  t.notMatch(text, /\beyJ[\w-]+\./, "a token");
  t.notMatch(text, /\b(?:\d[ -]?){13,19}\b/, "a card");
  t.notMatch(text, /Traveller\d|"Ada"|"Bruno"/, "a passenger's name");
});

const exported = (query: Call["query"] = {}, token = finance) =>
  night.call<string>("exportAudit", { token, query, headers: { Accept: "text/csv" } });
/** Lines of a table none of whose cells has a line's end. */
const rowsOf = (text: unknown): string[] => String(text).split("\r\n").slice(1, -1);

t.test("the trail is exported, and the export is in the trail", async (t) => {
  const query = { action: "case.close" };
  const { body } = await exported(query);
  t.equal(rowsOf(body).length, (await search(query)).length);
  t.match(body, `,"'=HYPERLINK(""http://evil.example"")",`, "no spreadsheet runs it");
  const noted = await search({ entityUrn: xn.urn });
  t.match(noted.slice(0, 2), [
    { action: "audit.end-export", after: { filters: query, rows: rowsOf(body).length, complete: true } },
    { action: "audit.begin-export", role: "FINANCE_AUDIT", after: { filters: query } },
  ]);
  t.equal(noted[0]?.correlationUrn, noted[1]?.correlationUrn);
  const scoped = rowsOf((await exported({}, atOpo)).body);
  t.equal(
    scoped.length,
    (await search({}, atOpo)).length - 2,
    "one airport's own, without the export itself",
  );
});

t.test("an export of several pages", async (t) => {
  const [model] = await trail.entries.find({ action: "policy.create" }).toArray();
  const { chain, sequence, previousDigest, digest, ...report } = model as AuditEntry;
  const appender = new Appender(
    (tenant) => night.documents.tenant(tenant),
    () => undefined,
  );
  const many = Array.from({ length: entriesCount }, (_, i) => {
    const _id = `XN-01KZ${String(i).padStart(22, "0")}`;
    return { ...report, _id, listKey: `${report.at.toISOString()}/${_id}`, action: "bulk.row" };
  });
  await Promise.all(many.map((one) => appender.append("XN", one)));
  const { body } = await exported({ action: "bulk.row" });
  const rows = rowsOf(body);
  t.equal(rows.length, entriesCount);
  t.equal(new Set(rows).size, entriesCount, "each once");
});

t.test("scripts/admin audit verify", async (t) => {
  const verify = openAdministration(t, night, auditSubcommands);
  t.match(await verify("audit", "verify"), { text: /^QZ {2}.*: whole\nXN {2}.*: whole$/ });
  t.match(await verify("audit", "verify", "--case", jfk.caseUrn), {
    failed: false,
    text: /^XN {2}\d+ entries in 1 chains: whole$/,
  });
  await t.rejects(verify("audit", "verify", "--airline", "ZZ"), { message: /no airline ZZ/ });
  const [first, second] = await trail.entries.find({ chain: jfk.caseUrn }).sort({ sequence: 1 }).toArray();
  await trail.entries.updateOne({ _id: second?._id ?? "" }, { $set: { actor: "urn:user:somebody-else" } });
  t.match(await verify("audit", "verify"), {
    failed: true,
    json: {
      airlines: [
        { airline: "QZ", broken: 0 },
        {
          airline: "XN",
          broken: 1,
          breaks: [{ kind: "changed", chain: jfk.caseUrn, sequence: 2, entry: `urn:event:${second?._id}` }],
        },
      ],
    },
  });
  await trail.entries.updateOne({ _id: second?._id ?? "" }, { $set: { actor: second?.actor ?? "" } });
  await trail.entries.deleteOne({ _id: first?._id ?? "" });
  t.match(await runScript("admin", night, ["audit", "verify", "--airline", "XN"]), {
    code: 1,
    stdout: new RegExp(`1 broken\n\nWHAT .*\nremoved +${jfk.caseUrn} +1 +- `),
  });
});
