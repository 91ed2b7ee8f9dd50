/** Owns making an example value out of a schema, for descriptions and for tests that need a body that fits. */
import type { TSchema } from "typebox";
import { fieldExamples } from "./field-examples.ts";

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

const isOfType = (value: unknown, { type }: SchemaNode): boolean =>
  type === undefined || typeof value === (type === "integer" ? "number" : type);

/**
 * A value that fits, with every member filled in; the schema's own examples come first.
 * @param name of the member that it is, if any
 */
export const exampleOf = (schema: TSchema, name?: string): unknown => {
  const node = schema as SchemaNode;
  const given = node.examples?.[0] ?? node.const ?? node.enum?.[0] ?? node.default;
  if (given !== undefined) return given;
  if (node.allOf !== undefined) return Object.assign({}, ...node.allOf.map((part) => exampleOf(part)));
  if (node.anyOf?.[0] !== undefined) return exampleOf(node.anyOf[0], name);
  const named = name === undefined ? undefined : fieldExamples[name];
  if (named !== undefined && isOfType(named, node)) return named;
  switch (node.type) {
    case "object":
      return Object.fromEntries(
        Object.entries(node.properties ?? {}).map(([member, property]) => [
          member,
          exampleOf(property, member),
        ]),
      );
    case "array":
      return node.items === undefined
        ? []
        : Array(Math.max(node.minItems ?? 1, 1)).fill(exampleOf(node.items, name));
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
