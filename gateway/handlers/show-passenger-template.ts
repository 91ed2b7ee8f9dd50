/** Owns the empty spreadsheet that passengers can be sent in; what its columns are called is `passenger-file/headers.ts`. */
import { cabins, type Language, loyaltyTiers } from "../../schemas/vocabulary.ts";
import { csvOf } from "../csv.ts";
import { templateColumns } from "../passenger-file/headers.ts";
import type { Handler } from "./handlers.ts";

/** Of each column an example, or all that it takes. */
const takes: Readonly<Record<(typeof templateColumns)[number]["field"], string>> = {
  pnr: "K7QX2M",
  lastName: "Lovelace",
  firstName: "Ada",
  cabinClass: cabins.join(" · "),
  loyaltyTier: loyaltyTiers.join(" · "),
  passengerType: "ADULT · CHILD · INFANT",
  specialRequirements: "WCHR, INFANT_COT",
  email: "ada@example.com",
  phone: "+12025550143",
  language: "en",
};

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
      data: templateColumns.map(({ field }, i) => [text(headers[i] ?? "", true), text(takes[field])]),
      columns: [{ width: 30 }, { width: 60 }],
    },
  ]).toBuffer();
};
