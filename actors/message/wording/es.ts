/** Owns the Spanish words. */
import { say } from "../copy.ts";
import type { Words } from "./wording.ts";

export const es: Words = {
  signature: (f) => say`${f.airline}. Este mensaje se ha enviado automáticamente; no se leen las respuestas.`,
  templates: {
    "offer-ready": {
      sms: (f) =>
        say`Vuelo ${f.flight}: tiene una habitación. ${f.hotel}, del ${f.checkIn} al ${f.checkOut}. Bono ${f.code}.${f.page && say` Acepte o rechace: ${f.page}`}`,
      subject: (f) => say`Su habitación para esta noche, vuelo ${f.flight}`,
      body: (f) => [
        say`Lamentamos lo ocurrido con el vuelo ${f.flight}. Tiene una habitación.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: del ${f.checkIn} al ${f.checkOut}. Bono ${f.code}.`,
        f.page && say`Acepte o rechace en ${f.page}`,
      ],
    },
    "voucher-issued": {
      sms: (f) =>
        say`Su bono de hotel ${f.code}, vuelo ${f.flight}: ${f.hotel}, del ${f.checkIn} al ${f.checkOut}.${f.page && say` Detalles: ${f.page}`}`,
      subject: (f) => say`Su bono de hotel, vuelo ${f.flight}`,
      body: (f) => [
        say`Este es su bono de hotel: ${f.code}. Muéstrelo en recepción.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: del ${f.checkIn} al ${f.checkOut}.`,
        f.page && say`Detalles en ${f.page}`,
      ],
    },
    "stay-changed": {
      sms: (f) =>
        say`Vuelo ${f.flight}: cambia su estancia. ${f.hotel} es suyo del ${f.checkIn} al ${f.checkOut}. El bono ${f.code} sigue valiendo.${f.page && say` ${f.page}`}`,
      subject: (f) => say`Nuevas fechas de su estancia, vuelo ${f.flight}`,
      body: (f) => [
        say`Su próximo vuelo ha cambiado, y con él su habitación.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: es suya ahora del ${f.checkIn} al ${f.checkOut}. El bono ${f.code} sigue siendo válido.`,
        f.page && say`Detalles en ${f.page}`,
      ],
    },
    "hotel-changed": {
      sms: (f) =>
        say`Vuelo ${f.flight}: tiene otro hotel. ${f.hotel}, del ${f.checkIn} al ${f.checkOut}. Nuevo bono ${f.code}.${f.page && say` Detalles: ${f.page}`}`,
      subject: (f) => say`Tiene otro hotel, vuelo ${f.flight}`,
      body: (f) => [
        say`Su hotel ha cambiado. El bono que tenía ya no es válido.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: del ${f.checkIn} al ${f.checkOut}. Nuevo bono ${f.code}.`,
        f.page && say`Detalles en ${f.page}`,
      ],
    },
    "transport-updated": {
      sms: (f) =>
        say`Vuelo ${f.flight}: su transporte (${f.vehicle}) a ${f.hotel} sale el ${f.pickup}.${f.page && say` Detalles: ${f.page}`}`,
      subject: (f) => say`Su transporte al hotel, vuelo ${f.flight}`,
      body: (f) => [
        say`Su transporte a ${f.hotel} sale el ${f.pickup}, hora local. Vehículo: ${f.vehicle}.`,
        f.page && say`Detalles en ${f.page}`,
      ],
    },
    "offer-withdrawn": {
      sms: (f) =>
        say`Vuelo ${f.flight}: ya no tiene habitación reservada; el bono que tuviera ya no es válido.${f.page && say` Detalles: ${f.page}`}`,
      subject: (f) => say`Ya no tiene habitación reservada, vuelo ${f.flight}`,
      body: (f) => [
        say`Ya no tiene habitación reservada por el vuelo ${f.flight}. El bono que tuviera ya no es válido.`,
        say`Si aún necesita una habitación, pregunte a ${f.airline} en el aeropuerto.`,
        f.page && say`Detalles en ${f.page}`,
      ],
    },
    welcome: {
      sms: (f) =>
        say`Vuelo ${f.flight}: nos ocupamos de usted. Vea lo organizado con su localizador y apellido: ${f.page}`,
      subject: (f) => say`Nos ocupamos de usted, vuelo ${f.flight}`,
      body: (f) => [
        say`Lamentamos lo ocurrido con el vuelo ${f.flight} y estamos organizando lo que necesita.`,
        say`Vea cómo va, con su localizador y su apellido, en ${f.page}`,
      ],
    },
    "magic-link": {
      sms: (f) => say`Vuelo ${f.flight}: su enlace, de un solo uso. No lo comparta. ${f.page}`,
      subject: (f) => say`Su enlace, vuelo ${f.flight}`,
      body: (f) => [
        say`Este enlace abre lo organizado para usted por el vuelo ${f.flight}. Sirve una sola vez: no lo comparta.`,
        say`${f.page}`,
      ],
    },
  },
};
