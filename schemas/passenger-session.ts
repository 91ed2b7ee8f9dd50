/** Owns how a passenger's session tells whose it is: by its id, so that it follows its passenger into another group without a look-up. */
import { createHash } from "node:crypto";

/** 48 bits in hexadecimal: enough to tell the members of a booking apart; what is told by them is nothing that a token wouldn't open. */
export const markOfPassenger = (passengerUrn: string): string =>
  createHash("sha256").update(passengerUrn).digest("hex").slice(0, 12);

/**
 * The id of a session: a UUID (RFC 9562, version 8) whose first 48 bits say whose session it is; the rest is the random one's.
 * @param random a UUID, version 4
 */
export const sessionIdOf = (passengerUrn: string, random: string): string => {
  const mark = markOfPassenger(passengerUrn);
  return `${mark.slice(0, 8)}-${mark.slice(8)}-8${random.slice(15)}`;
};

/** What a session's id says of whose it is. @param sessionUrn `urn:passenger-session:<uuid>` */
export const markOfSession = (sessionUrn: string): string => {
  const start = sessionUrn.lastIndexOf(":") + 1;
  return sessionUrn.slice(start, start + 8) + sessionUrn.slice(start + 9, start + 13);
};

/** Whether the session is this passenger's. @param sessionUrn `urn:passenger-session:<uuid>` */
export const isSessionOf = (sessionUrn: string, passengerUrn: string): boolean => {
  const id = sessionUrn.slice(sessionUrn.lastIndexOf(":") + 1);
  const mark = markOfPassenger(passengerUrn);
  return id.startsWith(`${mark.slice(0, 8)}-${mark.slice(8)}-8`);
};
