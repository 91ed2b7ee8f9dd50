// scripts/admin's operators: each subcommand on real documents, and what it ends at the gateways.
import { MongoClient } from "mongodb";
import t from "tap";
import { operatorSubcommands } from "../../../scripts/administration/operators.ts";
import type { Reach } from "../../../scripts/administration/subcommand.ts";
import { issuerDocuments } from "../../../scripts/embedded/issuer/documents.ts";
import { openStreams } from "../../../streams/connection.ts";
import { startDocuments, startNatsServer } from "../../harness/processes.ts";

const [stored, nats] = await Promise.all([startDocuments(t), startNatsServer(t)]);
const { databasePrefix } = stored;
const mongodb = await MongoClient.connect(stored.url);
const streams = await openStreams(nats.url, "test");
t.teardown(() => Promise.all([mongodb.close(), streams.close()]));
const documents = issuerDocuments(mongodb, databasePrefix);
let isReachable = true;
const reach: Reach = {
  client: () => Promise.reject(new Error("no broker is needed")),
  streams: async () => {
    if (!isReachable) throw new Error("NATS is away");
    return streams;
  },
  documents: async () => ({ mongodb, databasePrefix }),
  sealKey: async () => Buffer.alloc(32, 7),
  operatorIssuer: () => "http://localhost:9",
};
const run = async (name: string, values: Record<string, string>) => {
  const { json, text } = (await operatorSubcommands[`operator ${name}`]?.run(values, [], reach)) ?? {};
  return { json: json as Record<string, string>, text };
};
const email = "ana@xn.example";
const ana = { email, name: "Ana", airline: "urn:airline:XN", role: "AIRPORT_OPERATOR", airport: "JFK" };
const stand = async () => documents.users.findOne({ email });
/** Who the gateways were told of, by airline. */
const ended = async (): Promise<string[]> => {
  const bucket = await streams.kv.create("ended-sessions", { history: 1 });
  const subjects: string[] = [];
  for await (const key of await bucket.keys())
    subjects.push((await bucket.get(key))?.json<{ subject: string }>().subject ?? "");
  return subjects;
};

t.test("add: an invitation, one role per airline, and an end to the old one's tokens", async (t) => {
  const { json, text } = await run("add", { ...ana, phone: "+15550100" });
  t.match(json, {
    email,
    role: "AIRPORT_OPERATOR",
    airport: "JFK",
    invitation: /^http:\/\/localhost:9\/invitation\/[\w-]{43}$/,
  });
  t.match(text, /72 hours, once/);
  const first = await stand();
  t.match(first, {
    memberships: [{ airline: "XN", role: "AIRPORT_OPERATOR", airport: "JFK" }],
    phone: /^v1\./,
  });
  t.notMatch(JSON.stringify(first), /15550100/, "sealed");
  const subject = first?.memberships[0]?.subject ?? "";
  t.strictSame(await ended(), []);
  await run("add", { email: "ANA@xn.example", name: "Ana B.", airline: "XN", role: "ADMIN" });
  t.match(await stand(), { name: "Ana B.", memberships: [{ role: "ADMIN", subject }] });
  t.strictSame([await ended(), await documents.endings.countDocuments({})], [[subject], 0]);
  await run("add", { ...ana, airline: "QZ" });
  const both = (await stand())?.memberships ?? [];
  t.strictSame(
    both.map(({ airline }) => airline),
    ["XN", "QZ"],
  );
  t.not(both[1]?.subject, subject);
  const wrong = { email: "ana", role: "KING", airline: "lower", airport: "Kennedy", phone: "0100" };
  for (const [name, value] of Object.entries(wrong))
    await t.rejects(run("add", { ...ana, [name]: value }), { message: new RegExp(`--${name}`) }, name);
});

t.test("list, disable, enable", async (t) => {
  t.match(await run("list", { airline: "XN" }), {
    json: [{ email, role: "ADMIN", status: "INVITED", factors: ["sms"] }],
    text: /^E-MAIL .*\nana@xn\.example +Ana +ADMIN +INVITED +sms$/,
  });
  const subjects = (await stand())?.memberships.map(({ subject }) => subject) ?? [];
  isReachable = false;
  await t.rejects(run("disable", { email }), { message: "NATS is away" });
  isReachable = true;
  t.match((await stand())?.disabledAt, Date, "it counts all the same");
  t.equal(await documents.endings.countDocuments({}), 2, "and the issuer does the rest");
  await run("disable", { email });
  t.strictSame((await ended()).sort(), subjects.toSorted());
  t.match(await run("list", { airline: "QZ" }), { json: [{ status: "DISABLED" }] });
  await run("enable", { email });
  t.equal((await stand())?.disabledAt, undefined);
  await t.rejects(run("enable", { email: "nobody@xn.example" }), { message: /nobody has/ });
});

t.test("reset-factors takes the password too", async (t) => {
  const totp = { secret: "v1.x", lastStep: 1 };
  await documents.users.updateOne(
    { email },
    { $set: { totp, passwordHash: "scrypt$", recoveryCodes: ["a"] } },
  );
  t.match((await run("reset-factors", { email })).json, { invitation: /invitation/ });
  const { passwordHash, totp: left, recoveryCodes, passkeys } = (await stand()) ?? {};
  t.strictSame([passwordHash, left, recoveryCodes, passkeys], [undefined, undefined, [], []]);
});

t.test("remove: the last place takes the account with it", async (t) => {
  await run("remove", { email, airline: "XN" });
  t.match(await stand(), { memberships: [{ airline: "QZ" }] });
  await t.rejects(run("remove", { email, airline: "XN" }), { message: /has no role at XN/ });
  await run("remove", { email, airline: "QZ" });
  t.equal(await stand(), null);
});

t.test("second-factor: what an airline asks of its AIRPORT_OPERATORs", async (t) => {
  await run("second-factor", { airline: "XN", when: "always" });
  t.match(await documents.organizations.findOne({ _id: "XN" }), { airportOperatorRule: "always" });
  await t.rejects(run("second-factor", { airline: "XN", when: "sometimes" }), { message: /--when/ });
});
