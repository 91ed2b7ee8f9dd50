/** Owns making an example value out of a schema, for descriptions and for tests that need a body that fits. */
import type { TSchema } from "typebox";

interface SchemaNode {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  format?: string;
  minimum?: number;
  minItems?: number;
  properties?: Record<string, TSchema>;
  items?: TSchema;
  allOf?: TSchema[];
  anyOf?: TSchema[];
}

/** A value that fits, with every member filled in; the schema's own examples come first. */
export const exampleOf = (schema: TSchema): unknown => {
  const node = schema as SchemaNode;
  const given = node.examples?.[0] ?? node.const ?? node.enum?.[0] ?? node.default;
  if (given !== undefined) return given;
  if (node.allOf !== undefined) return Object.assign({}, ...node.allOf.map(exampleOf));
  if (node.anyOf?.[0] !== undefined) return exampleOf(node.anyOf[0]);
  switch (node.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(node.properties ?? {}).map(([name, property]) => [name, exampleOf(property)]),
      );
    case "array":
      return node.items === undefined
        ? []
        : Array(Math.max(node.minItems ?? 1, 1)).fill(exampleOf(node.items));
    case "integer":
    case "number":
      return Math.max(node.minimum ?? 1, 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return node.format === "date-time" ? "2026-11-21T21:30:00Z" : "text";
  }
};
