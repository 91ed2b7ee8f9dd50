/** Owns the check of provisioning commands: they come from administrators' tools, past no gateway. */
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import type { Static, TSchema } from "typebox";
import { Problem } from "../../schemas/problems.ts";

const ajv = addFormats.default(new Ajv({ allErrors: true }));

/**
 * A check that gives back what it was given.
 * @throws Problem validation/body naming each place
 */
export const checkedBy = <Schema extends TSchema>(schema: Schema): ((data: unknown) => Static<Schema>) => {
  const validate = ajv.compile(schema);
  return (data) => {
    if (validate(data)) return data as Static<Schema>;
    const errors = (validate.errors ?? []).map(({ instancePath, keyword, params, message }) => ({
      pointer: keyword === "required" ? `${instancePath}/${params.missingProperty}` : instancePath,
      detail: keyword === "required" ? "is missing" : (message ?? keyword),
    }));
    const [first] = errors;
    throw new Problem("validation/body", `${first?.pointer || "/"}: ${first?.detail}.`, { errors });
  };
};
