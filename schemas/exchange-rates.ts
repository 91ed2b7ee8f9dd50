/** Owns the dated table by which limits in one currency are compared with prices in another; it settles no payment. */
import { minorUnitDigits } from "./currency.ts";
import type { Money } from "./vocabulary.ts";

/** European Central Bank reference rates are published on working days; these are rounded, for limits only. */
export const ratesAsOf = "2026-11-02";

/** Units of the currency for one euro. */
const perEuro: Readonly<Record<string, number>> = {
  EUR: 1,
  USD: 1.15,
  GBP: 0.87,
  CHF: 0.93,
  CAD: 1.61,
  AUD: 1.76,
  NZD: 2.0,
  JPY: 176,
  BRL: 6.2,
  MXN: 21.3,
  ARS: 1650,
  CLP: 1085,
  COP: 4450,
  PEN: 3.9,
  SEK: 10.95,
  NOK: 11.65,
  DKK: 7.46,
  PLN: 4.25,
  CZK: 24.3,
  HUF: 388,
  TRY: 48.5,
  AED: 4.22,
  INR: 102,
  CNY: 8.2,
  SGD: 1.5,
  HKD: 8.95,
  KRW: 1640,
  ZAR: 20,
  THB: 37.5,
  MYR: 4.85,
  IDR: 19_200,
  PHP: 68,
  VND: 30_300,
  TWD: 35.6,
  ILS: 3.8,
  SAR: 4.31,
  QAR: 4.19,
  KWD: 0.353,
  BHD: 0.43,
  OMR: 0.443,
  JOD: 0.815,
  EGP: 54.5,
  MAD: 10.7,
  KES: 149,
  NGN: 1670,
  GHS: 12.5,
  RON: 5.09,
  BGN: 1.956,
  ISK: 145,
  UAH: 48.5,
  DOP: 73.5,
  CRC: 578,
  GTQ: 8.8,
  PAB: 1.15,
  UYU: 45.8,
  BOB: 7.95,
};

/**
 * Turns an amount in major units of one currency into minor units of another, rounded.
 * Undefined when a rate is needed and missing.
 */
export const convertMinor = (amountMajor: number, from: string, to: string): number | undefined => {
  if (from === to) return Math.round(amountMajor * 10 ** minorUnitDigits(to));
  const [fromRate, toRate] = [perEuro[from], perEuro[to]];
  if (fromRate === undefined || toRate === undefined) return undefined;
  return Math.round((amountMajor / fromRate) * toRate * 10 ** minorUnitDigits(to));
};

/** The same amount in minor units of another currency, rounded. Undefined when a rate is needed and missing. */
export const minorIn = (currency: string, { amountMinor, currency: from }: Money): number | undefined =>
  from === currency ? amountMinor : convertMinor(amountMinor / 10 ** minorUnitDigits(from), from, currency);
