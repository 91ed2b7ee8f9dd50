/** Owns what a reader of a prompt says that some words of it mean: a value of the policy, or that they leave a question. */
import type { Tier } from "../../../schemas/vocabulary.ts";
import type { Prompt, Span } from "./folded.ts";

/** Currencies that a sign or word may mean; undefined: none is named. */
export interface Amount {
  /** Major units. */
  amount: number;
  currencies: readonly string[] | undefined;
}

/** Pointers are JSON Pointers (RFC 6901) into the policy's text. */
export type Reading = { span: Span } & (
  | { says: "is"; pointer: string; value: unknown }
  /** One more of a list. */
  | { says: "has"; pointer: string; value: string }
  /** What a list is not to have, or need not have. */
  | { says: "has-not"; pointer: string; value: string }
  /** What it is in the policy's currency turns on the policy's airport. */
  | { says: "amount"; pointer: string; amount: Amount }
  /** A chain by its name. */
  | { says: "excludes-chain"; name: string }
  | { says: "asks"; pointer?: string; question: string }
);

/** Reads what it knows of, and takes that out of the prompt. */
export type Reader = (prompt: Prompt, context: ReadingContext) => Reading[];

export type PromptLanguage = "en" | "es" | "pt";

/** What a prompt is read with beside its words. */
export interface ReadingContext {
  language: PromptLanguage;
  airline: { urn: string; code: string; name: string };
}

export const is = (span: Span, pointer: string, value: unknown): Reading => ({
  span,
  says: "is",
  pointer,
  value,
});
export const asks = (span: Span, question: string, pointer?: string): Reading => ({
  span,
  says: "asks",
  question,
  ...(pointer === undefined ? {} : { pointer }),
});

/** Cabins of people who have paid for a seat. */
export const passengerTiers: readonly Tier[] = ["ECONOMY", "PREMIUM_ECONOMY", "BUSINESS", "FIRST"];
