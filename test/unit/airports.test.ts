/** Airport and currency reference data: the generated file, its look-ups, and money in words. */
import { readFileSync } from "node:fs";
import t from "tap";
import { airport, searchAirports } from "../../schemas/airports.ts";
import {
  currencyOfCountry,
  decimalFromMinor,
  minorFromDecimal,
  minorUnitDigits,
} from "../../schemas/currency.ts";
import { airportsFile } from "../../scripts/airports.ts";

t.test("airports.tsv is what the packages give; run node scripts/airports.ts", async (t) => {
  const kept = readFileSync(new URL("../../schemas/airports.tsv", import.meta.url), "utf8");
  t.ok(kept === (await airportsFile()));
});

t.test("every row is found by its code and has sound values", (t) => {
  const kept = readFileSync(new URL("../../schemas/airports.tsv", import.meta.url), "utf8");
  const codes = kept
    .split("\n")
    .filter((line) => /^[A-Z]{3}\t/.test(line))
    .map((line) => line.slice(0, 3));
  t.ok(codes.length > 5000);
  t.equal(new Set(codes).size, codes.length);
  const zones = new Set<string>();
  const unsound = codes.filter((code) => {
    const found = airport(code);
    if (found === undefined) return true;
    zones.add(found.timeZone);
    const onEarth = Math.abs(found.latitude) <= 90 && Math.abs(found.longitude) <= 180;
    return (
      found.code !== code || !onEarth || found.name === "" || found.city === "" || found.country.length !== 2
    );
  });
  t.same(unsound, []);
  for (const timeZone of zones) t.doesNotThrow(() => new Intl.DateTimeFormat("en", { timeZone }));
  t.end();
});

t.test("look-ups", (t) => {
  const known: [code: string, city: string, country: string, timeZone: string, currency: string][] = [
    ["JFK", "New York", "US", "America/New_York", "USD"],
    ["GRU", "São Paulo", "BR", "America/Sao_Paulo", "BRL"],
    ["FRA", "Frankfurt am Main", "DE", "Europe/Berlin", "EUR"],
    ["ZRH", "Zurich", "CH", "Europe/Zurich", "CHF"],
    ["NRT", "Narita", "JP", "Asia/Tokyo", "JPY"],
  ];
  for (const [code, city, country, timeZone, currency] of known) {
    t.match(airport(code), { code, city, country, timeZone });
    t.equal(currencyOfCountry(country), currency);
  }
  for (const code of ["", "AAA ", "QQQ", "jfk", "ZZZ", "#Ge"]) t.equal(airport(code), undefined, code);
  t.equal(currencyOfCountry("QQ"), undefined);
  t.equal(currencyOfCountry("toString"), undefined);
  t.end();
});

t.test("search", (t) => {
  const codes = (text: string, limit = 10) => searchAirports(text, limit).map((found) => found.code);
  t.same(codes("jfk"), ["JFK"]);
  t.ok(codes("sao paulo").includes("GRU"));
  t.ok(codes("SÃO PAULO").includes("GRU"));
  t.ok(
    codes("london", 3).every((code) => ["LHR", "LGW", "LCY", "LTN", "STN"].includes(code)),
    "the large ones first",
  );
  t.ok(codes("heathrow").includes("LHR"));
  t.equal(codes("a", 5).length, 5);
  t.same(codes("tromso", 1), ["TOS"], "a letter with a stroke is no letter with an accent");
  t.same(codes("  düsseldorf ", 1), ["DUS"]);
  t.same(codes("new york  kennedy", 1), ["JFK"], "the words of place and name together");
  t.same(codes("kennedy london"), [], "all of them");
  t.same(codes("zzv"), ["ZZV"], "the last line is looked at, too");
  t.same(codes("  "), []);
  t.same(codes("europe/berlin"), [], "a time zone is no name");
  t.same(codes("no such place"), []);
  t.end();
});

t.test("amounts", (t) => {
  const amounts: [text: string, currency: string, minor: number | undefined][] = [
    ["129.5", "EUR", 12950],
    ["129.500", "EUR", 12950],
    ["129.505", "EUR", undefined],
    ["0.07", "USD", 7],
    ["-3", "USD", -300],
    ["-0", "USD", 0],
    ["15000", "JPY", 15000],
    ["15000.5", "JPY", undefined],
    ["1.234", "KWD", 1234],
    ["12", "HUF", 1200],
    ["1e3", "EUR", undefined],
    ["", "EUR", undefined],
    ["1,5", "EUR", undefined],
    ["9999999999999", "KWD", undefined],
    ["9007199254740", "KWD", 9007199254740000],
    ["99999999999999", "EUR", undefined],
  ];
  for (const [text, currency, minor] of amounts) {
    t.equal(minorFromDecimal(text, currency), minor, `${text} ${currency}`);
    if (minor !== undefined) t.equal(minorFromDecimal(decimalFromMinor(minor, currency), currency), minor);
  }
  t.equal(decimalFromMinor(5, "EUR"), "0.05");
  t.equal(decimalFromMinor(-12950, "EUR"), "-129.50");
  t.equal(decimalFromMinor(700, "JPY"), "700");
  t.same(["JPY", "EUR", "KWD", "CLF", "XYZ"].map(minorUnitDigits), [0, 2, 3, 4, 2]);
  t.end();
});
