/** Owns a message's facts as they are told in a language: dates, times and vehicles in its words; and whether they are so. */
import { factsNeeded, type NoticeFacts, type NoticeRecipients, untellable } from "../../schemas/message.ts";
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
  /** Where the airline's passengers look at their offer; most messages have a link to it that is good once and logs its reader in. */
  page: Value | undefined;
}

/** A group's facts, with what is the airline's and the airport's. */
export interface MessageFacts extends NoticeFacts {
  airline: string;
  /** IANA, of the case's airport. */
  timeZone: string;
  /** Of the airline's passengers; absent: it has none. */
  host?: string;
}

/** Why the message would tell a group what is not so; undefined: it is. @param host of the airline's page for passengers */
export const untrue = (
  template: NotificationTemplate,
  { facts, hotelChanged, stayChanged, withdrawn }: NoticeRecipients,
  host: string | undefined,
): string | undefined => {
  const untold = untellable(template, host === undefined ? facts : { ...facts, host });
  if (untold !== undefined) return untold;
  if (template === "hotel-changed" && !hotelChanged) return "The group has had no other hotel.";
  if (template === "stay-changed" && !stayChanged) return "The group's stay has the dates that it had.";
  if (template === "offer-withdrawn" && !withdrawn) return "Nothing of the group's is withdrawn.";
  return undefined;
};

/** What a message tells that may change while it is tried. */
const toldOf = (template: NotificationTemplate): (keyof NoticeFacts)[] =>
  template === "offer-withdrawn"
    ? ["hotel"]
    : factsNeeded[template].filter((name): name is keyof NoticeFacts => name !== "host");

/** Whether the template tells the same of both. */
export const tellSame = (template: NotificationTemplate, one: NoticeFacts, other: NoticeFacts): boolean =>
  toldOf(template).every((name) => one[name] === other[name]);

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

/** @param link to the airline's page, which logs its reader in; absent: the page is told as it is */
export const toldIn = (language: Language, facts: MessageFacts, link?: string): Told => {
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
    page: host === undefined ? undefined : { text: link ?? `https://${host}`, isLink: true },
  };
};
