/** Owns the French words. */
import { say } from "../copy.ts";
import type { Words } from "./wording.ts";

export const fr: Words = {
  signature: (f) =>
    say`${f.airline}. Ce message a été envoyé automatiquement ; les réponses ne sont pas lues.`,
  templates: {
    "offer-ready": {
      sms: (f) =>
        say`Vol ${f.flight} : une chambre vous attend. ${f.hotel}, du ${f.checkIn} au ${f.checkOut}. Bon ${f.code}.${f.page && say` Acceptez ou refusez : ${f.page}`}`,
      subject: (f) => say`Votre chambre pour cette nuit, vol ${f.flight}`,
      body: (f) => [
        say`Nous sommes désolés pour le vol ${f.flight}. Une chambre vous attend.`,
        say`${f.hotel}${f.address && say`, ${f.address}`} : du ${f.checkIn} au ${f.checkOut}. Bon ${f.code}.`,
        f.page && say`Acceptez ou refusez sur ${f.page}`,
      ],
    },
    "voucher-issued": {
      sms: (f) =>
        say`Votre bon d'hôtel ${f.code}, vol ${f.flight} : ${f.hotel}, du ${f.checkIn} au ${f.checkOut}.${f.page && say` Détails : ${f.page}`}`,
      subject: (f) => say`Votre bon d'hôtel, vol ${f.flight}`,
      body: (f) => [
        say`Voici votre bon d'hôtel : ${f.code}. Présentez-le à la réception.`,
        say`${f.hotel}${f.address && say`, ${f.address}`} : du ${f.checkIn} au ${f.checkOut}.`,
        f.page && say`Détails sur ${f.page}`,
      ],
    },
    "stay-changed": {
      sms: (f) =>
        say`Vol ${f.flight} : votre séjour change. ${f.hotel} est à vous du ${f.checkIn} au ${f.checkOut}. Le bon ${f.code} reste valable.${f.page && say` ${f.page}`}`,
      subject: (f) => say`Nouvelles dates de votre séjour, vol ${f.flight}`,
      body: (f) => [
        say`Votre prochain vol a changé, et votre chambre avec lui.`,
        say`${f.hotel}${f.address && say`, ${f.address}`} : elle est maintenant à vous du ${f.checkIn} au ${f.checkOut}. Le bon ${f.code} reste valable.`,
        f.page && say`Détails sur ${f.page}`,
      ],
    },
    "hotel-changed": {
      sms: (f) =>
        say`Vol ${f.flight} : vous avez un autre hôtel. ${f.hotel}, du ${f.checkIn} au ${f.checkOut}. Nouveau bon ${f.code}.${f.page && say` Détails : ${f.page}`}`,
      subject: (f) => say`Vous avez un autre hôtel, vol ${f.flight}`,
      body: (f) => [
        say`Votre hôtel a changé. Le bon que vous aviez n'est plus valable.`,
        say`${f.hotel}${f.address && say`, ${f.address}`} : du ${f.checkIn} au ${f.checkOut}. Nouveau bon ${f.code}.`,
        f.page && say`Détails sur ${f.page}`,
      ],
    },
    "transport-updated": {
      sms: (f) =>
        say`Vol ${f.flight} : votre transport (${f.vehicle}) vers ${f.hotel} part le ${f.pickup}.${f.page && say` Détails : ${f.page}`}`,
      subject: (f) => say`Votre transport vers l'hôtel, vol ${f.flight}`,
      body: (f) => [
        say`Votre transport vers ${f.hotel} part le ${f.pickup}, heure locale. Véhicule : ${f.vehicle}.`,
        f.page && say`Détails sur ${f.page}`,
      ],
    },
    "offer-withdrawn": {
      sms: (f) =>
        say`Vol ${f.flight} : aucune chambre n'est plus réservée pour vous ; un bon reçu n'est plus valable.${f.page && say` Détails : ${f.page}`}`,
      subject: (f) => say`Aucune chambre n'est plus réservée pour vous, vol ${f.flight}`,
      body: (f) => [
        say`Aucune chambre n'est plus réservée pour vous pour le vol ${f.flight}. Un bon que vous auriez reçu n'est plus valable.`,
        say`S'il vous faut encore une chambre, adressez-vous à ${f.airline} à l'aéroport.`,
        f.page && say`Détails sur ${f.page}`,
      ],
    },
    welcome: {
      sms: (f) =>
        say`Vol ${f.flight} : nous nous occupons de vous. Suivi avec votre référence et votre nom : ${f.page}`,
      subject: (f) => say`Nous nous occupons de vous, vol ${f.flight}`,
      body: (f) => [
        say`Nous sommes désolés pour le vol ${f.flight} et préparons ce qu'il vous faut.`,
        say`Suivez-le, avec votre référence de réservation et votre nom, sur ${f.page}`,
      ],
    },
    "magic-link": {
      sms: (f) => say`Vol ${f.flight} : votre lien, à usage unique. Ne le partagez pas. ${f.page}`,
      subject: (f) => say`Votre lien, vol ${f.flight}`,
      body: (f) => [
        say`Ce lien ouvre ce qui est prévu pour vous pour le vol ${f.flight}. Il ne sert qu'une fois : ne le partagez pas.`,
        say`${f.page}`,
      ],
    },
  },
};
