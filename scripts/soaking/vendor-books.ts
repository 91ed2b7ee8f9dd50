/**
 * Owns comparing, when all is at rest, what groups have with what stands in the vendors' own books: one booking for who is housed and
 * none for who is not, under the number that we know. It reads the books as the vendors keep them, not through our adapters; pure.
 */
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import { subCaseOf } from "../../schemas/vendor-call.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { CardUseKind } from "../../schemas/wallet.ts";

/** One thing that a vendor has sold. */
export interface Sold {
  vendor: string;
  kind: string;
  id: string;
  reference: string;
  state: string;
  details: Readonly<Record<string, unknown>>;
}

/** What of a sub-case is compared. */
export type Housed = Pick<SubCaseState, "status" | "tier" | "pnrs"> &
  Partial<Pick<SubCaseState, "reservation" | "payment" | "card" | "formerCards">> & { _id: string };

const kept: readonly string[] = ["CONFIRMED", "CHECKED_IN", "CHECKED_OUT", "NO_SHOW"];
const settled: readonly SubCaseState["status"][] = [
  "PENDING",
  "OFFER_READY",
  "RESOLVED",
  "DECLINED",
  "FAILED",
  "COMPENSATION_FAILED",
  "NOT_REQUIRED",
];

/**
 * @param books all of them: what stands there under nobody's reference is an orphan
 * @param nightlyMaxMinor the most a room may cost a night, by tier and in US dollars; a tier without is not looked at
 * @param others groups that are not looked at, and may have something there
 */
export const bookFaults = (
  groups: readonly Housed[],
  books: readonly Sold[],
  nightlyMaxMinor: Partial<Record<Tier, number>>,
  others: Iterable<string> = [],
): { about: string; detail: string }[] => {
  const own = Map.groupBy(books, ({ reference }) => subCaseOf(reference));
  const known = new Set([...groups.map(({ _id }) => _id), ...others]);
  const strangers = books.filter(
    (one) => isLive(one) && lasting(one) && !known.has(subCaseOf(one.reference)),
  );
  return [
    ...groups.flatMap((group) =>
      faultsOf(group, own.get(group._id) ?? [], nightlyMaxMinor[group.tier]).map((detail) => ({
        about: group._id,
        detail,
      })),
    ),
    ...strangers.map((one) => ({ about: one.reference, detail: `${told(one)} stands, and nobody has it` })),
  ];
};

const lasting = ({ kind }: Sold): boolean => kind === "booking" || kind === "card";
const isLive = ({ state }: Sold): boolean => state !== "CANCELLED";
const told = ({ vendor, kind, id, state }: Sold): string => `${vendor} ${kind} ${id} (${state})`;

const faultsOf = (group: Housed, entries: readonly Sold[], nightlyMaxMinor: number | undefined): string[] => {
  const { status, reservation } = group;
  // What could not be taken back is on a person's desk, and may stand.
  if (status === "COMPENSATION_FAILED") return doubled(entries);
  const isHoused = reservation?.bookingId !== undefined && kept.includes(reservation.status);
  return [
    ...doubled(entries),
    ...(settled.includes(status) ? [] : [`is ${status} at rest`]),
    ...roomFaults(group, entries, isHoused),
    ...(isHoused ? dearRooms(entries, nightlyMaxMinor) : []),
    ...cardFaults(group, entries, isHoused),
  ];
};

const doubled = (entries: readonly Sold[]): string[] => {
  const sold = entries.filter(lasting);
  return [...Map.groupBy(sold, ({ kind, reference }) => `${kind} ${reference}`)].flatMap(([what, same]) =>
    same.length === 1 ? [] : [`${what} was sold ${same.length} times: ${same.map(told).join(", ")}`],
  );
};

const roomFaults = ({ reservation }: Housed, entries: readonly Sold[], isHoused: boolean): string[] => {
  if (isHoused && reservation?.byHand !== undefined) return [];
  const live = entries.filter((one) => one.kind === "booking" && isLive(one));
  if (!isHoused)
    return live.map((one) => `${told(one)} stands, and the group has no room (${reservation?.status})`);
  const [one, ...others] = live;
  if (one === undefined)
    return [`believes to have ${reservation?.vendor} booking ${reservation?.bookingId}, which is not there`];
  if (others.length > 0) return [`has ${live.length} rooms: ${live.map(told).join(", ")}`];
  // To some a booking's number is what the guest shows.
  const numbers = [one.id, one.details.confirmationNumber ?? reservation?.confirmationNumber];
  const isSame =
    one.id === reservation?.bookingId &&
    one.vendor === reservation.vendor &&
    numbers.includes(reservation.confirmationNumber);
  return isSame ? [] : [`has ${told(one)}, and believes in ${reservation?.vendor} ${reservation?.bookingId}`];
};

/** A price that changed beyond the policy was never booked. */
const dearRooms = (entries: readonly Sold[], nightlyMaxMinor: number | undefined): string[] =>
  entries
    .filter((one) => one.kind === "booking" && isLive(one) && one.details.currency === "USD")
    .filter(({ details }) => Number(details.nightlyRateMinor) > (nightlyMaxMinor ?? Number.POSITIVE_INFINITY))
    .map(
      (one) =>
        `${told(one)} costs ${one.details.nightlyRateMinor} a night, and ${nightlyMaxMinor} is allowed`,
    );

const useKinds: Readonly<Record<string, CardUseKind>> = {
  authorization: "AUTHORIZATION",
  capture: "SETTLEMENT",
  reversal: "REVERSAL",
};

const cardFaults = (
  { card, payment, formerCards = [] }: Housed,
  entries: readonly Sold[],
  isHoused: boolean,
): string[] => {
  const live = entries.filter((one) => one.kind === "card" && isLive(one));
  const ours = new Set([card, payment].filter((one) => one?.status === "ACTIVE").map((one) => one?.cardId));
  return [
    ...live.filter(() => !isHoused).map((one) => `${told(one)} works, and the group has no room`),
    ...live.filter(({ id }) => !ours.has(id)).map((one) => `${told(one)} works, and nobody knows of it`),
    ...[...(card === undefined ? [] : [card]), ...formerCards].flatMap(({ reference, uses = [] }) => {
      const used = entries.filter((one) => one.kind === "transaction" && one.reference === reference);
      const vendors = used.map(({ state, details }) => `${useKinds[state]} ${details.amountMinor}`).sort();
      const heard = uses.map(({ kind, amountMinor }) => `${kind} ${amountMinor}`).sort();
      return vendors.join() === heard.join()
        ? []
        : [`card ${reference} was used for ${vendors.join()}; we have heard of ${heard.join()}`];
    }),
  ];
};
