/** Owns Stripe's own minor units, which are not ISO 4217's for every currency (docs.stripe.com/currencies). Pure. */
import { minorUnitDigits } from "../../../schemas/currency.ts";
import type { Money } from "../../../schemas/vocabulary.ts";

/** Whole amounts only. */
const zeroDecimal = new Set("BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF".split(" "));
/** Thousandths, of which the last digit is to be 0. */
const threeDecimal = new Set("BHD JOD KWD OMR TND".split(" "));

/** All others have two, also those that ISO gives none (ISK, UGX) or three (IQD, LYD). */
const stripeDigits = (currency: string): number =>
  zeroDecimal.has(currency) ? 0 : threeDecimal.has(currency) ? 3 : 2;

/** What may be spent, in Stripe's units: rounded up where they are coarser than ours. */
export const toStripeAmount = ({ amountMinor, currency }: Money): number => {
  const shift = stripeDigits(currency) - minorUnitDigits(currency);
  const amount = shift >= 0 ? amountMinor * 10 ** shift : Math.ceil(amountMinor / 10 ** -shift);
  return threeDecimal.has(currency) ? Math.ceil(amount / 10) * 10 : amount;
};

/** @param currency in upper or lower case */
export const fromStripeAmount = (amount: number, currency: string): Money => {
  const code = currency.toUpperCase();
  const shift = minorUnitDigits(code) - stripeDigits(code);
  return {
    amountMinor: shift >= 0 ? amount * 10 ** shift : Math.round(amount / 10 ** -shift),
    currency: code,
  };
};
