/** Owns what the service knows of currencies: a country's own, and the way between decimal amounts and minor units. */
import countryToCurrency, { type Countries } from "country-to-currency";

/** ISO 4217 of an ISO 3166-1 alpha-2 country; undefined for a code that is no country's. */
export const currencyOfCountry = (country: string): string | undefined =>
  Object.hasOwn(countryToCurrency, country) ? countryToCurrency[country as Countries] : undefined;

let currencies: ReadonlySet<string> | undefined;

/** Whether ISO 4217 knows the code. */
export const isCurrency = (code: string): boolean => {
  currencies ??= new Set(Intl.supportedValuesOf("currency"));
  return currencies.has(code);
};

/**
 * ISO 4217 currencies whose minor unit is not 1/100. Written out because Intl follows CLDR, which changes with Node
 * (there HUF and COP have no decimals): amounts that are stored must not.
 */
const otherDigits: readonly (readonly [digits: number, currencies: string])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
];
const digitsOf = new Map(
  otherDigits.flatMap(([digits, currencies]) => currencies.split(" ").map((currency) => [currency, digits])),
);

/** Decimals of the currency's minor unit by ISO 4217: JPY 0, EUR 2, KWD 3. */
export const minorUnitDigits = (currency: string): number => digitsOf.get(currency) ?? 2;

/**
 * Reads a decimal text as `129.5` into minor units without passing through floating point. Undefined when it is no
 * plain decimal, or has more decimals than the currency (other than zeros): such an amount cannot be paid.
 */
export const minorFromDecimal = (amount: string, currency: string): number | undefined => {
  const match = /^(-?)(\d{1,13})(?:\.(\d{1,6}))?$/.exec(amount);
  if (match === null) return undefined;
  const digits = minorUnitDigits(currency);
  const fraction = match[3] ?? "";
  if (/[1-9]/.test(fraction.slice(digits))) return undefined;
  const minor = Number(match[2]! + fraction.slice(0, digits).padEnd(digits, "0"));
  if (!Number.isSafeInteger(minor)) return undefined;
  return match[1] === "-" && minor !== 0 ? -minor : minor;
};

/** The decimal text of minor units, with all of the currency's decimals: `decimalFromMinor(12950, "EUR")` is `129.50`. */
export const decimalFromMinor = (minor: number, currency: string): string => {
  const digits = minorUnitDigits(currency);
  const text = String(Math.abs(minor)).padStart(digits + 1, "0");
  const sign = minor < 0 ? "-" : "";
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
};
