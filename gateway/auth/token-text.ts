/** Owns what a token's text must be like before and beside what it says: one way to write it, and each name once. */

/**
 * Three parts in base64url as RFC 7515 §2 has it. Decoders are lenient (padding, white space, left-over bits), so that one token
 * could be written in many ways, and go by as many digests.
 */
export const isCanonicalToken = (token: string): boolean => {
  const parts = token.split(".");
  return (
    parts.length === 3 &&
    parts.every((part) => part !== "" && Buffer.from(part, "base64url").toString("base64url") === part)
  );
};

/** Whether the header or the claims have two members of one name (RFC 7515 §4, RFC 7519 §4): readers differ in which one counts. */
export const namesRepeatedIn = (token: string): boolean =>
  token.split(".", 2).some((part) => hasRepeatedName(Buffer.from(part, "base64url").toString("utf8")));

const lexeme = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** @param json well formed */
const hasRepeatedName = (json: string): boolean => {
  const objects: Set<string>[] = [];
  let text = "";
  for (const [found] of json.matchAll(lexeme)) {
    if (found === "{" || found === "[") objects.push(new Set());
    else if (found === "}" || found === "]") objects.pop();
    else if (found !== ":") text = found;
    else {
      const names = objects.at(-1);
      const name = JSON.parse(text) as string;
      if (names === undefined || names.has(name)) return true;
      names.add(name);
    }
  }
  return false;
};
