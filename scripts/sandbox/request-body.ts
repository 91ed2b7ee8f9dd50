/** Owns what a body says, of JSON and of forms. */

type Fields = { [name: string]: string | Fields | (string | Fields)[] };

/** Names that only objects themselves have are no fields. */
const isName = (name: string): boolean => !(name in {});

const listed = (value: string | Fields): string | Fields | (string | Fields)[] => {
  if (typeof value === "string") return value;
  const entries = Object.entries(value).map(
    ([name, one]) => [name, Array.isArray(one) ? one : listed(one)] as const,
  );
  const isList = entries.length > 0 && entries.every(([name], i) => name === String(i));
  return isList ? entries.map(([, one]) => one as string | Fields) : Object.fromEntries(entries);
};

/** As vendors read forms: `a[b][0][c]=1` is `{ a: { b: [{ c: "1" }] } }`; all values are texts. */
const fieldsOf = (text: string): unknown => {
  const fields: Fields = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [
      name.replace(/\[.*$/s, ""),
      ...[...name.matchAll(/\[([^[\]]*)\]/g)].map(([, part]) => part!),
    ];
    if (!path.every(isName)) continue;
    let place = fields;
    for (const part of path.slice(0, -1)) {
      const next = place[part];
      const inner: Fields = typeof next === "object" && !Array.isArray(next) ? next : {};
      place[part] = inner;
      place = inner;
    }
    place[path.at(-1)!] = value;
  }
  return listed(fields);
};

/** Undefined: it is neither. */
export const bodyOf = (text: string, mediaType = ""): unknown =>
  mediaType.startsWith("application/x-www-form-urlencoded") ? fieldsOf(text) : parseJson(text);

const parseJson = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    // Undefined fails every body schema, which is how the caller hears of it.
    return undefined;
  }
};
