/** Owns numbers as people write them in English, Spanish and Portuguese: digits with either decimal sign, and short words. */

const small = [
  "zero cero",
  "one un uno una um uma",
  "two dos dois duas",
  "three tres",
  "four cuatro quatro",
  "five cinco",
  "six seis",
  "seven siete sete",
  "eight ocho oito",
  "nine nueve nove",
  "ten diez dez",
  "eleven once onze",
  "twelve doce doze",
  "thirteen trece treze",
  "fourteen catorce catorze quatorze",
  "fifteen quince quinze",
  "sixteen dieciseis dezesseis dezasseis",
  "seventeen diecisiete dezessete dezassete",
  "eighteen dieciocho dezoito",
  "nineteen diecinueve dezenove dezanove",
];
const tens = [
  "twenty veinte vinte",
  "thirty treinta trinta",
  "forty cuarenta quarenta",
  "fifty cincuenta cinquenta",
  "sixty sesenta sessenta",
  "seventy setenta",
  "eighty ochenta oitenta",
  "ninety noventa",
  "hundred cien ciento cem cento",
];
const valued = (names: string, value: number): [string, number][] =>
  names.split(" ").map((name) => [name, value]);
const words: Readonly<Record<string, number>> = Object.fromEntries([
  ...small.flatMap(valued),
  ...tens.flatMap((names, i) => valued(names, 10 * (i + 2))),
]);

const word = Object.keys(words).join("|");
const digits = "\\d{1,3}(?:[.,' ]\\d{3})+(?:[.,]\\d{1,2})?(?!\\d)|\\d{1,12}(?:[.,]\\d{1,6})?";

/** The source of a pattern for one number; not in the middle of a word, of another number or fraction, or after a minus sign. */
export const numberPattern = `(?<![\\p{L}\\d]|\\d[.,/]|(?:^|\\s)-)(?:${digits}|(?:${word})(?![\\p{L}\\d]))`;

/** Another number stands right before: `one hundred and twenty` would be read as twenty. */
export const endsInNumber = new RegExp(
  `(?<![\\p{L}])(?:${word}|mil|thousand|million|millones|milhoes)\\s*(?:-|and|y|e)?\\s*$|\\d\\s*$`,
  "u",
);

interface ReadNumber {
  value: number;
  /** A group of three after one sign: thousands to some, decimals to others. The value takes it as thousands. */
  isAmbiguous: boolean;
}

/** @param text of {@link numberPattern}, in plain letters */
export const readNumber = (text: string): ReadNumber => {
  const named = words[text];
  if (named !== undefined) return { value: named, isAmbiguous: false };
  const signs = [...text.replace(/\d/g, "")];
  const last = signs.at(-1);
  if (last === undefined) return { value: Number(text), isAmbiguous: false };
  const tail = text.length - text.lastIndexOf(last) - 1;
  const isGrouped = tail === 3 && !text.startsWith("0");
  const isDecimal = !isGrouped && (last === "." || last === ",");
  const whole = isDecimal ? text.slice(0, text.lastIndexOf(last)) : text;
  const value = Number(whole.replace(/\D/g, "") + (isDecimal ? `.${text.slice(-tail)}` : ""));
  return { value, isAmbiguous: isGrouped && signs.length === 1 && last !== "'" && last !== " " };
};
