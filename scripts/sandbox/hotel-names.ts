/** Owns the words and levels that invented hotels are made of: chains, names, streets and price levels. */

export interface Chain {
  /** Provider-independent, as a policy excludes it. */
  id: string;
  name: string;
  stars: number;
}

/** None of them exists, so that no test or demonstration speaks of a real company. */
export const chains: readonly Chain[] = [
  { id: "NIGHTSTOP", name: "Nightstop", stars: 2 },
  { id: "PARKWAY_LODGE", name: "Parkway Lodge", stars: 2 },
  { id: "HARTWELL", name: "Hartwell Inn", stars: 3 },
  { id: "CASA_NORTE", name: "Casa Norte", stars: 3 },
  { id: "MERIDIAN_PARK", name: "Meridian Park", stars: 4 },
  { id: "BLUEFINCH", name: "Bluefinch Suites", stars: 4 },
  { id: "LINDEN", name: "Linden Collection", stars: 4 },
  { id: "AUREL", name: "Aurel Grand", stars: 5 },
];

export const independentNames: readonly string[] = [
  "Garden Court Hotel",
  "Hotel Bellevue",
  "The Old Mill Hotel",
  "Hotel Central",
  "Riverside Hotel",
  "Hotel Aurora",
  "The Anchor Inn",
  "Hotel Terminus",
  "Villa Flora",
  "Hotel Panorama",
  "The Station House",
  "Hotel Corvus",
  "Orchard House",
  "Hotel Solaris",
  "The Lighthouse Rooms",
  "Hotel Pinewood",
];

const streetsByLanguage: Record<string, readonly string[]> = {
  de: ["Flughafenstraße", "Bahnhofstraße", "Lindenallee", "Hauptstraße", "Am Stadtpark"],
  fr: ["Avenue de l'Aéroport", "Rue de la Gare", "Boulevard Victor Hugo", "Rue du Moulin"],
  es: ["Avenida del Aeropuerto", "Calle Mayor", "Calle de la Estación", "Paseo del Parque"],
  pt: ["Avenida do Aeroporto", "Rua das Flores", "Rua da Estação", "Avenida Central"],
  en: ["Airport Road", "Station Road", "Terminal Drive", "Park Avenue", "Mill Lane", "High Street"],
};

const languageByCountry: Record<string, string> = Object.fromEntries(
  Object.entries({
    de: "DE AT CH LI",
    fr: "FR BE LU MC SN CI MA TN",
    es: "ES MX AR CL CO PE UY EC PA CR DO GT",
    pt: "PT BR AO MZ CV",
  }).flatMap(([language, countries]) => countries.split(" ").map((country) => [country, language])),
);

export const streetsIn = (country: string): readonly string[] =>
  streetsByLanguage[languageByCountry[country] ?? "en"]!;

/** What one US dollar of hotel is worth in the currency, roughly: rates need only look right. 1 where not listed. */
const perDollar: Record<string, number> = {
  AED: 3.7,
  ARS: 1000,
  AUD: 1.5,
  BRL: 5,
  CAD: 1.35,
  CHF: 0.9,
  CLP: 950,
  CNY: 7,
  COP: 4000,
  CRC: 510,
  CZK: 23,
  DKK: 6.8,
  EGP: 48,
  EUR: 0.92,
  GBP: 0.8,
  HKD: 7.8,
  HUF: 360,
  IDR: 15800,
  ILS: 3.7,
  INR: 83,
  ISK: 138,
  JPY: 150,
  KES: 130,
  KRW: 1350,
  MAD: 10,
  MXN: 18,
  MYR: 4.5,
  NGN: 1500,
  NOK: 10.6,
  NZD: 1.65,
  PEN: 3.7,
  PHP: 57,
  PKR: 280,
  PLN: 4,
  QAR: 3.64,
  RON: 4.6,
  SAR: 3.75,
  SEK: 10.5,
  SGD: 1.35,
  THB: 35,
  TRY: 33,
  TWD: 32,
  UAH: 40,
  UYU: 40,
  VND: 25000,
  ZAR: 18.5,
};

export const localAmount = (dollars: number, currency: string): number =>
  dollars * (perDollar[currency] ?? 1);
