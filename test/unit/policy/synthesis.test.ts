// From words to a draft: the tables of written phrases, what else a draft goes by, and what hostile texts come to.
import fc from "fast-check";
import t from "tap";
import { withoutContacts } from "../../../actors/policy/synthesis/contact-details.ts";
import { type Circumstances, type Draft, draftOf } from "../../../actors/policy/synthesis/draft.ts";
import { Prompt } from "../../../actors/policy/synthesis/folded.ts";
import { asks, is, passengerTiers, type Reading } from "../../../actors/policy/synthesis/reading.ts";
import { readByRules } from "../../../actors/policy/synthesis/rules.ts";
import { fitting } from "../../../actors/runtime/input.ts";
import { PolicyBody } from "../../../schemas/policy.ts";
import { fuzz } from "../../harness/environment.ts";
import { hostileText } from "../../scenario/fuzzing/hostile.ts";
import type { Phrase } from "./phrase.ts";
import { phrases as english } from "./phrases-in-english.ts";
import { phrases as portuguese } from "./phrases-in-portuguese.ts";
import { phrases as spanish } from "./phrases-in-spanish.ts";

const airline = { urn: "urn:airline:XN", code: "XN", name: "Northern Cross" };
const elsewhere: Circumstances = {
  airlineUrn: airline.urn,
  homeCurrency: "USD",
  chains: ["NIGHTSTOP", "PARKWAY_LODGE", "AUREL"],
};
const isPolicy = fitting(PolicyBody);

const drafted = (text: string, circumstances: Partial<Circumstances> = {}): Draft | undefined => {
  const prompt = new Prompt(text);
  return draftOf(prompt, readByRules(prompt, airline).readings, [], { ...elsewhere, ...circumstances });
};

const pointerOf = (reading: Reading): string | undefined =>
  "pointer" in reading ? reading.pointer : undefined;

const openOf = (draft: Draft | undefined) =>
  draft?.unclear.map(({ text, pointer }) => [text, pointer ?? ""] as const);

const languages: Readonly<Record<string, readonly Phrase[]>> = { english, spanish, portuguese };
for (const [language, phrases] of Object.entries(languages)) {
  t.test(`what is written in ${language}`, async (t) => {
    t.ok(phrases.length >= 20);
    for (const { says, draft: expected, open } of phrases) {
      const draft = drafted(says);
      const { name, ...body } = draft?.body ?? { name: "" };
      t.strictSame(body, expected, says);
      t.strictSame(openOf(draft), open, `${says}: what stays open`);
      t.ok(isPolicy(draft?.body) && name !== "", `${says}: a policy with a name`);
    }
  });
}

t.test("a word that nobody knows is listed, wherever it stands, and changes nothing else", async (t) => {
  for (const { says, draft: expected, open } of Object.values(languages).flat()) {
    for (const [at, text] of Object.entries({ first: `Qwzxv. ${says}`, last: `${says}. Qwzxv` })) {
      const draft = drafted(text);
      const { name: _, ...body } = draft?.body ?? { name: "" };
      t.strictSame(body, expected, `${says}: ${at}`);
      t.strictSame(
        draft?.unclear.map((point) => point.text).filter((one) => one === "Qwzxv"),
        ["Qwzxv"],
      );
      t.equal(draft?.unclear.length, open.length + 1, `${says}: ${at}, with what was open before`);
    }
  }
});

t.test("confidence is the share of what was said that the draft holds", async (t) => {
  const table: [string, number][] = [
    ["Economy at JFK, 3 stars, 10 km", 0.95],
    ["Economy at JFK, 3 stars, near the beach", 0.57],
    ["3 stars", 0.48],
  ];
  for (const [says, confidence] of table) t.equal(drafted(says)?.confidence, confidence, says);
});

t.test("what says nothing of a policy is no draft", async (t) => {
  for (const says of ["Hello there", "If it rains, 3 stars", "qwzxv", "...", "¿?", "pool", "🛏️"])
    t.equal(drafted(says), undefined, says);
});

t.test("where the words say nothing the case counts, and else the only airport of the author", async (t) => {
  const ofCase = { airport: "JFK", tiers: ["CREW", "ECONOMY"] as const };
  t.match(drafted("3 stars, up to 100 a night", { ofCase })?.body, {
    context: { airport: "JFK", airline: airline.urn },
    tiers: ["ECONOMY", "CREW"],
    constraints: { minStars: 3, maxNightlyRate: 100 },
  });
  t.strictSame(openOf(drafted("3 stars", { ofCase })), [], "the case says for whom");
  const waiting = drafted("3 stars", { ofCase: { airport: "JFK", tiers: [] } });
  t.match(waiting?.body, { context: { airport: "JFK" }, tiers: [...passengerTiers] }, "nobody is in it yet");
  t.strictSame(openOf(waiting), [["", "/tiers"]]);
  const elsewhereThan = drafted("Business at LAX, 3 stars", { ofCase });
  t.match(elsewhereThan?.body, { context: { airport: "LAX" }, tiers: ["BUSINESS"] }, "words come first");
  t.strictSame(
    openOf(elsewhereThan),
    [["LAX", "/context/airport"]],
    "that it is another airport is asked about",
  );
  t.same(drafted("Economy, 3 stars", { ownAirport: "MIA" })?.body.context, { airport: "MIA" });
  t.same(drafted("Economy at JFK, 3 stars", { ownAirport: "MIA" })?.body.context, { airport: "JFK" });
  t.same(drafted("Economy at all airports, 3 stars", { ownAirport: "MIA", ofCase })?.body.context, {
    airline: airline.urn,
  });
});

t.test("amounts are in the currency of the airport, else of the airline's home", async (t) => {
  const table: [string, Partial<Circumstances>, number | undefined, number][] = [
    ["Economy at LHR up to £90", {}, 90, 0],
    ["Economy at LHR up to 90", {}, undefined, 1],
    ["Economy at LHR up to 90 per night", {}, 90, 0],
    ["Economy up to €90", {}, 103.5, 1],
    ["Economy up to €90", { homeCurrency: "EUR" }, 90, 0],
    ["Economy up to $90", { homeCurrency: "MXN" }, 90, 0],
    ["Economy up to $90", { homeCurrency: "EUR" }, undefined, 1],
    ["Economy at NRT up to ¥12,000 a night", {}, 12_000, 0],
    ["Economy up to 90 VES", {}, undefined, 1],
    ["Economy, $90 in total", {}, undefined, 2],
  ];
  for (const [says, circumstances, rate, open] of table) {
    const draft = drafted(says, circumstances);
    t.equal(draft?.body.constraints?.maxNightlyRate, rate, says);
    t.equal(draft?.unclear.length, open, `${says}: questions`);
  }
});

t.test("a chain has the id by which hotels are known; another one is asked about", async (t) => {
  const known = drafted("Economy at JFK, avoid Night-Stop and parkway lodge hotels", {});
  t.same(known?.body.constraints?.excludedChains, ["NIGHTSTOP"]);
  t.match(known?.unclear, [{ text: "parkway lodge" }]);
  const unknown = drafted("Economy at JFK, exclude the chain Hôtel Étoile");
  t.same(unknown?.body.constraints?.excludedChains, ["HOTEL_ETOILE"]);
  t.match(unknown?.unclear, [{ pointer: "/constraints/excludedChains", question: /HOTEL_ETOILE/ }]);
});

t.test("who is denied by name is a chain, though a place's name begins so", async (t) => {
  const table: [string, string[] | undefined, string | undefined][] = [
    ["Economy at JFK, no Hilton", ["HILTON"], "JFK"],
    ["Economy, no Hilton at JFK, 3 stars", ["HILTON"], "JFK"],
    ["Economy at JFK, never the Hilton", ["HILTON"], "JFK"],
    ["Economy at JFK, neither Hilton nor Aurel", ["HILTON", "AUREL"], "JFK"],
    ["Economy at JFK, no Aurel, Hilton or Night Stop Inn", ["AUREL", "HILTON", "NIGHT_STOP_INN"], "JFK"],
    ["Economy at JFK, no Hilton Business class", ["HILTON"], "JFK"],
    ["Economy at JFK, avoid Fairfield", ["FAIRFIELD"], "JFK"],
    ["Turista en JFK, nunca Hilton ni Aurel", ["HILTON", "AUREL"], "JFK"],
    ["Económica em JFK, sem Hilton", ["HILTON"], "JFK"],
    ["Econômica no Galeão hotéis de 3 estrelas", undefined, "GIG"],
    ["Econômica em JFK, jantar no Bistrô", undefined, "JFK"],
    ["Economy at Hilton Head", undefined, "SAV"],
    ["Economy at JFK, no chains except Hilton", undefined, "JFK"],
    ["Economy at JFK, no chain hotels", undefined, "JFK"],
    ["Economy at JFK, avoid 24 hour waits", undefined, "JFK"],
    ["ECONOMY AT JFK, NO WAITING", undefined, "JFK"],
  ];
  for (const [says, chains, airport] of table) {
    const draft = drafted(says, { chains: ["HILTON", "AUREL", "NIGHT_STOP_INN", "FAIRFIELD"] });
    t.same(draft?.body.constraints?.excludedChains, chains, says);
    t.equal(draft?.body.context.airport, airport, says);
    if (chains !== undefined) t.strictSame(openOf(draft), [], says);
  }
  const many = Array.from({ length: 70 }, (_, i) => `no Inn${i}`).join("; ");
  t.equal(
    drafted(`Economy at JFK. ${many}`)?.body.constraints?.excludedChains?.length,
    60,
    "no end of names",
  );
});

t.test("where a policy is not to be is not where it is", async (t) => {
  const table: [string, string][] = [
    ["Economy, 3 stars, never at JFK", "never at JFK"],
    ["Economy, 3 stars, outside JFK", "outside JFK"],
    ["Economy, 3 stars. Everywhere but JFK", "Everywhere but JFK"],
    ["Economy, 3 stars. All airports but JFK", "All airports but JFK"],
    ["Economy, 3 stars. Do not use it at JFK", "Do not use it at JFK"],
    ["Economy, 3 stars, anywhere except at JFK", "anywhere except at JFK"],
    ["Economy, 3 stars, avoid JFK", "avoid JFK"],
    ["Economy, 3 stars, no Heathrow", "no Heathrow"],
    ["Turista, 3 estrellas, fuera de JFK", "fuera de JFK"],
    ["Turista, 3 estrellas, todos menos JFK", "todos menos JFK"],
    ["Turista, 3 estrellas, en todos los aeropuertos menos JFK", "en todos los aeropuertos menos JFK"],
    ["Económica, 3 estrelas, nunca em JFK", "nunca em JFK"],
    ["Económica, 3 estrelas, fora de JFK", "fora de JFK"],
    ["Económica, 3 estrelas, em todos os aeroportos menos JFK", "em todos os aeroportos menos JFK"],
  ];
  for (const [says, text] of table) {
    const draft = drafted(says);
    t.strictSame(draft?.body.context, {}, says);
    t.same(draft?.body.constraints, { minStars: 3 }, says);
    t.strictSame(openOf(draft), [[text, "/context/airport"]], says);
  }
  for (const says of ["avoid Heathrow", "excluding London", "without Hilton Head", "sin Nueva York"])
    t.strictSame(openOf(drafted(`Economy, 3 stars, ${says}`)), [[says, ""]], says);
  const beside = drafted("Economy at JFK, 3 stars, never at LAX");
  t.same(beside?.body.context, { airport: "JFK" }, "another one stands");
  t.same(drafted("At JFK never use motels, economy, 3 stars")?.body.context, { airport: "JFK" });
});

t.test("a figure of before, or a change of one, is no limit", async (t) => {
  const rate = "/constraints/maxNightlyRate";
  const table: [string, string][] = [
    ["raise the rate by 50 dollars", rate],
    ["increase the rate by $50", rate],
    ["ignore the previous limit of 100 USD", rate],
    ["100 dollars more than today", rate],
    ["double the rate of 80 USD", rate],
    ["last year we paid 80 USD", rate],
    ["raise it to 4 stars", "/constraints/minStars"],
    ["subir la tarifa 50 dólares", rate],
    ["aumentar la tarifa en 50 USD", rate],
    ["ignore el límite anterior de 100 USD", rate],
    ["el año pasado pagamos 80 USD", rate],
    ["100 dólares más que hoy", rate],
    ["o dobro da tarifa de 80 USD", rate],
    ["aumente a tarifa em 50 dólares", rate],
    ["no ano passado pagamos 80 USD", rate],
    ["esqueça o limite de 100 USD", rate],
  ];
  for (const [says, pointer] of table) {
    const draft = drafted(`Economy at JFK, ${says}`);
    t.equal(draft?.body.constraints, undefined, says);
    t.strictSame(openOf(draft), [[says, pointer]], says);
  }
  t.equal(drafted("Economy at JFK, double room, up to 80 USD")?.body.constraints?.maxNightlyRate, 80);
});

t.test("who is ruled out is none of those that the draft is for", async (t) => {
  const table: [string, string, string[]?][] = [
    ["All passengers except business and first", "ECONOMY PREMIUM_ECONOMY"],
    ["Everyone except crew, business and first", "ECONOMY PREMIUM_ECONOMY"],
    ["Everyone except crew or business", "ECONOMY PREMIUM_ECONOMY FIRST"],
    ["Everyone but crew", "ECONOMY PREMIUM_ECONOMY BUSINESS FIRST"],
    ["All but business", "ECONOMY PREMIUM_ECONOMY FIRST"],
    ["Anyone without crew", "ECONOMY PREMIUM_ECONOMY BUSINESS FIRST"],
    ["Economy, no business or first", "ECONOMY"],
    ["Economy, no crew, business", "ECONOMY BUSINESS"],
    ["Economy but also business", "ECONOMY BUSINESS"],
    ["Economy but business", "ECONOMY BUSINESS"],
    ["Economy, neither business nor first", "ECONOMY"],
    ["Todos los pasajeros excepto ejecutiva y primera", "ECONOMY PREMIUM_ECONOMY"],
    ["Todos los pasajeros salvo los de primera", "ECONOMY PREMIUM_ECONOMY BUSINESS"],
    ["Todos os passageiros exceto executiva e primeira", "ECONOMY PREMIUM_ECONOMY"],
    ["Passageiros no business do JFK, três estrelas", "BUSINESS"],
    ["Qualquer classe fora a econômica", "PREMIUM_ECONOMY BUSINESS FIRST"],
    ["Never business", "BUSINESS", ["Never business"]],
    ["Economy and business, taxi for business, not economy", "ECONOMY BUSINESS", ["", "not economy"]],
    ["Never business at JFK", "BUSINESS", ["Never business at JFK"]],
  ];
  for (const [says, tiers, open = []] of table) {
    const draft = drafted(`${says}. ${says.includes("JFK") ? "" : "JFK, "}3 stars`);
    t.equal(draft?.body.tiers.join(" "), tiers, says);
    t.equal(draft?.body.context.airport, "JFK", says);
    t.strictSame(
      draft?.unclear.map(({ text }) => text),
      open,
      says,
    );
  }
});

t.test("economía is a cabin", async (t) => {
  for (const says of ["Economía en JFK, 3 estrellas", "Classe economia em JFK, 3 estrelas"])
    t.strictSame(drafted(says)?.body.tiers, ["ECONOMY"], says);
});

t.test("a model adds nothing to what the rules have read", async (t) => {
  const prompt = new Prompt("Economy at JFK with breakfast, 3 stars, somewhere plush");
  const span = { from: prompt.original.indexOf("plush"), to: prompt.original.length };
  const rows: [Reading, boolean][] = [
    [{ span, says: "has", pointer: "/tiers", value: "FIRST" }, false],
    [{ span, says: "has", pointer: "/constraints/requiredAmenities", value: "POOL" }, false],
    [is(span, "/constraints/minStars", 5), false],
    [is(span, "/context/airport", "LAX"), false],
    [is(span, "/constraints/maxDistanceKm", 5), true],
  ];
  const { readings } = readByRules(prompt, airline);
  const alone = draftOf(prompt, readings, [], elsewhere);
  for (const [reading, counts] of rows) {
    const draft = draftOf(prompt, readings, [reading, asks(span, "Is it?", pointerOf(reading))], elsewhere);
    t.equal(JSON.stringify(draft) !== JSON.stringify(alone), counts, JSON.stringify(reading));
  }
});

t.test("a fraction is no figure of its own", async (t) => {
  const draft = drafted("Economy at JFK, 3/4 stars");
  t.strictSame([draft?.body.constraints, openOf(draft)], [undefined, [["3/4", ""]]]);
});

t.test("what no policy may hold is asked about, with all that is said of it", async (t) => {
  const table: [string, string][] = [
    ["Economy at JFK, 7 stars", "/constraints/minStars"],
    ["Economy at JFK, 3.5 stars", "/constraints/minStars"],
    ["Economy at JFK, 900 km", "/constraints/maxDistanceKm"],
    ["Economy at JFK, 12 people per room", "/maxOccupancy"],
    ["Economy at JFK, detection threshold 170%", "/detectionThreshold"],
    ["Economy at JFK, shuttles of 900 seats", "/transport/shuttleCapacity"],
    ["Economy at JFK, 1.500 km", "/constraints/maxDistanceKm"],
    ["Economy at JFK, at least 5 km away", "/constraints/maxDistanceKm"],
  ];
  for (const [says, pointer] of table) {
    const draft = drafted(says);
    t.ok(isPolicy(draft?.body), says);
    t.same(draft?.unclear.filter((point) => point.pointer === pointer).length, 1, says);
    t.notMatch(JSON.stringify(draft?.body), new RegExp(`"${pointer.split("/").at(-1)}"`), says);
  }
});

t.test("nothing by which a person could be reached is kept of a prompt, and no figure is lost", async (t) => {
  const table: [string, string][] = [
    ["Ask ana.o'hara@xn.example, 3 stars", "Ask [masked], 3 stars"],
    ["Call +1 212 555-0199 or (0034) 91 555 01 99", "Call [masked] or ([masked]"],
    ["Card 4111 1111 1111 1111", "Card [masked]"],
    ["Call 5550199 or tel. 555 01 99", "Call [masked] or tel. [masked]"],
    [
      "Llame al 5550 1999; ligue 5550-1999; WhatsApp: 55501999",
      "Llame al [masked]; ligue [masked]; WhatsApp: [masked]",
    ],
    ["Ana 612 345 678, Bea 612.345.678", "Ana [masked], Bea [masked]"],
    ["Rates for Ana 612-345-678", "Rates for Ana [masked]"],
  ];
  for (const says of [
    "up to 1.250.000,50 COP, 80 - 150 USD, 24/7",
    "up to 1.250.000.000 COP",
    "up to 1,250,000,000.50 COP",
    "rates 100-150 200 300",
    "up to 100 120 150 usd",
    "call it 1250000 COP",
    "case 12345678",
  ])
    table.push([says, says]);
  for (const [says, kept] of table) t.equal(withoutContacts(says), kept, says);
});

t.test("whatever is written, a draft is a policy, and what is open is quoted from it", async (t) => {
  const parts = Object.values(languages).flatMap((phrases) =>
    phrases.flatMap(({ says }) => says.split(/(?=[,;.:])/)),
  );
  const written = fc.array(
    fc.oneof(hostileText, fc.constantFrom(...parts), fc.constantFrom("{", "no ", "99", "€", "\n")),
    {
      minLength: 1,
      maxLength: 8,
    },
  );
  const property = fc.property(written, (texts) => {
    const prompt = new Prompt(texts.join("").slice(0, 2000));
    const { readings } = readByRules(prompt, airline);
    const draft = draftOf(prompt, readings, [], elsewhere);
    if (draft === undefined) return true;
    const flat = prompt.original.replace(/\s+/g, " ");
    const isQuoted = draft.unclear.every(({ text }) => flat.includes(text.replace(/…$/, "")));
    return isPolicy(draft.body) && isQuoted && draft.confidence >= 0 && draft.confidence <= 1;
  });
  t.doesNotThrow(() => fc.assert(property, { seed: fuzz.seed, numRuns: 4 * fuzz.runs }));
});

t.test("no text of the length that is taken keeps the process for long", async (t) => {
  const repeated = [
    " ",
    "a",
    "1",
    "1.111",
    "$1 ",
    "3 stars ",
    "5 km or ",
    "in New York ",
    "exclude chain A, B and C, ",
    "no ",
    "no Xa",
    "For sem ",
    "XN ",
    "*",
  ];
  for (const part of repeated) {
    const { user } = process.cpuUsage();
    drafted(part.repeat(2000).slice(0, 2000));
    const tookMs = (process.cpuUsage().user - user) / 1000;
    t.ok(tookMs < 600, `${part}: ${tookMs} ms`);
  }
});
