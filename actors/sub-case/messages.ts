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

const templates: Readonly<Record<Language, Template>> = {
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

/** The last four digits of a number; an address's first letter and its domain. Shorter than that: nothing of it. */
export const maskedRecipient = (recipient: string): string => {
  const at = recipient.lastIndexOf("@");
  if (at > 0) return `${recipient.slice(0, 1)}•••${recipient.slice(at)}`;
  return `•••${recipient.length > 6 ? recipient.slice(-4) : ""}`;
};

/** The offer's announcement. */
export const offerMessage = (state: SubCaseState): { subject: string; text: string } => {
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
