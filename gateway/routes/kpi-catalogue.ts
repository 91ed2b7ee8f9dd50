/** Owns the catalogue of key figures as the descriptions print it. */
import { kpis } from "../../schemas/metrics.ts";

export const kpiCatalogue = Object.entries(kpis)
  .map(([name, { unit, definition }]) => `- \`${name}\` (${unit}): ${definition}`)
  .join("\n");
