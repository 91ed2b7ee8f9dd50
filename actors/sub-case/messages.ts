/** Owns what passengers are written, in their language. */
import type { Language } from "../../schemas/vocabulary.ts";
import type { SubCaseState } from "./state.ts";

interface Facts {
  flight: string;
  hotel: string;
  address: string;
  checkIn: string;
  checkOut: string;
  code: string;
  host: string;
}

interface Template {
  subject: (facts: Facts) => string;
  text: (facts: Facts) => string;
}

/** Where to look when the airline has a host of its own; the PNR and the name are the key. */
const at = (host: string, before: string): string => (host === "" ? "" : ` ${before} https://${host}`);

const offerTemplates: Readonly<Record<Language, Template>> = {
  en: {
    subject: ({ flight }) => `Your room for tonight, flight ${flight}`,
    text: (f) =>
      `We are sorry about flight ${f.flight}. A room is ready for you: ${f.hotel}, ${f.address}, ${f.checkIn} to ${f.checkOut}. Voucher ${f.code}.${at(f.host, "Accept or decline at")}`,
  },
  es: {
    subject: ({ flight }) => `Su habitación para esta noche, vuelo ${flight}`,
    text: (f) =>
      `Lamentamos lo ocurrido con el vuelo ${f.flight}. Tiene una habitación: ${f.hotel}, ${f.address}, del ${f.checkIn} al ${f.checkOut}. Bono ${f.code}.${at(f.host, "Acepte o rechace en")}`,
  },
  pt: {
    subject: ({ flight }) => `O seu quarto para esta noite, voo ${flight}`,
    text: (f) =>
      `Lamentamos o ocorrido com o voo ${f.flight}. Há um quarto para si: ${f.hotel}, ${f.address}, de ${f.checkIn} a ${f.checkOut}. Voucher ${f.code}.${at(f.host, "Aceite ou recuse em")}`,
  },
  fr: {
    subject: ({ flight }) => `Votre chambre pour cette nuit, vol ${flight}`,
    text: (f) =>
      `Nous sommes désolés pour le vol ${f.flight}. Une chambre vous attend : ${f.hotel}, ${f.address}, du ${f.checkIn} au ${f.checkOut}. Bon ${f.code}.${at(f.host, "Acceptez ou refusez sur")}`,
  },
  de: {
    subject: ({ flight }) => `Ihr Zimmer für heute Nacht, Flug ${flight}`,
    text: (f) =>
      `Es tut uns leid um Flug ${f.flight}. Ein Zimmer ist für Sie bereit: ${f.hotel}, ${f.address}, ${f.checkIn} bis ${f.checkOut}. Gutschein ${f.code}.${at(f.host, "Annehmen oder ablehnen unter")}`,
  },
};

/** The room stands, for other dates than it was announced for. */
const stayTemplates: Readonly<Record<Language, Template>> = {
  en: {
    subject: ({ flight }) => `Your stay has other dates, flight ${flight}`,
    text: (f) =>
      `Your next flight has changed, and your room with it: ${f.hotel}, ${f.address}, is now yours from ${f.checkIn} to ${f.checkOut}. Voucher ${f.code} stays good.${at(f.host, "Details at")}`,
  },
  es: {
    subject: ({ flight }) => `Nuevas fechas de su estancia, vuelo ${flight}`,
    text: (f) =>
      `Su próximo vuelo ha cambiado, y con él su habitación: ${f.hotel}, ${f.address}, es suya ahora del ${f.checkIn} al ${f.checkOut}. El bono ${f.code} sigue siendo válido.${at(f.host, "Detalles en")}`,
  },
  pt: {
    subject: ({ flight }) => `Novas datas da sua estadia, voo ${flight}`,
    text: (f) =>
      `O seu próximo voo mudou, e com ele o seu quarto: ${f.hotel}, ${f.address}, é agora seu de ${f.checkIn} a ${f.checkOut}. O voucher ${f.code} continua válido.${at(f.host, "Detalhes em")}`,
  },
  fr: {
    subject: ({ flight }) => `Nouvelles dates de votre séjour, vol ${flight}`,
    text: (f) =>
      `Votre prochain vol a changé, et votre chambre avec lui : ${f.hotel}, ${f.address}, est maintenant à vous du ${f.checkIn} au ${f.checkOut}. Le bon ${f.code} reste valable.${at(f.host, "Détails sur")}`,
  },
  de: {
    subject: ({ flight }) => `Ihr Aufenthalt hat andere Daten, Flug ${flight}`,
    text: (f) =>
      `Ihr nächster Flug hat sich geändert, und mit ihm Ihr Zimmer: ${f.hotel}, ${f.address}, ist nun vom ${f.checkIn} bis ${f.checkOut} für Sie da. Gutschein ${f.code} gilt weiter.${at(f.host, "Näheres unter")}`,
  },
};

/** The last four digits of a number; an address's first letter and its domain. Shorter than that: nothing of it. */
export const maskedRecipient = (recipient: string): string => {
  const at = recipient.lastIndexOf("@");
  if (at > 0) return `${recipient.slice(0, 1)}•••${recipient.slice(at)}`;
  return `•••${recipient.length > 6 ? recipient.slice(-4) : ""}`;
};

interface Message {
  subject: string;
  text: string;
}

const writtenBy = (templates: Readonly<Record<Language, Template>>, state: SubCaseState): Message => {
  const offer = state.assignment?.candidates[state.candidate]?.offer;
  const facts: Facts = {
    flight: state.flight.number,
    hotel: offer?.name ?? "",
    address: offer?.address ?? "",
    checkIn: state.assignment?.stay.checkIn ?? "",
    checkOut: state.assignment?.stay.checkOut ?? "",
    code: state.voucher?.code ?? "",
    host: state.assignment?.terms.passengerHost ?? "",
  };
  const template = templates[state.language];
  return { subject: template.subject(facts), text: template.text(facts) };
};

/** The offer's announcement. */
export const offerMessage = (state: SubCaseState): Message => writtenBy(offerTemplates, state);

/** Of the dates that the room has now. */
export const stayMessage = (state: SubCaseState): Message => writtenBy(stayTemplates, state);
