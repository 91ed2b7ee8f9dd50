/** Owns the operator rows of passengers who come in a spreadsheet: the upload, and what it can be written in. */
import Type from "typebox";
import { passengerRowsMax } from "../../../schemas/manifest-rules.ts";
import {
  PassengerFileForm,
  PassengersTaken,
  PassengerTemplateQuery,
  passengerFileBytesMax,
} from "../../../schemas/passenger-file.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const template = {
  surface: "operator",
  method: "get",
  prefixes: ["/v1"],
  role: "OPS_SUPERVISOR",
  rate: "read",
  querystring: PassengerTemplateQuery,
  handler: "showPassengerTemplate",
  success: 200,
  problems: [],
} as const;

export const passengerFileRoutes = [
  {
    id: "addPassengers",
    surface: "operator",
    method: "post",
    path: "/cases/{caseUrn}/passengers:bulk",
    prefixes: ["", "/v1"],
    summary: "Add passengers from a spreadsheet",
    description: `Takes the passengers of an .xlsx workbook (the first sheet that is not hidden) or of separated text (comma, semicolon, tab; UTF-8, UTF-16 or Windows-1252) into the case, like a partner's amendment of the manifest: one group for each booking, a wave for who is new, nothing changed for who is known. Columns are found by their headers, in English, Spanish, Portuguese, French or German, however they are written; booking reference and last name are needed. At most ${passengerRowsMax} rows. Formulas are not run: the result that was saved with them counts. Workbooks with macros or a password are refused. With an Idempotency-Key the same file may be sent again.`,
    role: "OPS_SUPERVISOR",
    rate: "write",
    params: Type.Object({ caseUrn: Urn("case") }),
    form: {
      fields: PassengerFileForm,
      file: {
        description:
          "The spreadsheet, with a file name that ends in .xlsx, .csv, .tsv or .txt, or in nothing.",
        bytesMax: passengerFileBytesMax,
      },
    },
    handler: "takePassengerFile",
    success: 202,
    response: PassengersTaken,
    problems: [
      "auth/foreign-airport",
      "conflict/state",
      "conflict/version",
      "conflict/concurrent-write",
      "upstream/unavailable",
    ],
  },
  {
    ...template,
    id: "getPassengerTemplate",
    path: "/cases/passengers:bulk-template.xlsx",
    summary: "Get an empty workbook for passengers",
    description: "Its second sheet says what the columns take.",
    produces: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    response: Type.String({ format: "binary", description: "A workbook." }),
  },
  {
    ...template,
    id: "getPassengerTemplateAsText",
    path: "/cases/passengers:bulk-template.csv",
    summary: "Get an empty table for passengers",
    description: "One line with the headers.",
    produces: "text/csv",
    response: Type.String({ examples: ["Booking reference,Last name,First name,…\r\n"] }),
  },
] as const satisfies readonly Route[];
