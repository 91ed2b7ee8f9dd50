/** Owns the tenant check: every place where a schema lets a URN stand is looked at, and put into the short written form. */
import type { TSchema } from "typebox";
import { Problem } from "../../schemas/problems.ts";
import { parseUrn, urn } from "../../schemas/urn.ts";

type Place = Record<string | number, unknown>;
/** Gives back the first URN of another tenant. */
type Visit = (holder: Place, key: string | number, tenant: string) => string | undefined;

/** @throws Problem auth/foreign-tenant */
export type CheckUrns = (values: Record<string, unknown>, tenant: string) => void;

/**
 * The check of one validated value, compiled once so that a request walks only the places that can hold a URN.
 * Undefined when there is none. Kinds that carry no tenant pass.
 */
export const compileUrnCheck = (schema: TSchema | undefined): CheckUrns | undefined => {
  const visit = schema === undefined ? undefined : compile(schema);
  if (visit === undefined) return undefined;
  return (values, tenant) => {
    const foreign = visit({ values }, "values", tenant);
    if (foreign !== undefined)
      throw new Problem("auth/foreign-tenant", `${foreign} belongs to another airline.`);
  };
};

interface SchemaNode {
  urn?: string[];
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
  allOf?: TSchema[];
  anyOf?: TSchema[];
  oneOf?: TSchema[];
}

const compile = (schema: TSchema): Visit | undefined => {
  const node = schema as SchemaNode;
  if (node.urn !== undefined) return visitUrn;
  const parts: (Visit | undefined)[] = [node.allOf, node.anyOf, node.oneOf].flatMap((list) =>
    (list ?? []).map(compile),
  );
  if (node.items !== undefined) parts.push(eachItem(compile(node.items)));
  for (const [name, property] of Object.entries(node.properties ?? {}))
    parts.push(member(name, compile(property)));
  for (const property of Object.values(node.patternProperties ?? {})) parts.push(eachItem(compile(property)));
  return inTurn(parts.filter((part) => part !== undefined));
};

const visitUrn: Visit = (holder, key, tenant) => {
  const text = holder[key];
  const parsed = typeof text === "string" ? parseUrn(text) : undefined;
  if (parsed === undefined) return undefined;
  if (parsed.tenant !== undefined && parsed.tenant !== tenant) return text as string;
  holder[key] = urn(parsed.kind, parsed.id);
  return undefined;
};

const member = (name: string, visit: Visit | undefined): Visit | undefined =>
  visit &&
  ((holder, key, tenant) => {
    const value = holder[key];
    return isPlace(value) && Object.hasOwn(value, name) ? visit(value, name, tenant) : undefined;
  });

const eachItem = (visit: Visit | undefined): Visit | undefined =>
  visit &&
  ((holder, key, tenant) => {
    const value = holder[key];
    if (!isPlace(value)) return undefined;
    for (const name of Object.keys(value)) {
      const foreign = visit(value, name, tenant);
      if (foreign !== undefined) return foreign;
    }
    return undefined;
  });

const inTurn = (visits: Visit[]): Visit | undefined => {
  if (visits.length <= 1) return visits[0];
  return (holder, key, tenant) => {
    for (const visit of visits) {
      const foreign = visit(holder, key, tenant);
      if (foreign !== undefined) return foreign;
    }
    return undefined;
  };
};

const isPlace = (value: unknown): value is Place => value !== null && typeof value === "object";
