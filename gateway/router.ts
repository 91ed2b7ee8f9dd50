/** Owns finding the row of a request: method and path against every route, compiled once into a tree of segments. */
import { Problem } from "../schemas/problems.ts";

export interface Match<Row> {
  row: Row;
  /** Decoded values of the path's parameters, in their order. */
  values: string[];
}

interface Served<Row> {
  rows: Map<string, Row>;
  /** For `Allow`, ready to send. */
  allow: string[];
}

interface Segment<Row> {
  fixed: Map<string, Segment<Row>>;
  parameter: Segment<Row> | undefined;
  served: Served<Row> | undefined;
}

const emptySegment = <Row>(): Segment<Row> => ({ fixed: new Map(), parameter: undefined, served: undefined });

export class Router<Row> {
  readonly #root: Segment<Row> = emptySegment();

  /**
   * @param isSafe false: a GET that has an effect, and so no HEAD
   * @throws Error when the method and path are taken: two rows must never compete
   */
  add(method: string, path: string, row: Row, isSafe = true): void {
    let segment = this.#root;
    for (const part of path.split("/").slice(1)) segment = child(segment, part);
    segment.served ??= { rows: new Map(), allow: [] };
    const { rows } = segment.served;
    if (rows.has(method)) throw new Error(`two routes for ${method} ${path}`);
    rows.set(method, row);
    // RFC 9110 §9.3.2: where GET is served HEAD is too.
    if (method === "GET" && isSafe) rows.set("HEAD", row);
    segment.served.allow = [...rows.keys(), "OPTIONS"].sort();
  }

  /**
   * @param path percent-encoded, without the query
   * @throws Problem not-found/route, not-found/method (with `allow`), validation/malformed
   */
  match(method: string, path: string): Match<Row> {
    const { served, values } = this.#find(path);
    const row = served.rows.get(method);
    if (row === undefined)
      throw new Problem("not-found/method", `Use one of ${served.allow.join(", ")}.`, {
        allow: served.allow,
      });
    return { row, values: values.map(decode) };
  }

  /** The methods served under a path. @throws Problem not-found/route */
  allowed(path: string): string[] {
    return this.#find(path).served.allow;
  }

  #find(path: string): { served: Served<Row>; values: string[] } {
    const values: string[] = [];
    const served = walk(this.#root, path.split("/"), 1, values);
    if (served === undefined)
      throw new Problem("not-found/route", "See the OpenAPI descriptions for what is served.");
    return { served, values };
  }
}

const child = <Row>(segment: Segment<Row>, part: string): Segment<Row> => {
  if (part.startsWith("{")) {
    segment.parameter ??= emptySegment();
    return segment.parameter;
  }
  const known = segment.fixed.get(part);
  if (known !== undefined) return known;
  const made = emptySegment<Row>();
  segment.fixed.set(part, made);
  return made;
};

/** A fixed segment wins over a parameter; where it leads nowhere the parameter is tried. */
const walk = <Row>(
  segment: Segment<Row>,
  parts: readonly string[],
  index: number,
  values: string[],
): Served<Row> | undefined => {
  const part = parts[index];
  if (part === undefined) return segment.served;
  const fixed = segment.fixed.get(part);
  const found = fixed && walk(fixed, parts, index + 1, values);
  if (found !== undefined) return found;
  if (segment.parameter === undefined || part === "") return undefined;
  values.push(part);
  const below = walk(segment.parameter, parts, index + 1, values);
  if (below === undefined) values.pop();
  return below;
};

const decode = (part: string): string => {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Problem("validation/malformed", "The path is not percent-encoded UTF-8.");
  }
};
