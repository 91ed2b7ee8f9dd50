// Every template in every language on every channel: no hole, nothing that breaks out of its channel, no SMS of more than three parts.
import fc from "fast-check";
import t from "tap";
import { maskedRecipient, normalContact, waysTo } from "../../../actors/message/contact.ts";
import { type MessageFacts, toldIn } from "../../../actors/message/facts.ts";
import { render, smsParts } from "../../../actors/message/render.ts";
import type { PassengerContact } from "../../../schemas/message.ts";
import { untellable } from "../../../schemas/message.ts";
import { notificationTemplates } from "../../../schemas/notification.ts";
import { channels, languages, vehicleTypes } from "../../../schemas/vocabulary.ts";

const link = `https://passengers.xenon.example?token=XN-AbC_dEf-123_456~${"x".repeat(27)}`;
const facts: MessageFacts = {
  airline: "Xenon Air",
  timeZone: "America/New_York",
  host: "passengers.xenon.example",
  flight: "XN482",
  hotel: "Astor Harbour Hotel & Suites New York",
  address: "1 Astor Street, New York, US",
  checkIn: "2026-11-21",
  checkOut: "2026-11-23",
  code: "J8K2M4PQ",
  pickupAt: "2026-11-22T03:15:00.000Z",
  vehicleType: "WHEELCHAIR_VAN",
};
const without = (...names: (keyof MessageFacts)[]): MessageFacts =>
  Object.fromEntries(Object.entries(facts).filter(([name]) => !names.includes(name as never))) as never;

const each = notificationTemplates.flatMap((template) =>
  languages.flatMap((language) => channels.map((channel) => ({ template, language, channel }))),
);
/** What each template must say, whatever the language. */
const says: Readonly<Record<(typeof notificationTemplates)[number], (keyof MessageFacts)[]>> = {
  "offer-ready": ["flight", "hotel", "code", "host"],
  "voucher-issued": ["flight", "hotel", "code", "host"],
  "stay-changed": ["hotel", "code", "host"],
  "hotel-changed": ["hotel", "code", "host"],
  "transport-updated": ["hotel", "host"],
  "offer-withdrawn": ["flight", "host"],
  welcome: ["flight", "host"],
  "magic-link": ["flight", "host"],
};

t.test("every template, language and channel", async (t) => {
  const texts = new Map<string, string>();
  for (const { template, language, channel } of each) {
    const what = `${template} ${language} ${channel}`;
    const pageless = template === "welcome" || template === "magic-link" ? [] : [without("host")];
    for (const known of [facts, without("address"), ...pageless]) {
      const { subject, text, html } = render(template, language, channel, toldIn(language, known, link));
      const all = [subject, text, html].filter((part) => part !== undefined).join("\n");
      if (/undefined|null|NaN|\[object|\$\{|Invalid| {2}|\s[.,]|\.\.|\(\)/.test(all))
        t.fail(`${what}: ${all}`);
      if (text.trim().length < 30) t.fail(`${what} is empty`);
      if ((channel === "EMAIL") !== (subject !== undefined && html !== undefined))
        t.fail(`${what}: an e-mail alone has a subject and HTML`);
      if (channel === "SMS" && smsParts(text) > 3) t.fail(`${what} takes ${smsParts(text)} parts: ${text}`);
      if (known !== facts) continue;
      texts.set(`${template} ${channel} ${language}`, all);
      for (const name of says[template])
        if (!all.includes(String(facts[name])) && !(name === "hotel" && all.includes("Astor Harbour")))
          t.fail(`${what} does not say ${name}: ${all}`);
      if (html !== undefined) {
        t.match(html, new RegExp(`^<!doctype html>\n<html lang="${language}">`), what);
        if (says[template].includes("hotel") && !html.includes("Hotel &amp; Suites")) t.fail(html);
      }
    }
  }
  t.equal(texts.size, notificationTemplates.length * languages.length * channels.length);
  t.equal(new Set(texts.values()).size, texts.size, "no two say the same");
});

t.test("dates, times and vehicles as people read them", async (t) => {
  const said = (language: (typeof languages)[number]) => {
    const { checkIn, pickup, vehicle } = toldIn(language, facts);
    return [checkIn.text, pickup.text, vehicle.text];
  };
  t.same(said("en"), ["21 Nov", "21 Nov, 22:15", "wheelchair-accessible van"], "local time of the airport");
  t.same(said("es")[0], "21 nov");
  t.same(said("pt")[0], "21/11");
  t.same(said("fr")[0], "21 nov");
  t.same(said("de")[0], "21. Nov");
  for (const language of languages) {
    t.match(said(language)[1], /21.*22[:h]15$/, language);
    t.equal(
      new Set(vehicleTypes.map((one) => toldIn(language, { ...facts, vehicleType: one }).vehicle.text)).size,
      3,
    );
  }
});

const evil = `<img src=x onerror="alert('1')">*bold* _it_ ~no~ \`x\`\r\nBcc: all@example.com\u202e\u0000&`;

t.test("values cannot break out of their channel", async (t) => {
  for (const { template, language, channel } of each) {
    const hostile = { ...facts, hotel: evil, address: evil, code: evil, airline: evil, flight: evil };
    const {
      subject = "",
      text,
      html = "",
    } = render(template, language, channel, toldIn(language, hostile, link));
    const what = `${template} ${language} ${channel}`;
    const all = `${subject}${text}${html}`;
    if (["\u202e", "\u0000", "\r"].some((mark) => all.includes(mark))) t.fail(`${what}: marks are left`);
    if (/[\r\n]/.test(subject)) t.fail(`${what}: a subject of two lines`);
    if (/^Bcc:/m.test(all)) t.fail(`${what}: a line of its own`);
    if (/<img|onerror="|alert\('/.test(html)) t.fail(`${what}: ${html}`);
    const tags = new Set(html.match(/<\/?[a-z]+/g));
    for (const tag of tags) if (!/^<\/?(html|head|meta|title|body|p|a)$/.test(tag)) t.fail(`${what}: ${tag}`);
    if (channel === "WHATSAPP" && /[*_~`]/.test(text)) t.fail(`${what}: ${text}`);
    if (channel === "SMS" && smsParts(text) > 3) t.fail(`${what} takes ${smsParts(text)} parts`);
  }
  const { text } = render("magic-link", "en", "WHATSAPP", toldIn("en", facts, link));
  t.match(text, "?token=XN-AbC%5FdEf-123%5F456%7Exxx", "a link keeps its meaning");
  t.match(render("magic-link", "en", "SMS", toldIn("en", facts, link)).text, link);
});

t.test("whatever a value is, an SMS has three parts at most and is told whole", async (t) => {
  const text = fc.string({ unit: "grapheme", maxLength: 200 });
  fc.assert(
    fc.property(text, text, text, fc.constantFrom(...each), (hotel, flight, code, one) => {
      const told = toldIn(one.language, { ...facts, hotel, flight, code });
      const content = render(one.template, one.language, "SMS", told);
      return smsParts(content.text) <= 3 && content.text.length > 20;
    }),
    { numRuns: 300, seed: 1 },
  );
  for (const [written, parts] of [
    ["a".repeat(160), 1],
    ["a".repeat(161), 2],
    [`${"a".repeat(158)}€`, 1],
    [`${"a".repeat(159)}€`, 2],
    ["ã".repeat(70), 1],
    ["ã".repeat(71), 2],
    ["ã".repeat(201), 3],
    ["ã".repeat(202), 4],
    ["", 1],
  ] as const)
    t.equal(smsParts(written), parts, `${written.slice(0, 3)} × ${written.length}`);
});

t.test("what there is to tell of a group", async (t) => {
  for (const template of notificationTemplates)
    t.equal(
      untellable(template, template === "offer-withdrawn" ? without("hotel") : facts),
      undefined,
      template,
    );
  const table = [
    ["offer-ready", without("code"), /voucher/],
    ["voucher-issued", without("hotel"), /room/],
    ["transport-updated", without("pickupAt"), /ride/],
    ["offer-withdrawn", facts, /has a room/],
    ["welcome", without("host"), /page/],
    ["magic-link", without("host"), /page/],
  ] as const;
  for (const [template, known, why] of table) t.match(untellable(template, known), why, template);
});

t.test("whom it goes to, in which order", async (t) => {
  const of = (name: string, contact: Partial<PassengerContact>): PassengerContact => ({
    passengerUrn: name,
    ...contact,
  });
  const ada = of("ada", { phone: "+1 (202) 555-0143", email: " ada@example.com " });
  const ben = of("ben", { phone: "0012025550143", email: "ADA@example.com" });
  const eve = of("eve", { email: "eve@example.com" });
  const ways = (...[contacts, choice, wanted]: Parameters<typeof waysTo>) =>
    waysTo(contacts, choice, wanted).map(
      ({ channel, vendor, passengerUrn, contact }) => `${passengerUrn} ${channel} ${contact} ${vendor}`,
    );
  const both = { message: "sendwell", email: "smtp" };
  t.same(ways([eve, ada], both), [
    "ada SMS +12025550143 sendwell",
    "ada WHATSAPP +12025550143 sendwell",
    "ada EMAIL ada@example.com smtp",
    "eve EMAIL eve@example.com smtp",
  ]);
  t.same(
    ways([ada, ben], { message: "sendwell" }),
    [
      "ada SMS +12025550143 sendwell",
      "ada WHATSAPP +12025550143 sendwell",
      "ada EMAIL ada@example.com sendwell",
    ],
    "the same number once",
  );
  t.same(ways([ada], { email: "smtp" }), ["ada EMAIL ada@example.com smtp"]);
  t.same(ways([ada], both, ["WHATSAPP"]), ["ada WHATSAPP +12025550143 sendwell"]);
  t.same(ways([ada], {}), []);
  t.same(ways([of("x", {}), of("y", { phone: " - " })], both), []);
  const crowd = Array.from({ length: 9 }, (_, i) => of(`p${i}`, { email: `p${i}@example.com` }));
  t.equal(ways(crowd, both).length, 6);
  t.equal(normalContact("EMAIL", " A@b.example"), "A@b.example");
  for (const [recipient, told] of [
    ["+12025550143", "•••0143"],
    ["112", "•••"],
    ["ada@example.com", "a•••@example.com"],
    ['"a@b"@example.com', '"•••@example.com'],
    ["@example", "•••mple"],
  ] as const)
    t.equal(maskedRecipient(recipient), told);
});
