/** Owns the check of what no gateway has checked: provisioning commands, which come from administrators' tools, and what a patch makes. */
import { Ajv } from "ajv";
import type { Static, TSchema } from "typebox";
import { compiledWhenUsed, quicklyCompiled, withFormats } from "../../schemas/formats.ts";
import { Problem } from "../../schemas/problems.ts";

const ajv = withFormats(new Ajv({ allErrors: true, keywords: ["urn"], ...quicklyCompiled }));

/** Whether something is of a schema's shape. */
export const fitting = <Schema extends TSchema>(
  schema: Schema,
): ((data: unknown) => data is Static<Schema>) => compiledWhenUsed(ajv, schema);

/** Beyond these one has more to do than to read the rest. */
const errorsMax = 50;

/**
 * A check that gives back what it was given.
 * @param said in place of the first error, which names its place
 * @throws Problem validation/body naming each place
 */
export const checkedBy = <Schema extends TSchema>(
  schema: Schema,
  said?: string,
): ((data: unknown) => Static<Schema>) => {
  const validate = compiledWhenUsed<Static<Schema>>(ajv, schema);
  return (data) => {
    if (validate(data)) return data;
    const errors = (validate.errors ?? [])
      .slice(0, errorsMax)
      .map(({ instancePath, keyword, params, message }) => ({
        pointer: keyword === "required" ? `${instancePath}/${params.missingProperty}` : instancePath,
        detail: keyword === "required" ? "is missing" : (message ?? keyword),
      }));
    const [first] = errors;
    throw new Problem("validation/body", said ?? `${first?.pointer || "/"}: ${first?.detail}.`, { errors });
  };
};
