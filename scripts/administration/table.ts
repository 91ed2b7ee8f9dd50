// Lays out rows for a terminal; what stands in them is the caller's.

/** Columns as wide as their widest value, two blanks apart; `none` when there are no rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "none";
  const all = [head, ...rows];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** One `name  value` a line; values that are undefined are left out. */
export function facts(pairs: Record<string, string | number | undefined>): string {
  const shown = Object.entries(pairs).filter(([, value]) => value !== undefined);
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}
