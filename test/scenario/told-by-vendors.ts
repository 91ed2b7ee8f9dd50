// What vendors tell by themselves, over HTTP from the sandbox: of cards and messages, everything twice and much of it out of order, what
// readers want, what comes back; then forged, foreign and repeated ones.
import type { Test } from "tap";
import type { Page } from "../../schemas/command.ts";
import type { NotificationRecord, NotificationView } from "../../schemas/notification.ts";
import type { WalletView } from "../../schemas/wallet.ts";
import { webhookSettings } from "../../scripts/demonstration/provision.ts";
import type { Clients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";
import { signedWebhook } from "../harness/vendor-webhook.ts";
import { type Guest, guestOf, own } from "./passenger-guests.ts";

const phone = "+12025550170";

/** @returns what must stand in no log line */
export const toldByVendors = async (t: Test, night: Clients): Promise<string[]> => {
  const [xn, qz] = night.airlines;
  const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
  const faults = { duplicateRate: 1, reorderRate: 0.5, webhookDelayMs: 0 };
  const targets = webhookSettings(night.instance.baseUrl, night.vendors);
  await night.control({
    cardworks: { ...faults, ...targets.cardworks },
    sendwell: { ...faults, ...targets.sendwell },
  });
  const stranded = async (airline: typeof xn, pnr: string): Promise<Guest> => {
    const { caseUrn } = (
      await night.pushed(airline, {
        ...smallFlight(airline.code, `told ${pnr}`, 0),
        passengers: [
          {
            ...{ pnr, firstName: "Given", lastName: `Family${pnr}`, cabinClass: "ECONOMY" },
            contact: { phone, email: `${pnr.toLowerCase()}@mail.example`, language: "en" },
          },
        ],
      })
    ).body;
    await night.events.untilCount("subcase.offer-ready", 1, { caseUrn });
    return guestOf(night, airline, caseUrn, pnr);
  };
  const [golf, hotel] = await Promise.all([stranded(xn, "GOLF01"), stranded(qz, "HOTEL1")]);
  const taken = (vendor: string) =>
    night.eventually(
      `all that ${vendor} tells is taken`,
      async () => (await night.ledger(vendor)).webhooks ?? [],
      (told) => told.length > 0 && told.every(({ isTaken }) => isTaken),
    );

  await t.test("cards", (t) => cards(t, night, golf, () => taken("cardworks")));
  await t.test("messages", (t) => messages(t, night, golf, operator));
  await t.test("who is believed", (t) => believed(t, night, golf, hotel));
  const told = [...(await taken("cardworks")), ...(await taken("sendwell"))];
  t.strictSame([...new Set(told.map(({ status }) => status))], [204]);
  t.equal(new Set(told.map(({ id }) => id)).size * 2, told.length, "each twice");
  await night.control({ cardworks: { webhooks: [] }, sendwell: { webhooks: [] } });
  return [phone, golfMail, ...night.vendors.flatMap(({ webhookSecret = [] }) => webhookSecret), ownSecret];
};

const golfMail = "golf01@mail.example";
const ownSecret = "whsec_of_qz_alone";

const walletOf = async (night: Clients, guest: Guest): Promise<WalletView> =>
  (await night.call<WalletView>("getMyWallet", own(guest))).body;

const cardOf = async (night: Clients, { subCaseId }: Guest) => {
  const { entries } = await night.ledger("cardworks");
  const card = entries.find(
    ({ kind, reference }) => kind === "card" && reference.startsWith(`${subCaseId}.card`),
  );
  if (card === undefined) throw new Error("the group has no card");
  return card;
};

const cards = async (t: Test, night: Clients, golf: Guest, taken: () => Promise<unknown>): Promise<void> => {
  const loaded = (await walletOf(night, golf)).balance.amountMinor;
  const { id: cardId } = await cardOf(night, golf);
  const spend = (type: string, amountMinor: number, more: object = {}) =>
    night.spend("cardworks", { cardId, type, amountMinor, ...more });
  const { authorization } = await spend("authorization", 900, { merchant: "JFK Diner" });
  await spend("capture", 400, { authorization, partial: true } as object);
  await spend("reversal", 500, { authorization });
  await taken();
  const wallet = await night.eventually(
    "all three",
    () => walletOf(night, golf),
    ({ transactions }) => transactions.length === 3,
  );
  t.match(wallet, {
    balance: { amountMinor: loaded - 400 },
    held: { amountMinor: 0 },
    available: { amountMinor: loaded - 400 },
  });
  const { caseUrn } = golf;
  await night.events.untilCount("wallet.card-tx", 3, { caseUrn });
  const kinds = night.events.of("wallet.card-tx", caseUrn).map(({ data }) => data.kind);
  t.strictSame(kinds.sort(), ["AUTHORIZATION", "REVERSAL", "SETTLEMENT"], "each once");
};

const messages = async (t: Test, night: Clients, golf: Guest, token: string): Promise<void> => {
  const { caseUrn } = golf;
  const params = { caseUrn };
  const log = async () =>
    (await night.call<Page<NotificationRecord>>("listNotifications", { token, params })).body.items;
  const newest = (count: number, what: string, holds: (record: NotificationRecord) => boolean) =>
    night
      .eventually(what, log, ([first, ...rest]) => rest.length === count - 1 && !!first && holds(first))
      .then(([first]) => first as NotificationRecord);
  const send = (templateId: string, channels?: string[]) => {
    const body = { templateId, reason: "At the desk", ...(channels && { channels }) };
    return night.call("sendNotification", { token, params, body });
  };
  const references = async () =>
    (await night.ledger("sendwell")).entries
      .filter(({ kind, reference }) => kind === "message" && reference.startsWith(golf.subCaseId))
      .map(({ reference }) => reference);

  await newest(1, "the offer's message has arrived", ({ status }) => status === "DELIVERED");
  const mine = async () =>
    (await night.call<Page<NotificationView>>("listMyNotifications", own(golf))).body.items[0];
  t.match(await mine(), { status: "DELIVERED", channel: "SMS", at: /Z$/, repliedAt: undefined });
  const [reference = ""] = await references();
  await night.reply("sendwell", { reference, text: "Thank you" });
  await night.eventually("the reply", mine, (view) => view?.repliedAt !== undefined);

  // Their own word, to the number: it names no message of ours.
  await night.reply("sendwell", { recipient: phone, text: " stop " });
  await night.events.untilCount("notification.opted-out", 1, { caseUrn });
  const contact = async () => {
    const all = await night.documents.tenant("XN").collection("contacts").find({}).toArray();
    return all.map(({ optedOut, optedIn }) => [optedOut?.SMS !== undefined, optedIn?.SMS !== undefined]);
  };
  await night.eventually("the opt-out is known", contact, ([known]) => known?.[0] === true);
  await send("voucher-issued", ["SMS"]);
  const suppressed = await newest(2, "nothing is sent", ({ status }) => status === "SUPPRESSED");
  t.match(suppressed, { reasonCode: "SUPPRESSED", attempts: [{ channel: "SMS", detail: /opted out/ }] });
  t.equal((await references()).length, 1, "the carrier is not even asked");
  await night.reply("sendwell", { recipient: phone, text: "START" });
  await night.eventually("they want it again", contact, ([known]) => known?.[1] === true);
  await send("offer-ready", ["SMS"]);
  await newest(3, "written to again", ({ status }) => status === "DELIVERED");

  await night.control({ sendwell: { bounceRate: 1 } });
  await send("voucher-issued");
  const bounced = await newest(4, "all has come back", ({ reasonCode }) => reasonCode === "BOUNCED");
  await night.control({ sendwell: { bounceRate: 0 } });
  t.match(
    bounced.attempts,
    ["SMS", "WHATSAPP", "EMAIL"].map((channel) => ({
      ...{ channel, status: "BOUNCED", detail: "unknown subscriber" },
    })),
    "one channel after the other",
  );
  await night.events.untilCount("review.opened", 1, { caseUrn });
  t.match(night.events.of("review.opened", caseUrn), [{ data: { category: "PARTIAL_FULFILLMENT" } }]);
};

const believed = async (t: Test, night: Clients, golf: Guest, hotel: Guest): Promise<void> => {
  const vendor = night.vendors.find(({ name }) => name === "cardworks");
  if (vendor?.webhookSecret === undefined) throw new Error("the sandbox's cards are told of by nobody");
  const { kind: _, webhookSecret: shared, ...account } = vendor;
  const cardsOf = { golf: await cardOf(night, golf), hotel: await cardOf(night, hotel) };
  const tx = (whose: "golf" | "hotel", id: string, more: object = {}) => ({
    ...{ id: `evt_${id}`, type: "transaction.created" },
    data: {
      ...{ id: `txn_${id}`, type: "capture", card: cardsOf[whose].id, authorization: `auth_${id}` },
      ...{ external_id: cardsOf[whose].reference, amount: { value: 1, currency: "USD" } },
      ...{ occurred: Math.floor(Date.now() / 1000), created: Math.floor(Date.now() / 1000), ...more },
    },
  });
  const post = async (body: unknown, secret: string, name = "cardworks", at = new Date()) =>
    (await night.call("receiveVendorWebhook", signedWebhook(name, secret, body, at))).status;
  const bare = { params: { vendor: "cardworks" }, raw: JSON.stringify(tx("golf", "unsigned")) };
  for (const [what, status] of [
    ["not signed", (await night.refused("receiveVendorWebhook", bare)).status],
    ["by a guess", await post(tx("golf", "guess"), "guess")],
    ["too old", await post(tx("golf", "old"), shared, "cardworks", new Date(Date.now() - 400_000))],
    ["of no vendor", await post(tx("golf", "nobody"), shared, "nobody")],
    ["by the key of its account", await post(tx("golf", "key"), account.apiKey)],
  ] as const)
    t.equal(status, 401, what);

  // From now on the other airline's account has a secret of its own.
  const put = (more: object) =>
    night.client.command("vendor-adapter.put-vendor", {
      ...{ tenant: "QZ", data: { ...account, dialect: "cardworks", ...more } },
    });
  await put({});
  await put({ webhookSecret: ownSecret });
  await night.eventually(
    "its secret is known",
    () => post({ id: "evt", type: "card.created", data: {} }, ownSecret),
    (status) => status === 204,
  );
  const counts = async () => [
    (await walletOf(night, golf)).transactions.length,
    (await walletOf(night, hotel)).transactions.length,
  ];
  const [ofGolf = 0, ofHotel = 0] = await counts();
  t.equal(
    await post(tx("golf", "theirs"), ownSecret),
    204,
    "signed, and not of the airline that has signed it",
  );
  t.equal(await post(tx("hotel", "ours"), shared), 204);
  const nobody = { external_id: "XN-01KAMVW9G0ABCDEFGHJKMNPQRS.card.1" };
  t.equal(await post(tx("golf", "nobody", nobody), shared), 204, "of a group that isn't");
  t.equal(await post({ id: "evt" }, shared), 422);
  t.equal(await post("{", shared), 400);
  // As after a gateway that died before it could answer: sent again, and signed anew.
  const lost = tx("golf", "lost");
  for (const at of [Date.now(), Date.now(), Date.now() - 5_000])
    t.equal(await post(lost, shared, "cardworks", new Date(at)), 204);
  t.equal(await post({ ...lost, id: "evt_other" }, shared), 204, "another event of the same transaction");
  t.equal(await post(tx("hotel", "own"), ownSecret), 204);
  t.equal(await post(tx("golf", "last"), shared), 204);
  await night.eventually("what is true", counts, ([a = 0, b = 0]) => a >= ofGolf + 2 && b >= ofHotel + 1);
  t.strictSame(await counts(), [ofGolf + 2, ofHotel + 1], "and nothing else");
  const kept = await night.documents
    .tenant("XN")
    .collection("subCases")
    .findOne({ subCaseId: golf.subCaseId });
  t.match(JSON.stringify(kept), "txn_last");
  t.notMatch(JSON.stringify(kept), "txn_theirs");
};
