/** Owns a message's facts as they are told in a language: dates, times and vehicles in its words; and which template needs which. */
import type { NoticeFacts } from "../../schemas/message.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";
import type { Language, VehicleType } from "../../schemas/vocabulary.ts";
import type { Value } from "./copy.ts";

/** What a template can put between its words; undefined: not known, or not so. */
export interface Told {
  airline: Value;
  flight: Value;
  hotel: Value;
  address: Value | undefined;
  checkIn: Value;
  checkOut: Value;
  code: Value;
  pickup: Value;
  vehicle: Value;
  /** Where the airline's passengers look at their offer. */
  page: Value | undefined;
  /** Logs its reader in. */
  link: Value;
}

/** A group's facts, with what is the airline's and the airport's. */
export interface MessageFacts extends NoticeFacts {
  airline: string;
  /** IANA, of the case's airport. */
  timeZone: string;
  /** Of the airline's passengers; absent: it has none. */
  host?: string;
}

const needs: Readonly<Record<NotificationTemplate, readonly (keyof MessageFacts)[]>> = {
  "offer-ready": ["hotel", "checkIn", "checkOut", "code"],
  "voucher-issued": ["hotel", "checkIn", "checkOut", "code"],
  "stay-changed": ["hotel", "checkIn", "checkOut", "code"],
  "hotel-changed": ["hotel", "checkIn", "checkOut", "code"],
  "transport-updated": ["pickupAt", "vehicleType", "hotel"],
  "offer-withdrawn": [],
  welcome: ["host"],
  "magic-link": ["sealedLink"],
};

const words: Readonly<Partial<Record<keyof MessageFacts, string>>> = {
  hotel: "a room",
  checkIn: "the dates of a stay",
  checkOut: "the dates of a stay",
  code: "a voucher",
  pickupAt: "a ride",
  vehicleType: "a ride",
  host: "a page for the airline's passengers",
  sealedLink: "a link",
};

/** Why the template has nothing to tell of these facts; undefined: it has. */
export const untellable = (
  template: NotificationTemplate,
  facts: NoticeFacts & { host?: string },
): string | undefined => {
  const missing = needs[template].find((name) => facts[name as keyof NoticeFacts] === undefined);
  if (missing !== undefined) return `There is not ${words[missing]} to tell of.`;
  return template === "offer-withdrawn" && facts.hotel !== undefined
    ? "The group has a room: nothing is withdrawn."
    : undefined;
};

const vehicles: Readonly<Record<Language, Record<VehicleType, string>>> = {
  en: { SHUTTLE: "shuttle", PRIVATE_CAR: "car", WHEELCHAIR_VAN: "wheelchair-accessible van" },
  es: { SHUTTLE: "autobús", PRIVATE_CAR: "coche", WHEELCHAIR_VAN: "furgoneta adaptada" },
  pt: { SHUTTLE: "autocarro", PRIVATE_CAR: "carro", WHEELCHAIR_VAN: "carrinha adaptada" },
  fr: { SHUTTLE: "navette", PRIVATE_CAR: "voiture", WHEELCHAIR_VAN: "véhicule adapté" },
  de: { SHUTTLE: "Shuttle", PRIVATE_CAR: "Wagen", WHEELCHAIR_VAN: "rollstuhlgerechter Wagen" },
};

/** British order: what is written to the world is not read month first. */
const localeOf: Readonly<Record<Language, string>> = {
  en: "en-GB",
  es: "es",
  pt: "pt-PT",
  fr: "fr",
  de: "de",
};

/** Building one costs a hundred times its use. */
const formats = new Map<string, Intl.DateTimeFormat>();

const formatOf = (language: Language, timeZone: string, kind: "date" | "time"): Intl.DateTimeFormat => {
  const key = `${language} ${timeZone} ${kind}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const day = { day: "numeric", month: "short" } as const;
  const made = new Intl.DateTimeFormat(localeOf[language], {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    ...day,
    ...(kind === "date" ? {} : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  });
  formats.set(key, made);
  return made;
};

/** A shortened month's full stop would look like the sentence's. */
const unstopped = (text: string): string => text.replace(/\.(?=,|$)/g, "");

const dateIn = (language: Language, date: string): string =>
  unstopped(formatOf(language, "UTC", "date").format(new Date(date)));

/** @param link opened; only for the template that has one */
export const toldIn = (language: Language, facts: MessageFacts, link = ""): Told => {
  const { checkIn, checkOut, pickupAt, vehicleType, address, host } = facts;
  const text = (value: string | undefined): Value => ({ text: value ?? "" });
  return {
    airline: text(facts.airline),
    flight: text(facts.flight),
    hotel: text(facts.hotel),
    address: address === undefined || address.trim() === "" ? undefined : text(address),
    checkIn: text(checkIn && dateIn(language, checkIn)),
    checkOut: text(checkOut && dateIn(language, checkOut)),
    code: text(facts.code),
    pickup: text(
      pickupAt && unstopped(formatOf(language, facts.timeZone, "time").format(new Date(pickupAt))),
    ),
    vehicle: text(vehicleType && vehicles[language][vehicleType]),
    page: host === undefined ? undefined : { text: `https://${host}`, isLink: true },
    link: { text: link, isLink: true },
  };
};
