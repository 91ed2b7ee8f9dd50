/** Owns the check of what the sandbox is told, by vendors' clients and at its control address, against schemas. */
import { Ajv } from "ajv";
import type { Static, TSchema } from "typebox";
import { compiledWhenUsed, quicklyCompiled, type Validator, withFormats } from "../../schemas/formats.ts";

const ajv = withFormats(new Ajv({ strict: true, ...quicklyCompiled }));

export const isOf = <Schema extends TSchema>(schema: Schema): Validator<Static<Schema>> =>
  compiledWhenUsed(ajv, schema);

/** The first thing that the last value was refused for, with its place. */
export const wrongIn = ({ errors }: Pick<Validator<unknown>, "errors">): string => {
  const [first] = errors ?? [];
  const extra = first?.params.additionalProperty;
  return `${first?.instancePath || "/"} ${first?.message}${extra ? `: ${extra}` : ""}`;
};

/** What it gives back is what it was told. @throws TypeError naming the first member that is wrong */
export const readerOf = <Schema extends TSchema>(schema: Schema): ((told: unknown) => Static<Schema>) => {
  const fits = isOf(schema);
  return (told) => {
    if (fits(told)) return told;
    throw new TypeError(wrongIn(fits));
  };
};
