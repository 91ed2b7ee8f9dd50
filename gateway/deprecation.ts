/** Owns telling that a route will go (contract, "Versioning"): the headers of each of its answers, and the notice that clients are owed. */

export interface Deprecation {
  /** When it was announced: a date, `2026-11-21`. */
  since: string;
  /** When it goes, at the earliest six months after the announcement. */
  sunset: string;
  /** The path that takes its place. */
  successor?: `/${string}`;
  /** Of the row's prefixes only these go; absent: all. */
  prefixes?: readonly string[];
}

const noticeMonths = 6;

const dateOf = (text: string): Date => {
  const date = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text))
    throw new Error(`${text} is no date`);
  return date;
};

/**
 * `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the successor's link (RFC 5829) of one path; none where it stays.
 * @throws Error at start, for dates that are none or leave clients less than six months
 */
export const deprecationHeaders = (
  deprecated: Deprecation | undefined,
  prefix: string,
): [name: string, value: string][] => {
  if (deprecated === undefined || deprecated.prefixes?.includes(prefix) === false) return [];
  const since = dateOf(deprecated.since);
  const sunset = dateOf(deprecated.sunset);
  const earliest = new Date(since);
  earliest.setUTCMonth(earliest.getUTCMonth() + noticeMonths);
  if (sunset < earliest)
    throw new Error(`a route deprecated on ${deprecated.since} goes on ${deprecated.sunset}: too soon`);
  const headers: [string, string][] = [
    ["Deprecation", `@${since.getTime() / 1000}`],
    ["Sunset", sunset.toUTCString()],
  ];
  if (deprecated.successor !== undefined)
    headers.push(["Link", `<${deprecated.successor}>; rel="successor-version"`]);
  return headers;
};
