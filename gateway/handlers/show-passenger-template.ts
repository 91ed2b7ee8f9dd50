/** Owns the empty spreadsheet that passengers can be sent in; what its columns are called is `passenger-file/headers.ts`. */
import type { Language } from "../../schemas/vocabulary.ts";
import { csvOf } from "../csv.ts";
import { templateColumns } from "../passenger-file/headers.ts";
import type { Handler } from "./handlers.ts";

export const showPassengerTemplate: Handler = async ({ route, query }) => {
  const { language = "en" } = query as { language?: Language };
  const headers = templateColumns.map((column) => column[language]);
  const isText = route.produces === "text/csv";
  const name = `passengers-${language}.${isText ? "csv" : "xlsx"}`;
  return {
    status: route.success,
    headers: [...route.headers, ["Content-Disposition", `attachment; filename="${name}"`]],
    // Without the mark spreadsheets take accents for an old code page.
    body: isText ? `\ufeff${csvOf([headers])}` : await workbookOf(headers),
  };
};

/** Its library is loaded with the first one asked for. */
const workbookOf = async (headers: readonly string[]): Promise<Buffer> => {
  const { default: writeXlsxFile } = await import("write-excel-file/node");
  const text = (value: string, bold = false) => ({
    value,
    type: String,
    ...(bold ? { fontWeight: "bold" as const } : {}),
  });
  return writeXlsxFile([
    {
      sheet: "1",
      data: [headers.map((header) => text(header, true))],
      columns: headers.map((header) => ({ width: Math.max(16, header.length + 2) })),
    },
    {
      sheet: "2",
      // An example among the headers would be taken for somebody.
      data: templateColumns.map(({ takes }, i) => [text(headers[i] ?? "", true), text(takes)]),
      columns: [{ width: 30 }, { width: 60 }],
    },
  ]).toBuffer();
};
