/** Owns the settings' reference as text, made from their schema so that it cannot differ from what is checked. */
import type { TObject } from "typebox";

interface Setting {
  type?: string;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
}

const formOf = ({ type, enum: values, pattern, minimum, maximum }: Setting): string => {
  if (values !== undefined) return values.join(" | ");
  if (minimum !== undefined) return `${type} ${minimum}–${maximum ?? ""}`;
  return pattern === undefined ? (type ?? "") : `${type} ${pattern}`;
};

/** One setting after the other: name, form, default or that it is required, meaning. */
export const settingsReference = (environment: TObject): string => {
  const required = new Set<string>(environment.required);
  return Object.entries(environment.properties as Record<string, Setting>)
    .map(([name, setting]) => {
      const given =
        setting.default === undefined
          ? required.has(name)
            ? "required"
            : "optional"
          : `default ${setting.default}`;
      const meaning = setting.description === undefined ? "" : `\n      ${setting.description}`;
      return `  ${name}  (${formOf(setting)}; ${given})${meaning}`;
    })
    .join("\n");
};
