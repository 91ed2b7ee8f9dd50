/** Owns the voucher as something to print: one page of HTML with no script, and its QR code. */
import { LRUCache } from "lru-cache";
import { toString as toText } from "qrcode";
import { escapedHtml } from "../../schemas/html.ts";
import type { Language } from "../../schemas/vocabulary.ts";
import { currentCandidate } from "./requests.ts";
import type { SubCaseState } from "./state.ts";

const words: Readonly<
  Record<
    Language,
    Record<"title" | "guests" | "hotel" | "stay" | "rooms" | "code" | "ride" | "show" | "void", string>
  >
> = {
  en: {
    title: "Hotel voucher",
    guests: "Guests",
    hotel: "Hotel",
    stay: "Stay",
    rooms: "Rooms",
    code: "Confirmation",
    ride: "Ride to the hotel",
    show: "Show this page at the hotel desk.",
    void: "This voucher is no longer valid.",
  },
  es: {
    title: "Bono de hotel",
    guests: "Huéspedes",
    hotel: "Hotel",
    stay: "Estancia",
    rooms: "Habitaciones",
    code: "Confirmación",
    ride: "Traslado al hotel",
    show: "Muestre esta página en la recepción.",
    void: "Este bono ya no es válido.",
  },
  pt: {
    title: "Voucher de hotel",
    guests: "Hóspedes",
    hotel: "Hotel",
    stay: "Estadia",
    rooms: "Quartos",
    code: "Confirmação",
    ride: "Transporte para o hotel",
    show: "Mostre esta página na recepção.",
    void: "Este voucher já não é válido.",
  },
  fr: {
    title: "Bon d'hôtel",
    guests: "Clients",
    hotel: "Hôtel",
    stay: "Séjour",
    rooms: "Chambres",
    code: "Confirmation",
    ride: "Trajet vers l'hôtel",
    show: "Présentez cette page à la réception.",
    void: "Ce bon n'est plus valable.",
  },
  de: {
    title: "Hotelgutschein",
    guests: "Gäste",
    hotel: "Hotel",
    stay: "Aufenthalt",
    rooms: "Zimmer",
    code: "Bestätigung",
    ride: "Fahrt zum Hotel",
    show: "Zeigen Sie diese Seite an der Rezeption.",
    void: "Dieser Gutschein gilt nicht mehr.",
  },
};

/** What the QR code says: enough for a desk without our system, and no contact detail. */
const qrText = (state: SubCaseState): string =>
  [
    state.voucher?.code,
    state.reservation?.confirmationNumber,
    currentCandidate(state)?.hotelUrn,
    state.assignment?.stay.checkIn,
  ].join("|");

/** Drawing one takes milliseconds, and passengers look at their offer twice a minute; two kilobytes each. */
const drawn = new LRUCache<string, Promise<string>>({ max: 1000 });

const qrSvg = (state: SubCaseState): Promise<string> => {
  const said = qrText(state);
  const known = drawn.get(said);
  if (known !== undefined) return known;
  const svg = toText(said, { type: "svg", margin: 1 });
  drawn.set(said, svg);
  return svg;
};

/** The code as an image, in a data URI. */
export const voucherQr = async (state: SubCaseState): Promise<string> =>
  `data:image/svg+xml;base64,${Buffer.from(await qrSvg(state)).toString("base64")}`;

/** The page. Undefined: no voucher has been issued. */
export const voucherPage = async (state: SubCaseState): Promise<string | undefined> => {
  const { voucher, reservation, assignment, ride, language } = state;
  const hotel = currentCandidate(state)?.offer;
  if (voucher === undefined || hotel === undefined || assignment === undefined) return undefined;
  const w = words[language];
  const guests = state.passengers.map(({ firstName, lastName }) =>
    [firstName, lastName].filter(Boolean).join(" "),
  );
  const rows: [string, string][] = [
    [w.guests, guests.filter((name) => name !== "").join(", ")],
    [w.hotel, `${hotel.name}, ${hotel.address}`],
    [w.stay, `${assignment.stay.checkIn} – ${assignment.stay.checkOut}`],
    [w.rooms, String(reservation?.rooms ?? "")],
    [w.code, reservation?.confirmationNumber ?? ""],
    ...(ride?.status === "booked" && ride.pickupAt !== undefined
      ? ([[w.ride, `${ride.vehicleType}, ${ride.pickupAt.toISOString()}`]] as [string, string][])
      : []),
  ];
  const qr = await qrSvg(state);
  const banner =
    voucher.status === "VOID"
      ? `<p class="void" role="alert">${escapedHtml(w.void)}</p>`
      : `<p>${escapedHtml(w.show)}</p>`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapedHtml(w.title)} ${escapedHtml(voucher.code)}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
h1 { font-size: 1.4rem; }
dt { color: #555; font-size: .85rem; } dd { margin: 0 0 .8rem; font-size: 1.1rem; }
svg { width: 12rem; height: 12rem; } .void { color: #a00; font-weight: bold; }
@media print { body { margin: 0; } }
</style>
</head>
<body>
<h1>${escapedHtml(w.title)} ${escapedHtml(voucher.code)}</h1>
${banner}
<dl>
${rows.map(([name, value]) => `<dt>${escapedHtml(name)}</dt><dd>${escapedHtml(value)}</dd>`).join("\n")}
</dl>
${qr}
</body>
</html>
`;
};
