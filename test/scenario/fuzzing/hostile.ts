// What nobody in their right mind sends: values, names, texts and bodies that break services elsewhere; as arbitraries.
import fc from "fast-check";

/** Operators of the query language, names that reach prototypes, paths, and what parsers trip over. */
const names = [
  "$ne",
  "$gt",
  "$where",
  "$set",
  "$expr",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "a.b",
  "a.$.b",
  "",
  " ",
  "0",
  "length",
  "\u0000",
  "\u202e",
];

export const hostileName = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 12, unit: "binary" }));

const texts = [
  "",
  " ",
  "null",
  "undefined",
  "[object Object]",
  "\u0000",
  "a\u0000b",
  "\u001b[31m",
  "\r\nX-Injected: 1",
  "../../etc/passwd",
  "..%2f..%2f",
  "%",
  "%zz",
  "%c0%af",
  "$ne",
  '{"$gt":""}',
  "';--",
  "<script>alert(1)</script>",
  "{{7*7}}",
  "\u{1F6CC}\u{1F3FD}",
  "\u202eXN",
  "ＸＮ",
  "İ",
  "\ud800",
  "\udfff\ud800",
  "1e400",
  "-0",
  "0x10",
  "9007199254740993",
  "2026-02-30T25:61:61Z",
  "+275760-09-13T00:00:00.001Z",
  "0000-00-00T00:00:00Z",
  "2016-12-31T23:59:60Z",
  "2026-11-21T21:30:00+05",
  "urn:",
  "urn:case:",
  "urn:case:XN-",
  "urn:case:$ne",
  "urn:case:QZ-01JD0000000000000000000000",
  "urn:stopover:case:QZ-01JD0000000000000000000000",
  "URN:CASE:QZ-01JD0000000000000000000000",
  "urn:case:XN-01JD0000000000000000000000:vendor:x:status:y",
  "urn:airline:QZ",
];

export const hostileText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 2, arbitrary: fc.string({ maxLength: 40, unit: "binary" }) },
  { weight: 1, arbitrary: fc.constantFrom(300, 3000).map((length) => "x".repeat(length)) },
);

const hostileNumber = fc.constantFrom(
  -1,
  -0,
  0.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 53) - 2,
  1e21,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
);

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = wrap(value);
  return value;
};

const deep = fc
  .tuple(fc.constantFrom(5, 31, 33, 500), fc.boolean())
  .map(([depth, list]) => nested(depth, (inner) => (list ? [inner] : { a: inner })));

/** As a parser does it: `__proto__` becomes a member like any other. */
const putMember = <Holder extends object>(holder: Holder, name: string, value: unknown): Holder =>
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, [], {}, [[]], [null], {}),
  fc
    .tuple(hostileName, fc.oneof(hostileText, hostileNumber))
    .map(([name, value]) => putMember({}, name, value)),
  fc.constantFrom(50, 2000).map((length) => Array.from({ length }, (_, i) => i)),
  deep,
);

/** Where a change is made, and which. */
const change = fc.record({
  place: fc.nat(),
  kind: fc.constantFrom("replace", "replace", "remove", "add", "repeat"),
  name: hostileName,
  value: hostileValue,
});

type Change =
  fc.Arbitrary<Awaited<typeof change>> extends fc.Arbitrary<fc.Arbitrary<infer Value>> ? Value : never;

interface Place {
  holder: Record<string, unknown> | unknown[];
  key: string;
}

const placesIn = (value: unknown): Place[] => {
  if (value === null || typeof value !== "object") return [];
  const holder = value as Place["holder"];
  return Object.keys(holder).flatMap((key) => [
    { holder, key },
    ...placesIn((holder as Record<string, unknown>)[key]),
  ]);
};

const apply = (body: Record<string, unknown>, { place, kind, name, value }: Change) => {
  const places = placesIn(body);
  const { holder, key } = places[place % Math.max(1, places.length)] ?? { holder: body, key: name };
  const members = holder as Record<string, unknown>;
  if (kind === "replace") members[key] = value;
  else if (kind === "remove" && Array.isArray(holder)) holder.length = 0;
  else if (kind === "remove") delete members[key];
  else if (kind === "repeat" && Array.isArray(holder)) holder.push(...structuredClone(holder));
  else if (!Array.isArray(holder)) putMember(members, name, value);
  return body;
};

/** A body that would fit, with up to three places spoilt; none: it fits. */
const spoilt = (fitting: Record<string, unknown>): fc.Arbitrary<string> =>
  fc
    .array(change, { maxLength: 3 })
    .map((changes) => JSON.stringify(changes.reduce(apply, structuredClone(fitting))) ?? "");

const brokenTexts = [
  "",
  " ",
  "null",
  "[]",
  "0",
  '"text"',
  "{",
  '{"a":}',
  "{'a':1}",
  '{"a":1}{"a":2}',
  '{"a":1,"a":2}',
  '{"__proto__":{"role":"ADMIN"}}',
  '{"a":1e400}',
  '{"a":00}',
  '{"a":"\u0000"}',
  '{"a":"\\ud800"}',
  "\ufeff{}",
  "<xml/>",
  "a=b&c=d",
];

/** Bodies as bytes: spoilt ones, broken JSON, and bytes that are no text. */
export const bodyBytes = (fitting: Record<string, unknown>): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 6, arbitrary: spoilt(fitting).map((text) => Buffer.from(text)) },
    { weight: 2, arbitrary: fc.constantFrom(...brokenTexts).map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.nat({ max: 2000 }).map((at) => {
        const whole = Buffer.from(JSON.stringify(fitting));
        return whole.subarray(0, at % Math.max(1, whole.length));
      }),
    },
  );
