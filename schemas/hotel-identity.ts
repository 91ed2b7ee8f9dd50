/** Owns which offers of several vendors are one hotel, and that hotel's URN; which of them is taken is the caller's. */
import { createHash } from "node:crypto";
import { directVendor } from "./contract.ts";
import { distanceKmBetween } from "./distance.ts";
import type { HotelFacts } from "./hotel.ts";
import { urn } from "./urn.ts";

const sameSpotKm = 0.1;

/** What one vendor calls the hotel, told apart from what others call theirs. */
export const providerCode = ({
  vendor,
  providerHotelId,
}: Pick<HotelFacts, "vendor" | "providerHotelId">): string => `${vendor}-${providerHotelId}`;

/**
 * The hotel URN of each offer, in the order of the offers (contract, "Allocation wave", deduplication). Offers match
 * by provider-independent id, else by coordinates within 100 m plus the same stars (unrated is not the same as
 * unrated), else by exact name and address, which one that isn't told is not; matching is transitive.
 *
 * Evidence against a match stops it: two different provider-independent ids are two hotels however near (two brands
 * under one roof), and so are two codes of one vendor, unless they share that id. The URN comes from the whole
 * cluster, so it does not change with the offer that wins.
 */
export const hotelUrns = (offers: readonly HotelFacts[]): string[] => {
  const { told, toldAs } = tellings(offers);
  const clusters = new Clusters(told);
  clusters.joinEqual((offer) => `${offer.vendor}\n${offer.providerHotelId}`, true);
  clusters.joinEqual((offer) => offer.masterHotelId || undefined, true);
  for (const [a, b] of neighbours(told)) clusters.join(a, b);
  clusters.joinEqual(({ name, address }) => (address === "" ? undefined : `${name}\n${address}`));
  const urns = clusters.urns();
  return toldAs.map((index) => urns[index] as string);
};

/** A hotel's rooms all say the same of it: what is said is compared once. `toldAs`: by offer, which of what is told it says. */
const tellings = (offers: readonly HotelFacts[]): { told: HotelFacts[]; toldAs: number[] } => {
  const told: HotelFacts[] = [];
  const known = new Map<string, number>();
  const toldAs = offers.map((offer) => {
    const { vendor, providerHotelId, masterHotelId, coordinates, stars, name, address } = offer;
    const place = `${coordinates.latitude}\n${coordinates.longitude}\n${stars}`;
    const key = `${vendor}\n${providerHotelId}\n${masterHotelId}\n${place}\n${name}\n${address}`;
    const index = known.get(key) ?? told.push(offer) - 1;
    known.set(key, index);
    return index;
  });
  return { told, toldAs };
};

/** A thousandth of a degree of latitude is 111 m: what is further apart is not {@link sameSpotKm} near. */
const sameSpotDegrees = 0.001;

/** Pairs within 100 m with the same stars, nearest first: the likeliest match is made before one that it rules out. */
const neighbours = (offers: readonly HotelFacts[]): [number, number][] => {
  const pairs: { pair: [number, number]; km: number }[] = [];
  const northward = offers
    .map(({ coordinates: { latitude }, stars }, index) => ({ latitude, stars, index }))
    .filter(({ stars, latitude }) => stars !== undefined && !Number.isNaN(latitude))
    .sort((x, y) => x.latitude - y.latitude);
  northward.forEach(({ latitude, stars, index }, at) => {
    for (let next = at + 1; next < northward.length; next++) {
      const other = northward[next]!;
      if (other.latitude - latitude > sameSpotDegrees) break;
      if (other.stars !== stars) continue;
      const [a, b] = index < other.index ? [index, other.index] : [other.index, index];
      // Two codes of one vendor are joined by their id alone, and ten thousand hotels in one spot would be ten million pairs.
      if (offers[a]!.vendor === offers[b]!.vendor) continue;
      const km = distanceKmBetween(offers[a]!.coordinates, offers[b]!.coordinates);
      if (km <= sameSpotKm) pairs.push({ pair: [a, b], km });
    }
  });
  return pairs
    .sort((x, y) => x.km - y.km || x.pair[0] - y.pair[0] || x.pair[1] - y.pair[1])
    .map(({ pair }) => pair);
};

/** Union-find over offers that knows what a cluster's members say about their identity. */
class Clusters {
  readonly offers: readonly HotelFacts[];
  readonly parent: number[];
  readonly masterIds: (string | undefined)[];
  readonly codes: Map<string, Set<string>>[];

  constructor(offers: readonly HotelFacts[]) {
    this.offers = offers;
    this.parent = offers.map((_, index) => index);
    this.masterIds = offers.map((offer) => offer.masterHotelId || undefined);
    this.codes = offers.map((offer) => new Map([[offer.vendor, new Set([offer.providerHotelId])]]));
  }

  root(index: number): number {
    let at = index;
    while (this.parent[at] !== at) {
      this.parent[at] = this.parent[this.parent[at]!]!;
      at = this.parent[at]!;
    }
    return at;
  }

  /** @param certain the two are one hotel whatever else they say. */
  join(a: number, b: number, certain = false): void {
    const [into, from] = [this.root(a), this.root(b)].sort((x, y) => x - y) as [number, number];
    if (into === from || (!certain && this.contradict(into, from))) return;
    this.parent[from] = into;
    this.masterIds[into] = [this.masterIds[into], this.masterIds[from]]
      .filter((id) => id !== undefined)
      .sort(ordinal)[0];
    for (const [vendor, ids] of this.codes[from]!)
      this.codes[into]!.set(vendor, new Set([...(this.codes[into]!.get(vendor) ?? []), ...ids]));
  }

  joinEqual(keyOf: (offer: HotelFacts) => string | undefined, certain = false): void {
    const first = new Map<string, number[]>();
    this.offers.forEach((offer, index) => {
      const key = keyOf(offer);
      if (key === undefined) return;
      const same = first.get(key) ?? [];
      // With each earlier one, not the first alone: the first may be ruled out and a later one not.
      for (const earlier of same) this.join(earlier, index, certain);
      first.set(key, [...same, index]);
    });
  }

  contradict(a: number, b: number): boolean {
    const [one, other] = [this.masterIds[a], this.masterIds[b]];
    if (one !== undefined && other !== undefined) return one !== other;
    for (const vendor of this.codes[a]!.keys()) if (this.codes[b]!.has(vendor)) return true;
    return false;
  }

  urns(): string[] {
    const smallest = new Map<number, string>();
    this.offers.forEach((offer, index) => {
      const root = this.root(index);
      const id = providerCode(offer);
      const known = smallest.get(root);
      if (known === undefined || id < known) smallest.set(root, id);
    });
    const urns = new Map(
      [...smallest].map(([root, id]) => [root, urn("hotel", hotelId(this.masterIds[root] ?? id))]),
    );
    return this.offers.map((_, index) => urns.get(this.root(index)) as string);
  }
}

/** Order by code unit: the same on every machine, unlike a locale's. */
export const ordinal = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const idLengthMax = 128;

/**
 * Puts any text into the alphabet of URN ids: each other byte becomes `~` and two hex digits, so two different ids
 * stay different. One that is too long ends in a digest of the whole.
 */
export const hotelId = (text: string): string => {
  const written = [...Buffer.from(text, "utf8")]
    .map((byte) => {
      const char = String.fromCharCode(byte);
      return /[A-Za-z0-9._|@+-]/.test(char) ? char : `~${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    })
    .join("");
  const id = /^[A-Za-z0-9]/.test(written) ? written : `x~${written}`;
  if (id.length <= idLengthMax) return id;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 32);
  return `${id.slice(0, idLengthMax - 33)}~${digest}`;
};

/** One hotel in the words of whoever offers it: the airline's own contract says best what it is called, then the first by code. */
export interface HotelTold<Offer extends HotelFacts> extends Omit<HotelFacts, "vendor" | "providerHotelId"> {
  hotelUrn: string;
  /** The best teller's first. */
  offers: [Offer, ...Offer[]];
}

/** The hotels among these offers, each once. */
export const hotelsAmong = <Offer extends HotelFacts>(offers: readonly Offer[]): HotelTold<Offer>[] => {
  const urns = hotelUrns(offers);
  const clusters = new Map<string, Offer[]>();
  offers.forEach((offer, i) => {
    const hotelUrn = urns[i]!;
    const members = clusters.get(hotelUrn);
    if (members === undefined) clusters.set(hotelUrn, [offer]);
    else members.push(offer);
  });
  return [...clusters].map(([hotelUrn, members]) => toldBy(hotelUrn, members));
};

const toldBy = <Offer extends HotelFacts>(hotelUrn: string, members: Offer[]): HotelTold<Offer> => {
  const offers = members
    .map((offer) => ({ offer, code: providerCode(offer), isOwn: Number(offer.vendor === directVendor) }))
    .sort((a, b) => b.isOwn - a.isOwn || ordinal(a.code, b.code))
    .map(({ offer }) => offer) as [Offer, ...Offer[]];
  const [{ name, address, coordinates }] = offers;
  const stars = offers.find((one) => one.stars !== undefined)?.stars;
  const chain = offers.find((one) => one.chain !== undefined)?.chain;
  const masterHotelId = offers.find((one) => one.masterHotelId !== undefined)?.masterHotelId;
  return {
    hotelUrn,
    name,
    address,
    coordinates,
    ...(stars === undefined ? {} : { stars }),
    ...(chain === undefined ? {} : { chain }),
    ...(masterHotelId === undefined ? {} : { masterHotelId }),
    amenities: inOrder(offers.flatMap(({ amenities }) => amenities)),
    offers,
  };
};

/** Each once, sorted. */
export const inOrder = (texts: readonly string[]): string[] => [...new Set(texts)].sort(ordinal);
