/** Owns the shapes of passengers who come in a spreadsheet (contract, `passengers:bulk`): the form, its answer, what the case and the trail are told. */
import Type, { type Static } from "typebox";
import { cellErrorsMax } from "./manifest-rules.ts";
import type { ManifestPatchBody } from "./partner-manifest.ts";
import { Urn } from "./urn.ts";
import { languages } from "./vocabulary.ts";

export const passengerFileBytesMax = 10 * 1024 * 1024;

/** What stands in the form beside `file`. */
export const PassengerFileForm = Type.Object({
  mode: Type.Optional(
    Type.Enum(["all", "report"], {
      default: "all",
      description:
        "`all`: nobody is taken when a row is wrong. `report`: the good rows are taken, the wrong ones told.",
    }),
  ),
});
export type PassengerFileForm = Static<typeof PassengerFileForm>;

export const passengerFileFormats = ["xlsx", "csv"] as const;
export type PassengerFileFormat = (typeof passengerFileFormats)[number];

const count = (description: string, example = 0) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

export const CellError = Type.Object(
  {
    row: Type.Integer({ minimum: 1, description: "As a spreadsheet counts them.", examples: [17] }),
    column: Type.String({ description: "Its header, as the file has it.", examples: ["E-mail"] }),
    pointer: Type.String({
      description: "`/file`, the row, and our own name of the column.",
      examples: ["/file/17/email"],
    }),
    detail: Type.String({ examples: ["is no e-mail address"] }),
  },
  { title: "CellError" },
);
export type CellError = Static<typeof CellError>;

export const PassengersTaken = Type.Object(
  {
    caseUrn: Urn("case"),
    format: Type.Enum([...passengerFileFormats]),
    rows: count("With anything in them, below the headers.", 240),
    rowsRefused: count("Rows with something wrong; of none of them anybody was taken."),
    passengersAdded: count("New in the case.", 238),
    passengersKnown: count("Who stood in the manifest already; nothing has changed for them.", 2),
    groupsAdded: count("One for each new booking; also for who joins a booking that has its room.", 120),
    groupsJoined: count("Groups that were waiting still, and have more passengers now."),
    subCaseCount: count("Groups of the case with this file.", 121),
    columns: Type.Array(
      Type.Object({
        column: Type.String({ description: "The header, as the file has it.", examples: ["Localizador"] }),
        field: Type.String({ description: "What it was read as.", examples: ["pnr"] }),
      }),
    ),
    columnsIgnored: Type.Array(Type.String({ examples: ["Seat"] }), {
      description: "Headers that nothing is known of; their columns were left out.",
    }),
    errors: Type.Array(CellError, { description: `The first ${cellErrorsMax}, with \`mode\` = report.` }),
    errorCount: count("All wrong cells, told or not."),
    correlationUrn: Urn("correlation"),
  },
  { title: "PassengersTaken" },
);
export type PassengersTaken = Static<typeof PassengersTaken>;

export const PassengerTemplateQuery = Type.Object({
  language: Type.Optional(
    Type.Enum([...languages], { default: "en", description: "Of the headers; each is read in all of them." }),
  ),
});

/** What the audit trail keeps of a file: nothing of anybody in it. */
export interface PassengerFileFacts {
  sha256: string;
  format: PassengerFileFormat;
  bytes: number;
  rows: number;
  rowsRefused: number;
}

/** Data of `case.add-passengers`. */
export type AddPassengers = Required<Pick<ManifestPatchBody, "decidedAt" | "passengers">> & {
  file: PassengerFileFacts;
};
