// What a vendor's configuration must be: secrets that can be guessed, or addresses that are none, are not taken.
import t from "tap";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { listVendors } from "../../../actors/vendor-adapter/instances.ts";
import { checkedVendor, type PutVendor } from "../../../actors/vendor-adapter/put-vendor.ts";
import type { Problem } from "../../../schemas/problems.ts";
import { evening } from "../../harness/given.ts";

t.test("which secrets are taken", async (t) => {
  const put = { name: "cards", dialect: "cardworks", baseUrl: "https://cards.example", apiKey: "key" };
  const refused = (more: Partial<PutVendor>) => {
    try {
      return checkedVendor({ ...put, ...more }).secrets.webhookSecret;
    } catch (error) {
      return (error as Problem).members.errors?.[0];
    }
  };
  const long = "whsec_0123456789";
  t.equal(refused({ webhookSecret: long }), long);
  t.equal(refused({}), undefined);
  const pointer = "/webhookSecret";
  t.match(refused({ webhookSecret: long.slice(1) }), { pointer, detail: /shorter/ });
  t.match(refused({ webhookSecret: `${long} ` }), { pointer });
  t.match(refused({ dialect: "stayhub", webhookSecret: long }), { pointer, detail: /not used/ });
  const cardholder = "ich_1";
  const issuing = (apiSecret: string, revealPage = "https://x.example/show") =>
    refused({ dialect: "stripe-issuing", apiSecret, account: { cardholder, revealPage } });
  t.match(
    issuing("a".repeat(15)),
    { pointer: "/apiSecret", detail: /shorter than 16/ },
    "it signs for strangers",
  );
  t.equal(issuing("a".repeat(16)), undefined);
  for (const page of ["https://[", "https://x.example:99999/", "https://a b"])
    t.match(issuing("a".repeat(16), page), { pointer: "/account/revealPage" }, page);
  const accountSid = `AC${"0".repeat(32)}`;
  const texts = (statusCallback: string) =>
    refused({ dialect: "twilio", account: { accountSid, statusCallback } });
  t.match(texts("https://["), { pointer: "/account/statusCallback" });
  t.equal(texts("https://x.example/v1/webhooks/vendors/twilio"), undefined);
});

t.test("what an account needs", async (t) => {
  const put = { name: "x", baseUrl: "https://api.example", apiKey: "k" };
  const stripe = { ...put, dialect: "stripe-issuing", apiSecret: "0123456789abcdef" };
  const cards = { cardholder: "ich_1", revealPage: "https://x.example/show" };
  const twilio = { ...put, dialect: "twilio" };
  const accountSid = `AC${"0".repeat(32)}`;
  const rows: [put: Parameters<typeof checkedVendor>[0], pointer: string | undefined][] = [
    [{ ...stripe, account: cards }, undefined],
    [{ ...stripe, account: { ...cards, revealPage: "http://x.example" } }, "/account/revealPage"],
    [{ ...stripe, account: { revealPage: cards.revealPage } }, "/account/cardholder"],
    [{ ...put, dialect: "stripe-issuing", account: cards }, "/apiSecret"],
    [{ ...twilio, account: { accountSid, from: "Stopover" } }, undefined],
    [{ ...twilio, account: { accountSid: "AC1" } }, "/account/accountSid"],
    [{ ...twilio, account: { accountSid, from: "much too long a name" } }, "/account/from"],
  ];
  for (const [vendor, pointer] of rows) {
    if (pointer === undefined) t.doesNotThrow(() => checkedVendor(vendor));
    else
      try {
        checkedVendor(vendor);
        t.fail(pointer);
      } catch (error) {
        t.match((error as Problem).members.errors, [{ pointer }]);
      }
  }
});

t.test(
  "what is listed of a vendor holds no secret, and tells whether there is one for webhooks",
  async (t) => {
    const changedAt = evening;
    const account = { from: "+12025550100" };
    const stored = [
      { _id: "a", dialect: "twilio", baseUrl: "u", webhookSecret: "sealed", account, changedAt },
      { _id: "b", dialect: "stayhub", baseUrl: "u", changedAt, reconcileMinutes: 15 },
    ];
    const cursor = { sort: () => cursor, toArray: async () => stored };
    const context = { documents: { tenant: () => ({ collection: () => ({ find: () => cursor }) }) } };
    const view = { baseUrl: "u", changedAt: evening.toISOString() };
    t.strictSame(await listVendors(context as unknown as ActorContext, "XN"), [
      { ...view, name: "a", dialect: "twilio", webhooks: true, account },
      { ...view, name: "b", dialect: "stayhub", webhooks: false, reconcileMinutes: 15 },
    ]);
  },
);
