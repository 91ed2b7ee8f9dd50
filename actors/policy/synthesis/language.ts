/** Owns which of three languages a prompt is in: `no` denies in two of them and means `in the` in the third. */
import type { PromptLanguage } from "./reading.ts";

const telling: Readonly<Record<PromptLanguage, RegExp>> = {
  en: /(?<![\p{L}])(?:the|and|with|for|of|stars?|hotels|rooms?|passengers?|night|airport|within|must|should|at|in|is|are|up|least|most|no more|breakfast|shuttle|class|any|or|but|from)(?![\p{L}])/gu,
  es: /(?<![\p{L}])(?:el|los|las|y|con|en|del|una|un|estrellas?|hoteles|habitacion(?:es)?|pasajeros?|noche|aeropuerto|hasta|sin|debe[n]?|desayuno|tarifa|clase|al|lo|menos|mas|kilometros|o|por|es|son|tarjeta)(?![\p{L}])/gu,
  pt: /(?<![\p{L}])(?:os|as|e|com|em|do|da|dos|das|na|nos|nas|um|uma|ao|estrelas?|hoteis|quartos?|passageiros?|noite|aeroporto|ate|sem|nao|deve[m]?|cafe|diarias?|classe|pelo|mais|quilometros|ou|por|sao|cartao|para|reais)(?![\p{L}])/gu,
};

/** English where none tells more than another. @param plain in plain letters */
export const languageOf = (plain: string): PromptLanguage => {
  const hits = (language: PromptLanguage): number => [...plain.matchAll(telling[language])].length;
  const [en, es, pt] = [hits("en"), hits("es"), hits("pt")];
  if (pt > es && pt > en) return "pt";
  return es > en ? "es" : "en";
};
