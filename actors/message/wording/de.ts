/** Owns the German words. */
import { say } from "../copy.ts";
import type { Words } from "./wording.ts";

export const de: Words = {
  signature: (f) =>
    say`${f.airline}. Diese Nachricht wurde automatisch verschickt; Antworten werden nicht gelesen.`,
  templates: {
    "offer-ready": {
      sms: (f) =>
        say`Flug ${f.flight}: Ein Zimmer ist für Sie bereit. ${f.hotel}, ${f.checkIn} bis ${f.checkOut}. Gutschein ${f.code}.${f.page && say` Annehmen oder ablehnen: ${f.page}`}`,
      subject: (f) => say`Ihr Zimmer für heute Nacht, Flug ${f.flight}`,
      body: (f) => [
        say`Es tut uns leid um Flug ${f.flight}. Ein Zimmer ist für Sie bereit.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: ${f.checkIn} bis ${f.checkOut}. Gutschein ${f.code}.`,
        f.page && say`Annehmen oder ablehnen unter ${f.page}`,
      ],
    },
    "voucher-issued": {
      sms: (f) =>
        say`Ihr Hotelgutschein ${f.code}, Flug ${f.flight}: ${f.hotel}, ${f.checkIn} bis ${f.checkOut}.${f.page && say` Näheres: ${f.page}`}`,
      subject: (f) => say`Ihr Hotelgutschein, Flug ${f.flight}`,
      body: (f) => [
        say`Hier ist Ihr Hotelgutschein: ${f.code}. Bitte zeigen Sie ihn an der Rezeption.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: ${f.checkIn} bis ${f.checkOut}.`,
        f.page && say`Näheres unter ${f.page}`,
      ],
    },
    "stay-changed": {
      sms: (f) =>
        say`Flug ${f.flight}: neue Daten. ${f.hotel} ist nun vom ${f.checkIn} bis ${f.checkOut} für Sie da. Gutschein ${f.code} gilt weiter.${f.page && say` ${f.page}`}`,
      subject: (f) => say`Ihr Aufenthalt hat andere Daten, Flug ${f.flight}`,
      body: (f) => [
        say`Ihr nächster Flug hat sich geändert, und mit ihm Ihr Zimmer.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: Es ist nun vom ${f.checkIn} bis ${f.checkOut} für Sie da. Gutschein ${f.code} gilt weiter.`,
        f.page && say`Näheres unter ${f.page}`,
      ],
    },
    "hotel-changed": {
      sms: (f) =>
        say`Flug ${f.flight}: Sie haben ein anderes Hotel. ${f.hotel}, ${f.checkIn} bis ${f.checkOut}. Neuer Gutschein ${f.code}.${f.page && say` Näheres: ${f.page}`}`,
      subject: (f) => say`Sie haben ein anderes Hotel, Flug ${f.flight}`,
      body: (f) => [
        say`Ihr Hotel hat sich geändert. Der Gutschein, den Sie hatten, gilt nicht mehr.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: ${f.checkIn} bis ${f.checkOut}. Neuer Gutschein ${f.code}.`,
        f.page && say`Näheres unter ${f.page}`,
      ],
    },
    "transport-updated": {
      sms: (f) =>
        say`Flug ${f.flight}: Ihre Fahrt (${f.vehicle}) zu ${f.hotel} beginnt am ${f.pickup}.${f.page && say` Näheres: ${f.page}`}`,
      subject: (f) => say`Ihre Fahrt zum Hotel, Flug ${f.flight}`,
      body: (f) => [
        say`Ihre Fahrt zu ${f.hotel} beginnt am ${f.pickup} Ortszeit. Fahrzeug: ${f.vehicle}.`,
        f.page && say`Näheres unter ${f.page}`,
      ],
    },
    "offer-withdrawn": {
      sms: (f) =>
        say`Flug ${f.flight}: Für Sie ist kein Zimmer mehr reserviert; ein früherer Gutschein gilt nicht mehr.${f.page && say` Näheres: ${f.page}`}`,
      subject: (f) => say`Für Sie ist kein Zimmer mehr reserviert, Flug ${f.flight}`,
      body: (f) => [
        say`Für Flug ${f.flight} ist kein Zimmer mehr für Sie reserviert. Ein früherer Gutschein gilt nicht mehr.`,
        say`Brauchen Sie noch ein Zimmer, wenden Sie sich am Flughafen an ${f.airline}.`,
        f.page && say`Näheres unter ${f.page}`,
      ],
    },
    welcome: {
      sms: (f) =>
        say`Flug ${f.flight}: Wir kümmern uns um Sie. Stand der Dinge mit Buchungscode und Namen: ${f.page}`,
      subject: (f) => say`Wir kümmern uns um Sie, Flug ${f.flight}`,
      body: (f) => [
        say`Es tut uns leid um Flug ${f.flight}. Wir kümmern uns um das, was Sie brauchen.`,
        say`Wie weit es ist, sehen Sie mit Buchungscode und Nachnamen unter ${f.page}`,
      ],
    },
    "magic-link": {
      sms: (f) => say`Flug ${f.flight}: Ihr Link, einmal gültig. Geben Sie ihn nicht weiter. ${f.page}`,
      subject: (f) => say`Ihr Link, Flug ${f.flight}`,
      body: (f) => [
        say`Dieser Link öffnet, was für Flug ${f.flight} für Sie vorgesehen ist. Er gilt einmal: Geben Sie ihn nicht weiter.`,
        say`${f.page}`,
      ],
    },
  },
};
