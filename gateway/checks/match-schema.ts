/** Owns validation: schemas compiled once, what fits stripped of unknown members, and what doesn't told with a pointer and a sentence. */
import { Ajv, type ErrorObject, type Options } from "ajv";
import type { TObject, TSchema } from "typebox";
import { compiledWhenUsed, quicklyCompiled, withFormats } from "../../schemas/formats.ts";
import { pageLimitMax } from "../../schemas/page.ts";
import type { FieldError } from "../../schemas/problems.ts";
import { Problem } from "../../schemas/problems.ts";
import { urnKeyword } from "../../schemas/urn.ts";
import { isPrintable, pointerOf } from "./read-json.ts";

export type Values = Record<string, unknown>;

/** Gives back what fits, without members that the schema does not know. @throws Problem */
export type MatchBody = (value: unknown, bytes: number) => Values;
export type MatchQuery = (text: string) => Values;
/** Whether the decoded path parameters can name anything at all. */
export type MatchParams = (values: Values) => boolean;

/** All errors are looked for up to this size only: a large hostile body would make one for each of its items. */
const fullReportBytesMax = 256 * 1024;
const errorsMax = 50;

const createAjv = (options: Options): Ajv => {
  const ajv = withFormats(
    new Ajv({ removeAdditional: "all", verbose: true, ...quicklyCompiled, ...options }),
  );
  ajv.addKeyword(urnKeyword);
  return ajv;
};

const bodies = createAjv({});
/** Leaves unknown members where they are: those of a body that takes none are told. */
const bodyReports = createAjv({ allErrors: true, removeAdditional: false });
const texts = createAjv({ coerceTypes: true, useDefaults: true, allErrors: true });

/**
 * A schema with `additionalProperties: false` refuses what it does not know; all others leave it behind.
 * @throws Error at start, for a schema in which unknown members could not be told from known ones
 */
export const compileBody = (schema: TObject): MatchBody => {
  refuseMixedObjects(schema);
  const isStrict = (schema as { additionalProperties?: unknown }).additionalProperties === false;
  const fits = (isStrict ? bodyReports : bodies).compile(schema);
  // A start needn't wait for what may never come.
  const report = compiledWhenUsed(bodyReports, schema);
  const mayBeAbsent = ((schema.required as string[] | undefined) ?? []).length === 0;
  return (value, bytes) => {
    if (value === undefined && !mayBeAbsent)
      throw new Problem("validation/malformed", "The body is empty; a JSON object is expected.");
    const body = value ?? {};
    if (fits(body)) return body as Values;
    const first = fits.errors ?? [];
    const errors = bytes <= fullReportBytesMax && !report(body) ? (report.errors ?? first) : first;
    throw new Problem("validation/body", "Correct the fields named in `errors` and send the body again.", {
      errors: fieldErrors(errors, (error) => pointerTo(error)),
    });
  };
};

export const compileQuery = (schema: TObject): MatchQuery => {
  const fits = texts.compile(schema);
  const paged = "cursor" in schema.properties;
  return (text) => {
    const query = parseQuery(text, paged);
    if (fits(query)) {
      if (typeof query.limit === "number") query.limit = Math.min(query.limit, pageLimitMax);
      return query;
    }
    throw badQuery(fieldErrors(fits.errors ?? [], (error) => `?${pointerTo(error).slice(1)}`));
  };
};

export const compileParams = (schema: TObject): MatchParams => texts.compile(schema);

const parseQuery = (text: string, paged: boolean): Values => {
  const query: Values = Object.create(null);
  if (text === "") return query;
  for (const [name, value] of new URLSearchParams(text)) {
    if (paged && (name === "offset" || name === "page"))
      throw badQuery([
        { pointer: `?${name}`, detail: "is not supported: follow `nextCursor` with `cursor`" },
      ]);
    if (name in query) throw badQuery([{ pointer: `?${name}`, detail: "is given twice" }]);
    if (!isPrintable(value))
      throw badQuery([{ pointer: `?${name}`, detail: "must not hold control characters" }]);
    query[name] = value;
  }
  return query;
};

const badQuery = (errors: FieldError[]): Problem =>
  new Problem("validation/query", "Correct the query parameters named in `errors`.", { errors });

const fieldErrors = (
  errors: readonly ErrorObject[],
  pointer: (error: ErrorObject) => string,
): FieldError[] => {
  const told = new Map<string, FieldError>();
  for (const error of errors) {
    const field = { pointer: pointer(error), detail: explain(error) };
    told.set(`${field.pointer} ${field.detail}`, field);
    if (told.size === errorsMax) break;
  }
  return [...told.values()];
};

/** A missing member is pointed at where it should stand, one too many where it stands. */
const pointerTo = ({ instancePath, params }: ErrorObject): string => {
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  const member = missingProperty ?? additionalProperty;
  return member === undefined ? instancePath : instancePath + pointerOf([member]);
};

const formatNames: Readonly<Record<string, string>> = {
  "date-time": "a time in ISO 8601 with its zone, such as 2026-11-21T21:30:00Z",
  uri: "a URI",
};

/** One clause that completes "this field …", fit for somebody who has never seen the schema. */
const explain = (error: ErrorObject): string => {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return "is required";
    case "additionalProperties":
      return "is not taken here";
    case "type":
      return `must be ${article(String(params.type))}`;
    case "enum":
      return `must be one of ${(params.allowedValues as unknown[]).join(", ")}`;
    case "format":
      return `must be ${formatNames[String(params.format)] ?? `in the form ${String(params.format)}`}`;
    case "urn":
      return `must be a URN of the kind ${(error.schema as string[]).join(" or ")}${example(error)}`;
    case "pattern":
      return `has the wrong form${example(error) || ` (pattern ${String(params.pattern)})`}`;
    default:
      return error.message ?? "is not valid";
  }
};

const article = (type: string): string => `${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;

const example = (error: ErrorObject): string => {
  const [first] = ((error.parentSchema as TSchema & { examples?: unknown[] }).examples ?? []) as unknown[];
  return first === undefined ? "" : `, such as ${String(first)}`;
};

/**
 * Unknown members are removed object by object, so an object described in several parts (allOf, anyOf, oneOf)
 * would lose what another part knows.
 */
const refuseMixedObjects = (schema: TSchema, mixed = false): void => {
  const node = schema as Record<string, unknown>;
  if (mixed && "properties" in node) throw new Error("a request schema must not mix object schemas");
  for (const [key, value] of Object.entries(node)) {
    const inside = mixed || key === "allOf" || key === "anyOf" || key === "oneOf";
    if (value !== null && typeof value === "object") refuseMixedObjects(value as TSchema, inside);
  }
};
