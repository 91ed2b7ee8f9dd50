/** Owns whether rooms that a hotel has just held are kept at their price: offers are minutes old when they are held. */
import { decimalFromMinor } from "../../schemas/currency.ts";
import { minorIn } from "../../schemas/exchange-rates.ts";
import type { Money } from "../../schemas/vocabulary.ts";
import type { CallContext, Hold, HoldRequest, HotelPort, ModifyRequest, Refused } from "./ports.ts";

type Asked = Pick<HoldRequest, "offer" | "rooms" | "checkIn" | "checkOut" | "nightlyMax">;

type ChangeAsked = Pick<ModifyRequest, "checkIn" | "checkOut" | "nightlyMax"> & { rooms?: number };

const dayMs = 86_400_000;

const money = ({ amountMinor, currency }: Money): string =>
  `${decimalFromMinor(amountMinor, currency)} ${currency}`;

/**
 * Undefined: it is kept. A price that is the offer's, or lower, always is; a higher one within the policy's limit a night, as a new offer at
 * that price would be. An offer that a person chose beyond the limit is its own limit. Another currency than the offer's is no price to compare.
 * @param total of the hold: all rooms, the whole stay
 */
export const priceRefusal = (asked: Asked, total: Money): Refused | undefined => {
  const { offer, rooms, checkIn, checkOut, nightlyMax } = asked;
  const refused = (detail: string): Refused => ({ outcome: "refused", code: "PRICE_CHANGED", detail });
  const nights = (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs;
  if (total.currency !== offer.currency)
    return refused(`The price is in ${total.currency} now, and was in ${offer.currency}.`);
  // Averages of uneven nights are rounded: what is less than a minor unit a night over is none.
  const nightlyMinor = Math.floor(total.amountMinor / (rooms * nights));
  if (nightlyMinor <= offer.nightlyRateMinor || nightlyMax === undefined) return undefined;
  const comparable = minorIn(nightlyMax.currency, { amountMinor: nightlyMinor, currency: total.currency });
  if (comparable !== undefined && comparable <= nightlyMax.amountMinor) return undefined;
  const now = money({ amountMinor: nightlyMinor, currency: total.currency });
  const before = money({ amountMinor: offer.nightlyRateMinor, currency: offer.currency });
  return refused(`A night is ${now} now, and was ${before}; the policy allows ${money(nightlyMax)}.`);
};

/**
 * Other dates for a booking that stands are taken at a night's price that is the booking's own, or lower, or within the policy's limit. Undefined:
 * so it is. A price that the vendor's answer doesn't tell, or tells in another currency than before, is none to take.
 * @param before of as many rooms as `after`
 */
export const changeRefusal = (
  { checkIn, checkOut, nightlyMax, rooms = 1 }: ChangeAsked,
  {
    before,
    nightsBefore,
    after,
  }: { before: Money | undefined; nightsBefore: number; after: Money | undefined },
): Refused | undefined => {
  if (nightlyMax === undefined) return undefined;
  const refused = (detail: string): Refused => ({ outcome: "refused", code: "PRICE_CHANGED", detail });
  if (after === undefined || before?.currency !== after.currency)
    return refused("What the other dates cost is not told, or in another currency.");
  const nightlyMinor = Math.floor(after.amountMinor / ((Date.parse(checkOut) - Date.parse(checkIn)) / dayMs));
  const isOwn = nightlyMinor <= Math.ceil(before.amountMinor / nightsBefore);
  const asked = { amountMinor: nightlyMinor, currency: after.currency };
  const comparable = minorIn(nightlyMax.currency, asked);
  if (isOwn || (comparable !== undefined && comparable <= nightlyMax.amountMinor * rooms)) return undefined;
  const now = money(asked);
  return refused(`A night of the other dates is ${now}; the policy allows ${money(nightlyMax)} a room.`);
};

/**
 * Undefined: the hold stands. Else it is given up, where the vendor knows how; where that fails it ends by itself, as all holds do.
 * @param hold as the vendor's answer or a look-up has it
 */
export const refusedForPrice = async (
  port: HotelPort,
  request: Asked & { reference: string },
  { holdId, total }: Pick<Hold, "holdId" | "total">,
  context: CallContext,
): Promise<Refused | undefined> => {
  const refusal = priceRefusal(request, total);
  if (refusal !== undefined) await port.release?.({ reference: request.reference, holdId }, context);
  return refusal;
};
