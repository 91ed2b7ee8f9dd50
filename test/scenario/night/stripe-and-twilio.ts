// A night whose cards are Stripe's and whose texts go through Twilio, from the push to the wallet: both sandboxes speak as those vendors do,
// lose answers as they may, and tell by their own webhooks what happened.
import type { Test } from "tap";
import type { Page } from "../../../schemas/command.ts";
import type { NotificationRecord } from "../../../schemas/notification.ts";
import type { WalletView } from "../../../schemas/wallet.ts";
import { startSandbox } from "../../contract/vendors/sandbox.ts";
import type { Clients } from "../../harness/clients.ts";
import { guestOf, own, strand } from "../passenger-guests.ts";

/** From now on the first of their kinds by name: the airline works with them. */
const configured = async (t: Test, night: Clients) => {
  const sandbox = await startSandbox(t, t.testdir(), ["--only", "stripe-issuing,twilio", "--latency", "1"]);
  const { baseUrl } = night.instance;
  const hooks = (name: string) => `${baseUrl}/v1/webhooks/vendors/${name}`;
  const put = async (name: string, dialect: string, more: object = {}) => {
    const { name: _, kind: __, account, ...vendor } = sandbox.vendor(dialect);
    const data = { ...vendor, name, dialect, account: { ...account, ...more } };
    await night.client.command("vendor-adapter.put-vendor", { tenant: "XN", data });
  };
  await put("a-stripe", "stripe-issuing");
  await put("a-twilio", "twilio", { statusCallback: hooks("a-twilio") });
  const secret = (dialect: string) => sandbox.vendor(dialect).webhookSecret ?? "";
  await sandbox.control({
    "stripe-issuing": {
      webhooks: [{ url: hooks("a-stripe"), secret: secret("stripe-issuing") }],
      duplicateRate: 1,
    },
    twilio: { webhooks: [{ url: hooks("a-twilio"), secret: secret("twilio") }], duplicateRate: 1 },
  });
  return sandbox;
};

export const stripeAndTwilio = async (t: Test, night: Clients): Promise<void> => {
  const [xn] = night.airlines;
  const sandbox = await configured(t, night);
  await sandbox.control({
    "stripe-issuing": { failNext: [{ operation: "issueCard", kind: "error-after", times: 1 }] },
    twilio: { failNext: [{ operation: "send", kind: "lost-answer", times: 1 }] },
  });
  const caseUrn = await strand(night, xn, { name: "dialects", pnrs: ["STRIPE"], airport: "JFK" });
  const guest = await guestOf(night, xn, caseUrn, "STRIPE");
  const cards = (await sandbox.ledger("stripe-issuing")).entries.filter(({ kind }) => kind === "card");
  t.match(cards, [{ reference: `${guest.subCaseId}.card.1`, state: "ACTIVE" }]);
  t.equal(cards.length, 1, "its answer was lost, and it is one");

  const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
  const log = async () =>
    (
      await night.call<Page<NotificationRecord>>("listNotifications", {
        token: operator,
        params: { caseUrn },
      })
    ).body.items;
  const [told] = await night.eventually(
    "Twilio tells of it",
    log,
    ([first]) => first?.status === "DELIVERED",
  );
  t.match(told?.attempts, [{ channel: "SMS", status: "DELIVERED" }]);
  t.match(
    (await sandbox.ledger("twilio")).counts,
    { sent: 1 },
    "the lost one is found by its words, not sent again",
  );

  const wallet = async () => (await night.call<WalletView>("getMyWallet", own(guest))).body;
  const { balance } = await wallet();
  const cardId = cards[0]?.id ?? "";
  const spend = (more: object) => sandbox.spend("stripe-issuing", { cardId, merchant: "JFK Diner", ...more });
  const { authorization } = await spend({ type: "authorization", amountMinor: 900 });
  await spend({ type: "capture", amountMinor: 750, authorization });
  await spend({ type: "capture", amountMinor: 60 });
  const used = await night.eventually("all of it", wallet, ({ transactions }) => transactions.length === 4);
  t.match(used, {
    balance: { amountMinor: balance.amountMinor - 810 },
    held: { amountMinor: 0 },
    available: { amountMinor: balance.amountMinor - 810 },
  });
  const shown = await night.call<{ url: string }>("revealMyCard", own(guest));
  t.match(shown, { status: 200, body: { url: /^https:\/\/cards\.airline\.example\/show#ey/ } });

  const { controlUrl } = sandbox.announcement;
  const body = JSON.stringify({ recipient: "+12025550143", text: "STOP" });
  t.equal((await fetch(`${controlUrl}/reply/twilio`, { method: "POST", body })).status, 200);
  await night.events.untilCount("notification.opted-out", 1, { caseUrn });
};
