/** Owns what contracts call their terms in English, Spanish and Portuguese, and finding a term's words by its label. */
import type { Line } from "./page-text.ts";

/** On folded text: small letters, no accents. */
const labels = {
  hotel:
    "name of (?:the )?hotel|hotel name|(?:the )?hotel|property|accommodation|nombre del hotel|(?:el )?hotel|establecimiento|alojamiento|nome do hotel|estabelecimento|alojamento",
  address: "(?:hotel )?address|direccion|domicilio|endereco|morada",
  stars: "(?:hotel )?category|stars?|star rating|categoria|estrellas|estrelas|classificacao",
  airport: "airport|(?:nearest|serving) airport|aeropuerto|aeroporto",
  validity:
    "validity(?: period)?|valid|contract period|period(?: of validity)?|term|effective(?: dates)?|vigencia|validez|periodo(?: de (?:vigencia|validez|validade))?|plazo|validade|prazo(?: de vigencia)?",
  currency: "currency|moneda|divisa|moeda",
  rate: "(?:room |nightly |contracted |net )*rates?|price(?: per night)?|tarifas?(?: por noche| por noite| neta)?|precio(?: por noche)?|preco(?: por noite)?|diaria",
  allotment:
    "(?:room )?allotment|room block|block|guaranteed rooms|rooms per night|cupo(?: de habitaciones)?|contingente|bloqueo(?: de habitaciones)?|habitaciones por noche|alotamento|bloqueio(?: de quartos)?|quartos por noite",
  accessible:
    "(?:wheelchair[- ])?accessible rooms|of which accessible|habitaciones (?:accesibles|adaptadas)|quartos (?:acessiveis|adaptados)",
  occupancy: "max(?:imum|\\.)? occupancy|ocupacion maxima|ocupacao maxima|lotacao maxima",
  release:
    "release(?: period| days?| time)?|cut-?off(?: period)?|(?:plazo de |dias de |periodo de )?liberacion|(?:prazo de |dias de )?liberacao|release",
  cancellation:
    "cancell?ation(?:s| policy| terms| conditions)?|(?:politica |condiciones |gastos )?(?:de )?cancelaci(?:on|ones)|anulaci(?:on|ones)|(?:politica |condicoes )?(?:de )?cancelamentos?",
} as const;

export type Label = keyof typeof labels;

const numbering = String.raw`(?:(?:\d{1,2}(?:\.\d{1,2})*[.)]?|[a-z][.)]|[-•*])\s+)?`;
const separator = String.raw`\s*(?::|\s[-–—]\s|\s{2}|\.\s|$)\s*`;
const patterns = (Object.entries(labels) as [Label, string][]).map(
  ([label, names]) =>
    [label, new RegExp(`(?:^|  )${numbering}(?:${names})(?:\\s*\\([^)]{0,40}\\))?${separator}`)] as const,
);

export interface Term {
  label: Label;
  line: Line;
  /** Where its words begin and end in the line. */
  start: number;
  end: number;
}

/** A label alone on its line is that of the line below, if that has none itself. */
export const termsIn = (lines: readonly Line[]): Term[] => {
  const found = lines.map((line) => termsOf(line));
  return found.flatMap((terms, i) =>
    terms.flatMap((term) => {
      if (term.start < term.end) return [term];
      const below = lines[i + 1];
      if (below === undefined || below.page !== term.line.page || (found[i + 1]?.length ?? 0) > 0) return [];
      return [{ ...term, line: below, start: 0, end: below.text.length }];
    }),
  );
};

const termsOf = (line: Line): Term[] => {
  const found = patterns
    .flatMap(([label, pattern]) => {
      const match = pattern.exec(line.folded);
      return match === null ? [] : [{ label, at: match.index, start: match.index + match[0].length }];
    })
    .sort((a, b) => a.at - b.at || b.start - a.start);
  return found
    .filter(({ at }, i) => i === 0 || at > (found[i - 1]?.at ?? 0))
    .map(({ label, start }, i, kept) => ({ label, line, start, end: kept[i + 1]?.at ?? line.text.length }));
};

const marks = {
  en: /\b(the|of|and|per|night|shall|with|rooms?)\b/g,
  es: /\b(el|los|del|y|por|noche|habitacion(?:es)?|con|hasta)\b/g,
  pt: /\b(o|os|do|da|e|por|noite|quartos?|com|ate)\b/g,
};

/** By its small words; unknown where there are too few, or as many of two languages. */
export const languageOf = (lines: readonly Line[]): "en" | "es" | "pt" | "unknown" => {
  const counts = (Object.entries(marks) as ["en" | "es" | "pt", RegExp][])
    .map(([language, pattern]) => ({
      language,
      count: lines.reduce((sum, { folded }) => sum + (folded.match(pattern)?.length ?? 0), 0),
    }))
    .sort((a, b) => b.count - a.count);
  const [first, second] = counts;
  return first === undefined || first.count < 3 || first.count === second?.count ? "unknown" : first.language;
};
