/**
 * Owns the three tools that a model has (contract, intro 6), and what they tell it. They look at the facts of one item, which were read
 * before the model was asked: none of them can reach anything, and which item, case or airline is meant is no argument of theirs.
 */
import Type, { type Static, type TSchema } from "typebox";
import { minorUnitDigits } from "../../schemas/currency.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import { amenities, type Money } from "../../schemas/vocabulary.ts";
import { fitting } from "../runtime/input.ts";
import { classify } from "./classify.ts";
import type { Facts, HotelFacts } from "./facts.ts";
import { fullestFirst } from "./fit.ts";
import { fieldsOf, type Option, optionsOf } from "./options.ts";
import { leastFirst } from "./rules.ts";

const hotelsMax = 10;
const optionsMax = 6;
const argumentCharsMax = 600;

export const relaxable = [
  "minStars",
  "maxDistanceKm",
  "maxNightlyRate",
  "requiredAmenities",
  "excludedChains",
  "acceptedPayments",
  "allowProviders",
] as const satisfies readonly (keyof RelaxedFields)[];

const Need = Type.String({ maxLength: 8, description: "One of `needs`, as n1." });

const SearchHotels = Type.Object(
  {
    need: Need,
    withinPolicy: Type.Optional(Type.Boolean()),
    minStars: Type.Optional(Type.Number({ minimum: 0, maximum: 5 })),
    maxDistanceKm: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
    maxNightlyRate: Type.Optional(Type.Number({ minimum: 0, maximum: 1e9 })),
    amenities: Type.Optional(Type.Array(Type.Enum([...amenities]), { maxItems: 20 })),
    sortBy: Type.Optional(Type.Enum(["rooms", "cost", "distance", "stars"])),
  },
  { additionalProperties: false },
);

const CostRelaxation = Type.Object(
  {
    need: Need,
    fields: Type.Array(Type.Enum([...relaxable]), { minItems: 1, maxItems: relaxable.length }),
  },
  { additionalProperties: false },
);

const ClassifyFailure = Type.Object({}, { additionalProperties: false });

interface Tool<Schema extends TSchema> {
  description: string;
  parameters: Schema;
  fits(data: unknown): data is Static<Schema>;
  look(at: Toolbox, asked: Static<Schema>): unknown;
}

const tool = <Schema extends TSchema>(one: Omit<Tool<Schema>, "fits">): Tool<Schema> => ({
  ...one,
  fits: fitting(one.parameters),
});

/** The allow-list. */
const tools = {
  search_hotels: tool({
    description:
      "Hotels with rooms for a need, within the policy or past it; each with what would have to be loosened for it.",
    parameters: SearchHotels,
    look: (toolbox, asked) => toolbox.search(asked),
  }),
  cost_policy_relaxation: tool({
    description:
      "What loosening these fields of the policy and no others would bring, how far and at what cost.",
    parameters: CostRelaxation,
    look: (toolbox, asked) => toolbox.cost(asked),
  }),
  classify_failure: tool({
    description: "The cause as the rules see it, how sure they are, and what speaks for it.",
    parameters: ClassifyFailure,
    look: (toolbox) => toolbox.classified(),
  }),
} as const;
// biome-ignore lint/suspicious/noExplicitAny: each one's arguments are typed where it is written
const byName: ReadonlyMap<string, Tool<any>> = new Map(Object.entries(tools));

/** As a model's server is told of them. */
export const toolList = Object.entries(tools).map(([name, { description, parameters }]) => ({
  name,
  description,
  parameters: parameters as unknown as Record<string, unknown>,
}));

type Filter = Static<typeof SearchHotels>;

/** The tools over the facts of one item, for one run. */
export class Toolbox {
  readonly options: Option[];
  readonly #facts: Facts;
  /** What the model may call a hotel: an id of a vendor's may be made of any words. */
  readonly #names = new Map<string, string>();
  /** What it has been told of, and may therefore propose. */
  readonly #told = new Set<Option>();

  constructor(facts: Facts) {
    this.#facts = facts;
    this.options = optionsOf(facts);
    for (const { hotelUrn } of facts.searches.flatMap(({ hotels }) => hotels))
      if (!this.#names.has(hotelUrn)) this.#names.set(hotelUrn, `h${this.#names.size + 1}`);
  }

  /** @param argumentsText as the model wrote them. @returns JSON; of a call that makes no sense: why it was not made */
  call(name: string, argumentsText: string): string {
    const found = byName.get(name);
    if (found === undefined)
      return refusal(`There is no such tool; there are ${[...byName.keys()].join(", ")}.`);
    const asked = parsed(argumentsText);
    if (asked === undefined || !found.fits(asked)) return refusal(`The arguments do not fit ${name}.`);
    return JSON.stringify(found.look(this, asked));
  }

  /** Of what tools have told, with exactly these fields. Undefined: they have told of nothing such */
  optionFor({
    need,
    action,
    hotel,
    fields,
  }: {
    need: string;
    action: string;
    hotel: string;
    fields: readonly string[];
  }): Option | undefined {
    const wanted = [...new Set(fields)].sort().join();
    return this.#of(need)
      .filter((one) => this.#told.has(one) && this.#names.get(one.hotel.hotelUrn) === hotel)
      .filter((one) => one.action === action && (action === "rebook" || fieldsOf(one).join() === wanted))
      .sort(leastFirst)[0];
  }

  search({ need, sortBy = "rooms", ...filter }: Filter): unknown {
    const best = new Map<HotelFacts, Option>();
    for (const option of this.#of(need).filter((one) => passes(one, filter))) {
      const known = best.get(option.hotel);
      if (known === undefined || nearest(option, known) < 0) best.set(option.hotel, option);
    }
    const found = [...best.values()].sort(orders[sortBy]);
    return {
      hotels: found.slice(0, hotelsMax).map((one) => this.#row(one)),
      more: Math.max(0, found.length - hotelsMax),
    };
  }

  cost({ need, fields }: Static<typeof CostRelaxation>): unknown {
    const allowed: ReadonlySet<string> = new Set(fields);
    const found = this.#of(need)
      .filter((one) => one.action === "relaxPolicy" && fieldsOf(one).every((field) => allowed.has(field)))
      .sort((a, b) => fieldsOf(a).length - fieldsOf(b).length || leastFirst(a, b));
    return {
      relaxations: found.slice(0, optionsMax).map((one) => ({ ...this.#row(one), upTo: figures(one.value) })),
      more: Math.max(0, found.length - optionsMax),
    };
  }

  /** A code that a vendor gave is a word of the vendor's, and who the vendors are is the airline's: both stay here. */
  classified(): unknown {
    const { attempted, searches, wave } = this.#facts;
    return classify({
      ...this.#facts,
      attempted: attempted.map(({ hotelUrn }) => ({ hotelUrn })),
      searches: searches.map((search) => ({ ...search, silent: search.silent.map(nameless) })),
      ...(wave === undefined ? {} : { wave: { ...wave, silent: wave.silent.map(nameless) } }),
    });
  }

  #of(need: string): Option[] {
    const search = this.#facts.searches[Number(/^n([1-9])$/.exec(need)?.[1]) - 1];
    return this.options.filter((one) => one.search === search);
  }

  #row(one: Option): object {
    const { hotel, placement } = one;
    this.#told.add(one);
    return {
      hotel: this.#names.get(hotel.hotelUrn),
      distanceKm: hotel.distanceKm,
      ...(hotel.stars === undefined ? {} : { stars: hotel.stars }),
      amenities: hotel.amenities,
      groups: placement.groupIds.length,
      rooms: placement.rooms,
      cost: shown(placement.cost),
      withinPolicy: one.action === "rebook",
      fields: fieldsOf(one),
    };
  }
}

/** The rules name no vendor of such a name. */
const nameless = (): string => "";

const refusal = (error: string): string => JSON.stringify({ error });

/** Undefined for what is too long or no JSON. */
const parsed = (text: string): unknown => {
  if (text.length > argumentCharsMax) return undefined;
  try {
    return JSON.parse(text.trim() || "{}");
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};

const majorOf = ({ amountMinor, currency }: Money): number => amountMinor / 10 ** minorUnitDigits(currency);

export const shown = (money: Money): string => `${money.currency} ${majorOf(money)}`;

const passes = (
  { action, hotel, placement }: Option,
  { withinPolicy, minStars, maxDistanceKm, maxNightlyRate, amenities: wanted = [] }: Omit<Filter, "need">,
): boolean => {
  const { nightlyRateMinor, currency } = placement.offer;
  return (
    (withinPolicy === undefined || withinPolicy === (action === "rebook")) &&
    (hotel.stars ?? 0) >= (minStars ?? 0) &&
    hotel.distanceKm <= (maxDistanceKm ?? hotel.distanceKm) &&
    (maxNightlyRate === undefined ||
      majorOf({ amountMinor: nightlyRateMinor, currency }) <= maxNightlyRate) &&
    wanted.every((one) => hotel.amenities.includes(one))
  );
};

/** Of one hotel's options what needs the least of the policy. */
const nearest = (a: Option, b: Option): number => fieldsOf(a).length - fieldsOf(b).length || leastFirst(a, b);

const orders: Readonly<Record<NonNullable<Filter["sortBy"]>, (a: Option, b: Option) => number>> = {
  rooms: (a, b) => fullestFirst(a.placement, b.placement),
  cost: (a, b) => a.placement.cost.amountMinor - b.placement.cost.amountMinor,
  distance: (a, b) => a.hotel.distanceKm - b.hotel.distanceKm,
  stars: (a, b) => (b.hotel.stars ?? 0) - (a.hotel.stars ?? 0),
};

/** Lists of chains and providers hold words of the airline's: those stay here. */
const figures = ({ minStars, maxDistanceKm, maxNightlyRate }: RelaxedFields = {}): unknown => ({
  minStars,
  maxDistanceKm,
  maxNightlyRate,
});
