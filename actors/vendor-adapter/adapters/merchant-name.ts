/** Owns where a card was used, as a passenger reads it. Pure. */

const charactersMax = 100;

/** @param told the vendor's words; undefined when nothing readable is left of them */
export const merchantName = (told: string | null | undefined): string | undefined => {
  const readable = (told ?? "").replace(/[\p{C}\s]+/gu, " ").trim();
  return readable === "" ? undefined : [...readable].slice(0, charactersMax).join("");
};
