/** Owns how validators of this project are made: the text formats that schemas name, and what their compiling costs at each start. */
import type { Ajv, AnySchema, ErrorObject } from "ajv";
import addFormats from "ajv-formats";
import { fullFormats } from "ajv-formats/dist/formats.js";

/**
 * Ajv's own optimisation of the code that it writes takes as long as all the rest of the compiling, and the engine does it again. That a
 * schema is one needs no checking where TypeBox has made it; strict mode still refuses keywords that nobody knows.
 */
export const quicklyCompiled = { code: { optimize: false }, validateSchema: false } as const;

const validateOf = (format: unknown): ((text: string) => boolean) =>
  (format as { validate(text: string): boolean }).validate;

/**
 * RFC 3339 lets a leap second pass, ISO 8601 an offset of hours alone; to JavaScript neither is a time, and whoever calculates with
 * it would fail.
 */
const isTime = (text: string): boolean =>
  validateOf(fullFormats["date-time"])(text) && !Number.isNaN(Date.parse(text));

/** Adds them. @returns the same validator */
export const withFormats = (ajv: Ajv): Ajv => {
  // ajv-formats is CommonJS: its callable stands under `default` for the type checker alone.
  (addFormats as unknown as (instance: Ajv) => void)(ajv);
  return ajv.addFormat("date-time", isTime);
};

/** Whether a value is of a schema's shape; `errors` are what was wrong with the last. */
export interface Validator<Shape> {
  (value: unknown): value is Shape;
  readonly errors?: ErrorObject[] | null | undefined;
}

/**
 * Compiled with the first value that it is asked about: a process has schemas for far more than it will ever see, and compiling them
 * all was a tenth of its start. @throws Error then, for a schema that `ajv` does not take
 */
export const compiledWhenUsed = <Shape>(ajv: Ajv, schema: AnySchema): Validator<Shape> => {
  let compiled: Validator<Shape> | undefined;
  const isShape = (value: unknown): value is Shape => {
    compiled ??= ajv.compile<Shape>(schema);
    return compiled(value);
  };
  return Object.defineProperty(isShape, "errors", { get: () => compiled?.errors });
};
