/** Owns JSON Merge Patch (RFC 7396): the form that a patch of a resource has, and applying one. */
import Type, { type TObject, type TSchema } from "typebox";

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** RFC 7396 §2: null takes a member away, objects are merged member by member, everything else is replaced. */
export const mergePatch = <Target extends object>(target: Target, patch: object): Target => {
  const merged: Members = { ...(target as Members) };
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else if (isObject(value)) merged[name] = mergePatch(isObject(merged[name]) ? merged[name] : {}, value);
    else merged[name] = value;
  }
  return merged as Target;
};

/**
 * The form of a patch of what has this form: every member may be left out, and those that need not be there may be null.
 * Whether the result is whole is the receiver's to check.
 */
export const patchFormOf = (schema: TObject): TObject => {
  const required = new Set((schema.required as string[] | undefined) ?? []);
  return Type.Object(
    Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => {
        const form = isForm(member) ? patchFormOf(member) : member;
        return [name, Type.Optional(required.has(name) ? form : nullable(form))];
      }),
    ),
  );
};

const isForm = (schema: TSchema): schema is TObject => "properties" in schema;

/** The same schema taking null, too. */
const nullable = (schema: TSchema): TSchema => {
  const { type, enum: values, ...rest } = schema as { type?: string; enum?: unknown[] };
  return Type.Unsafe({
    ...rest,
    ...(type === undefined ? {} : { type: [type, "null"] }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
};
