/** Owns reading the limits that a hotel is held to: stars, distance, nightly rate; and the other amounts and counts of a room. */
import { type Quantity, readQuantities } from "./bounds.ts";
import type { Prompt } from "./folded.ts";
import { currenciesOf, currencyPattern } from "./money.ts";
import { asks, is, type Reader, type Reading } from "./reading.ts";

const stars = "/constraints/minStars";
const distance = "/constraints/maxDistanceKm";
const rate = "/constraints/maxNightlyRate";

const exactOnly = "Which figure exactly?";
const oneFigure = "Is this figure read rightly? Write it in digits, without signs between thousands.";

/** A limit from above: the rest of a range, or one from below, can't be said. */
const upper = (
  found: Quantity,
  pointer: string,
  what: string,
  value: (figure: number) => unknown,
): Reading[] => {
  const { span, bound, values, isUncertain } = found;
  if (isUncertain) return [asks(span, oneFigure, pointer)];
  if (bound === "about") return [asks(span, exactOnly, pointer)];
  const low = `A policy has no lower limit of ${what}. Is there an upper one?`;
  if (values.length === 1)
    return bound === "at-least" || bound === "more-than"
      ? [asks(span, low, pointer)]
      : [is(span, pointer, value(values[0] as number))];
  const largest = Math.max(...values);
  const ignored = `A policy has no lower limit of ${what}: only the upper end is taken. Is that enough?`;
  return [is(span, pointer, value(largest)), asks(span, ignored, pointer)];
};

export const readStars: Reader = (prompt) => {
  const form = {
    after:
      "(?:-?\\s*(?:stars?|estrellas?|estrelas?)(?![\\p{L}])(?:-?\\s*(?:rating|rated|category))?|\\s?[*★])",
    topics:
      "hotels?|hoteles|hoteis|hotel|category|categoria|rating|rated|stars|rooms?|habitacion(?:es)?|quartos?|properties|alojamientos?|hospedagem|classificacao|class",
  };
  const rows = [...prompt.matches(/[*★]{2,5}/gu)].map(({ match, span }) => is(span, stars, match[0].length));
  for (const { span } of rows) prompt.take(span);
  const labelled = {
    before: "(?:stars?|estrellas?|estrelas?)\\s*[:=]?\\s*",
    after: "",
    topics: "min(?:imum)?",
  };
  const named = [form, labelled].flatMap((one) =>
    readQuantities(prompt, one, (found) => starsOf(prompt, found)),
  );
  return [...rows, ...named];
};

const starsOf = (prompt: Prompt, found: Quantity): Reading[] => {
  const { span, bound, values, isUncertain } = found;
  prompt.take(span);
  const smallest = Math.min(...values);
  if (isUncertain || bound === "about") return [asks(span, exactOnly, stars)];
  if (bound === "at-most")
    return [asks(span, "A policy has no upper limit of stars. Is there a lower one?", stars)];
  const least = bound === "more-than" ? Math.floor(smallest) + 1 : smallest;
  if (values.length === 1) return [is(span, stars, least)];
  const ignored = "A policy has no upper limit of stars: only the lower end is taken. Is that enough?";
  return [is(span, stars, least), asks(span, ignored, stars)];
};

const kmOf: readonly [RegExp, number][] = [
  [/^(?:km|kms|kilo|quilo)/, 1],
  [/^mi/, 1.609344],
  [/^m/, 0.001],
];

export const readDistance: Reader = (prompt) => {
  const units = "kms?|kilomet(?:er|re|ro)s?|quilometros?|mi|miles?|millas?|milhas?|m|met(?:er|re|ro)s?|mts?";
  const form = {
    after: `(?:${units})(?![\\p{L}\\d²])`,
    topics:
      "hotels?|hoteles|hoteis|distance|distancia|radius|radio|raio|away|lejos|longe|straight line|linea recta|linha reta|(?:from|of|to) (?:the )?(?:airport|terminal)|(?:del|al) (?:aeropuerto|terminal)|(?:do|ao) (?:aeroporto|terminal)|de la terminal|de distancia|de distance|located|ubicados?|situados?|localizados?|fiquem|esten|estejam",
  };
  return readQuantities(prompt, form, (found) => {
    const [, unit = ""] = found.unit;
    // Metres come by the thousand, and kilometres with decimals.
    const isUncertain = found.isUncertain || (found.isAmbiguous && !/^m(?!i)/.test(unit));
    const [, factor] = kmOf.find(([name]) => name.test(unit)) ?? [/^/, 1];
    prompt.take(found.span);
    const km = (figure: number): number => Math.round(figure * factor * 100) / 100;
    return upper({ ...found, isUncertain }, distance, "distance", km);
  });
};

/** How near is for the policy to say. */
export const readNearness: Reader = (prompt) => {
  const pattern =
    /(?<![\p{L}])(?:(?:very |as )?(?:near|close|nearby|next)(?: as possible)?(?: to)?|walking distance(?: (?:from|of|to))?|(?:muy |lo mas )?(?:cerca|cercan[oa]s?|proxim[oa]s?|junto)(?: posible)?(?: (?:de(?:l)?|al?))?|(?:bem |o mais )?(?:perto|proxim[oa]s?)(?: possivel)?(?: (?:de|do|da|ao|a))?)(?: (?:the |el |la |o )?(?:airport|terminal|aeropuerto|aeroporto))?(?![\p{L}])/gu;
  return [...prompt.matches(pattern)].map(({ span }) => {
    prompt.take(span);
    return asks(span, "How many kilometres away at most?", distance);
  });
};

const perNight =
  "(?:per|a|each|every|/) ?(?:room )?(?:and |per )?night|nightly|(?:por|la|cada|a|/) ?(?:noche|noite)|a noite|diarias?|(?:per|por|/) ?(?:room|habitacion|quarto|cuarto)";
const rateTopics = `${perNight}|rates?|prices?|pric(?:ed|ing)|costs?|costing|spend|pay|budget|room rate|hotels?|hoteles|hoteis|rooms?|habitacion(?:es)?|quartos?|cuartos?|tarifas?|precios?|precos?|coste|custo|costo|valor|gasto|gastar|pagar|presupuesto|orcamento|cuesten|custem|custar`;
const notByNight =
  /\b(?:total|altogether|overall|per stay|per (?:person|passenger|head|guest)|por (?:estancia|estadia|estada|persona|pessoa|pasajero|passageiro)|en total|no total)\b/;
const incidentalTopics =
  "incidentals?|extras?|incidental expenses|gastos (?:menores|extras?|imprevistos|incidentales)|imprevistos|incidentales|despesas (?:extras?|menores)|gastos";

export const readAmounts: Reader = (prompt) => [...readIncidentals(prompt), ...readRate(prompt)];

const money = `(?:${currencyPattern})`;

/** What the card holds beside the room, of each passenger for each night. */
const readIncidentals = (prompt: Prompt): Reading[] => {
  const words = `(?:${incidentalTopics})`;
  const beside = new RegExp(`(?<![\\p{L}])${words}(?![\\p{L}])`, "u");
  return amountsIn(
    prompt,
    `${incidentalTopics}|${perNight}|per (?:passenger|person)|por (?:pasajero|persona|passageiro|pessoa)|buffer|card|tarjeta|cartao|balance|saldo|margen|margem`,
  )
    .filter(({ topics }) => beside.test(topics))
    .map(({ span, amount, currencies, isUncertain, bound }) => {
      prompt.take(span);
      const pointer = "/incidentalsMinor";
      return isUncertain || bound === "about" || bound === "between"
        ? asks(span, exactOnly, pointer)
        : { span, says: "amount", pointer, amount: { amount, currencies } };
    });
};

const readRate = (prompt: Prompt): Reading[] =>
  amountsIn(prompt, rateTopics).flatMap((found): Reading[] => {
    const { span, currencies, topics } = found;
    const clause = prompt.clauseAt(span.from);
    const around = prompt.plain.slice(clause.from, clause.to);
    if (currencies === undefined && topics === "") return [];
    prompt.take(span);
    const other = "A policy limits the rate of a room for a night. What is the limit of that?";
    if (notByNight.test(around)) return [asks(span, other, rate)];
    return upper(found, rate, "rates", (figure) => figure).map((reading) =>
      reading.says === "is"
        ? { span, says: "amount", pointer: rate, amount: { amount: reading.value as number, currencies } }
        : reading,
    );
  });

type FoundAmount = Quantity & { amount: number; currencies: readonly string[] | undefined };

/** With a currency on either side, or on none: then words beside it have to say that it is one. */
const amountsIn = (prompt: Prompt, topics: string): FoundAmount[] => {
  const forms = [
    { before: `${money}\\s?`, after: `(?:\\s?${money})?`, topics },
    { after: `\\s?${money}`, topics },
  ];
  const found = forms.flatMap((form) => readQuantities(prompt, form, (one) => [one]));
  const named = found.filter(
    ({ span }, i) =>
      !found.some((other, j) => j < i && other.span.from < span.to && span.from < other.span.to),
  );
  const bare = {
    after: `(?=\\s*(?:[.,;!?)\\n]|$|(?:${perNight}|max|como|no max|o menos|or less|ou menos)))`,
    topics: `${perNight}|rates?|prices?|tarifas?|precios?|precos?|diarias?|valor|nightly rate`,
  };
  const plain = readQuantities(prompt, bare, (one) => [one]).filter(
    ({ span, topics: said }) =>
      said !== "" && !named.some((one) => one.span.from < span.to && span.from < one.span.to),
  );
  return [
    ...named.map((one) => ({ ...one, currencies: currenciesOf(one.unit) })),
    ...plain.map((one) => ({ ...one, currencies: undefined })),
  ].map((one) => ({
    ...one,
    amount: one.values.length === 1 ? (one.values[0] as number) : Math.max(...one.values),
  }));
};

export const readOccupancy: Reader = (prompt) => {
  const form = {
    after:
      "\\s*(?:people|persons?|passengers?|guests?|personas?|pasajeros?|huespedes|pessoas?|passageiros?|hospedes?)?\\s*(?:per|in (?:a|one|each)|to a|por|a|em cada|por cada|en cada) (?:room|habitacion|quarto|cuarto)(?![\\p{L}])",
    topics: "occupancy|ocupacion|ocupacao|sharing|share|people|persons",
  };
  return readQuantities(prompt, form, ({ span, bound, values, isUncertain }) => {
    prompt.take(span);
    const isClear = !isUncertain && values.length === 1 && ["exactly", "at-most"].includes(bound);
    return [isClear ? is(span, "/maxOccupancy", values[0]) : asks(span, exactOnly, "/maxOccupancy")];
  });
};
