/** Owns the English words. */
import { say } from "../copy.ts";
import type { Words } from "./wording.ts";

export const en: Words = {
  signature: (f) => say`${f.airline}. This message was sent automatically; answers are not read.`,
  templates: {
    "offer-ready": {
      sms: (f) =>
        say`Flight ${f.flight}: a room is ready for you. ${f.hotel}, ${f.checkIn} to ${f.checkOut}. Voucher ${f.code}.${f.page && say` Accept or decline: ${f.page}`}`,
      subject: (f) => say`Your room for tonight, flight ${f.flight}`,
      body: (f) => [
        say`We are sorry about flight ${f.flight}. A room is ready for you.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: ${f.checkIn} to ${f.checkOut}. Voucher ${f.code}.`,
        f.page && say`Accept or decline at ${f.page}`,
      ],
    },
    "voucher-issued": {
      sms: (f) =>
        say`Your hotel voucher ${f.code}, flight ${f.flight}: ${f.hotel}, ${f.checkIn} to ${f.checkOut}.${f.page && say` Details: ${f.page}`}`,
      subject: (f) => say`Your hotel voucher, flight ${f.flight}`,
      body: (f) => [
        say`Here is your hotel voucher: ${f.code}. Show it at the reception.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: ${f.checkIn} to ${f.checkOut}.`,
        f.page && say`Details at ${f.page}`,
      ],
    },
    "stay-changed": {
      sms: (f) =>
        say`Flight ${f.flight}: your stay has changed. ${f.hotel} is now yours from ${f.checkIn} to ${f.checkOut}. Voucher ${f.code} stays good.${f.page && say` ${f.page}`}`,
      subject: (f) => say`Your stay has other dates, flight ${f.flight}`,
      body: (f) => [
        say`Your next flight has changed, and your room with it.`,
        say`${f.hotel}${f.address && say`, ${f.address}`} is now yours from ${f.checkIn} to ${f.checkOut}. Voucher ${f.code} stays good.`,
        f.page && say`Details at ${f.page}`,
      ],
    },
    "hotel-changed": {
      sms: (f) =>
        say`Flight ${f.flight}: you have another hotel. ${f.hotel}, ${f.checkIn} to ${f.checkOut}. New voucher ${f.code}.${f.page && say` Details: ${f.page}`}`,
      subject: (f) => say`You have another hotel, flight ${f.flight}`,
      body: (f) => [
        say`Your hotel has changed. The voucher that you had before is no longer good.`,
        say`${f.hotel}${f.address && say`, ${f.address}`}: ${f.checkIn} to ${f.checkOut}. New voucher ${f.code}.`,
        f.page && say`Details at ${f.page}`,
      ],
    },
    "transport-updated": {
      sms: (f) =>
        say`Flight ${f.flight}: your ride (${f.vehicle}) to ${f.hotel} leaves on ${f.pickup}.${f.page && say` Details: ${f.page}`}`,
      subject: (f) => say`Your ride to the hotel, flight ${f.flight}`,
      body: (f) => [
        say`Your ride to ${f.hotel} leaves on ${f.pickup}, local time. Look for a ${f.vehicle}.`,
        f.page && say`Details at ${f.page}`,
      ],
    },
    "offer-withdrawn": {
      sms: (f) =>
        say`Flight ${f.flight}: no hotel room is held for you any more; a voucher that you had is no longer good.${f.page && say` Details: ${f.page}`}`,
      subject: (f) => say`No room is held for you any more, flight ${f.flight}`,
      body: (f) => [
        say`No hotel room is held for you any more for flight ${f.flight}. A voucher that you had is no longer good.`,
        say`If you still need a room, ask ${f.airline} at the airport.`,
        f.page && say`Details at ${f.page}`,
      ],
    },
    welcome: {
      sms: (f) =>
        say`Flight ${f.flight}: we are looking after you. See what is arranged with your booking reference and name: ${f.page}`,
      subject: (f) => say`We are looking after you, flight ${f.flight}`,
      body: (f) => [
        say`We are sorry about flight ${f.flight}, and are arranging what you need.`,
        say`See how far it is, with your booking reference and your last name, at ${f.page}`,
      ],
    },
    "magic-link": {
      sms: (f) => say`Flight ${f.flight}: your link, good once. Pass it on to nobody. ${f.page}`,
      subject: (f) => say`Your link, flight ${f.flight}`,
      body: (f) => [
        say`This link opens what is arranged for you for flight ${f.flight}. It is good once: pass it on to nobody.`,
        say`${f.page}`,
      ],
    },
  },
};
