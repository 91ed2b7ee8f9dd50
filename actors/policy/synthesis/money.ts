/** Owns the signs, codes and words for currencies in a prompt, and which currencies each may mean. */
import { isCurrency } from "../../../schemas/currency.ts";

const dollars = "USD CAD AUD NZD SGD HKD TWD JMD BSD BBD TTD BZD".split(" ");
const pesos = "MXN COP CLP ARS UYU DOP PHP CUP".split(" ");

/** The first that fits counts. */
const named: readonly [source: string, currencies: readonly string[]][] = [
  ["us ?\\$|u\\$s|usd ?\\$", ["USD"]],
  ["r\\$", ["BRL"]],
  ["mx ?\\$", ["MXN"]],
  ["ca ?\\$|c\\$", ["CAD"]],
  ["au ?\\$|a\\$", ["AUD"]],
  ["\\$", [...dollars, ...pesos]],
  ["€", ["EUR"]],
  ["£", ["GBP", "EGP"]],
  ["¥", ["JPY", "CNY"]],
  ["₹", ["INR"]],
  ["s/\\.?", ["PEN"]],
  ["euros?", ["EUR"]],
  ["(?:us|american) dollars?|dolar(?:es)? (?:estadounidenses?|americanos?|dos eua)", ["USD"]],
  ["canadian dollars?|dolar(?:es)? canadienses?", ["CAD"]],
  ["australian dollars?|dolar(?:es)? australianos?", ["AUD"]],
  ["dollars?|dolar(?:es)?|bucks", dollars],
  ["pounds?(?: sterling)?|libras?(?: esterlinas?)?", ["GBP", "EGP"]],
  ["reais|real(?:es)?(?: brasile[nñ]os?)?", ["BRL"]],
  ["(?:mexican )pesos?|pesos? mexicanos?", ["MXN"]],
  ["(?:colombian )pesos?|pesos? colombianos?", ["COP"]],
  ["(?:chilean )pesos?|pesos? chilenos?", ["CLP"]],
  ["(?:argentin(?:e|ian) )pesos?|pesos? argentinos?", ["ARS"]],
  ["(?:uruguayan )pesos?|pesos? uruguayos?", ["UYU"]],
  ["(?:dominican )pesos?|pesos? dominicanos?", ["DOP"]],
  ["pesos?", pesos],
  ["sol(?:es)? peruanos?|soles", ["PEN"]],
  ["swiss francs?|francos? sui[cz]os?", ["CHF"]],
  ["kron(?:or|er|ur|a|e)|crowns?|coronas?|coroas?", ["SEK", "NOK", "DKK", "ISK", "CZK"]],
  ["yen(?:es)?|ienes?", ["JPY"]],
  ["yuan(?:es)?|renminbi", ["CNY"]],
];
/** Codes that are no word in any of the three languages, in small letters too. */
const codes =
  "usd|eur|gbp|brl|mxn|clp|ars|pen|cad|aud|nzd|chf|jpy|cny|inr|uyu|dop|crc|gtq|bob|sek|nok|dkk|pln|czk|huf|aed|sgd|hkd|krw|zar|thb|ils|sar|qar|kwd|egp|mad|ron|bgn|isk|myr|idr|php|vnd|twd|kes|ngn|cop";

/** The source of a pattern for one of them, in plain letters. */
export const currencyPattern = `(?<![\\p{L}])(?:${named.map(([source]) => source).join("|")}|(?:${codes}))(?![\\p{L}])`;

const forms = named.map(([source, currencies]) => [new RegExp(`^(?:${source})$`, "u"), currencies] as const);

/**
 * @param unit what stood before and after the figure
 * @returns undefined when neither names one
 */
export const currenciesOf = (unit: readonly (string | undefined)[]): readonly string[] | undefined => {
  const found = unit.flatMap((text) => {
    const trimmed = text?.trim() ?? "";
    const code = trimmed.toUpperCase();
    if (/^[A-Z]{3}$/.test(code) && isCurrency(code)) return [[code]];
    return forms
      .filter(([form]) => form.test(trimmed))
      .slice(0, 1)
      .map(([, currencies]) => currencies);
  });
  // `$150 USD`: the narrower says more.
  return found.sort((one, other) => one.length - other.length)[0];
};
