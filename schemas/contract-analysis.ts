/** Owns the shape of a contract document's analysis (contract, `contracts/analyze-pdf`): what was handed in, how far its reading is, what was found where. */
import Type, { type Static } from "typebox";
import type { StagedRef } from "./command.ts";
import { Urn } from "./urn.ts";
import { AirportCode, Timestamp } from "./vocabulary.ts";

export const contractDocumentBytesMax = 10 * 1024 * 1024;
export const contractDocumentPagesMax = 60;
/** Of pages without text; each takes seconds to recognise. */
export const scannedPagesMax = 10;
/** Of a page in a PDF: unpacked as a whole. A sheet of A4 at 300 dots per inch has 8.7. */
export const scanMegapixelsMax = 12;
/** Of a file, unpacked strip by strip: a telephone's photograph has 12 or 24. */
export const pictureMegapixelsMax = 30;

export const documentMediaTypes = ["application/pdf", "image/png", "image/jpeg", "image/tiff"] as const;
export type DocumentMediaType = (typeof documentMediaTypes)[number];

/** Nothing stands in the form beside `file`. */
export const ContractDocumentForm = Type.Object({});

export const analysisStatuses = ["QUEUED", "READING", "READY", "REFUSED", "CONFIRMED"] as const;
export type AnalysisStatus = (typeof analysisStatuses)[number];

export const documentRefusals = [
  "ENCRYPTED",
  "BROKEN",
  "ACTIVE_CONTENT",
  "TOO_LONG",
  "TOO_LARGE",
  "TOO_SLOW",
  "TOO_MUCH_MEMORY",
  "NO_TEXT",
  "LOST",
] as const;
export type DocumentRefusal = (typeof documentRefusals)[number];

const share = Type.Number({ minimum: 0, maximum: 1 });
const Confidence = Type.Number({
  minimum: 0,
  maximum: 1,
  description: "Of the rule that found it; of a scan, times how certainly its words were recognised.",
  examples: [0.95],
});

const Place = {
  page: Type.Integer({ minimum: 1, examples: [1] }),
  box: Type.Object(
    { x: share, y: share, width: share, height: share },
    {
      description: "Of what the page shows, in shares of its width and height, from its upper left corner.",
      examples: [{ x: 0.08, y: 0.31, width: 0.4, height: 0.013 }],
    },
  ),
  text: Type.String({
    description: "The words themselves, at most 300 characters.",
    examples: ["Validity: from 1 November 2026 to 31 March 2027"],
  }),
};

const Finding = Type.Object({
  pointer: Type.String({
    description: "Into `draft`, where the contract has a place for it, else into `conditions`.",
    examples: ["/draft/validFrom"],
  }),
  value: Type.Unknown({ examples: ["2026-11-01"] }),
  confidence: Confidence,
  note: Type.Optional(
    Type.String({
      description: "How it was read, where that takes a rule.",
      examples: ["the last night is counted in"],
    }),
  ),
  ...Place,
});
export type Finding = Static<typeof Finding>;
export type Box = Finding["box"];

const Unclear = Type.Object({
  pointer: Type.String({ examples: ["/draft/rates"] }),
  detail: Type.String({ examples: ["3 room types have different rates; a contract here has one"] }),
  ...Type.Partial(Type.Object(Place)).properties,
});
export type Unclear = Static<typeof Unclear>;

export const roomKinds = ["SINGLE", "DOUBLE", "TWIN", "TRIPLE", "QUADRUPLE", "FAMILY", "SUITE"] as const;
export type RoomKind = (typeof roomKinds)[number];

const amount = Type.Integer({ minimum: 0, description: "Minor units of `currency`.", examples: [11_000] });
const date = Type.String({ examples: ["2026-11-01"] });

/** What a contract has a place for; each member only where the document is plain about it. */
const Draft = Type.Partial(
  Type.Object({
    hotel: Type.Partial(
      Type.Object({
        name: Type.String({ examples: ["Garden Court Lisboa"] }),
        address: Type.String({ examples: ["Avenida da Liberdade 120, 1250-146 Lisboa"] }),
        stars: Type.Integer({ minimum: 1, maximum: 5 }),
      }),
    ),
    airport: AirportCode,
    validFrom: date,
    validUntil: Type.String({ description: "Exclusive, as in a contract.", examples: ["2027-04-01"] }),
    rates: Type.Array(Type.Object({ from: date, until: date, nightlyRateMinor: amount })),
    currency: Type.String({ examples: ["EUR"] }),
    maxOccupancy: Type.Integer({ minimum: 1, examples: [2] }),
    accessibleRooms: Type.Integer({ minimum: 0 }),
    block: Type.Object({ roomsPerNight: Type.Integer({ minimum: 0, examples: [25] }) }),
  }),
);
export type Draft = Static<typeof Draft>;

const Conditions = Type.Object({
  roomTypes: Type.Array(
    Type.Object({
      kind: Type.Enum([...roomKinds]),
      from: Type.Optional(date),
      until: Type.Optional(Type.String({ description: "Exclusive.", examples: ["2027-04-01"] })),
      nightlyRateMinor: Type.Optional(amount),
      currency: Type.Optional(Type.String({ examples: ["EUR"] })),
    }),
    { description: "Each rate that a room type has, with its season where it has one." },
  ),
  releaseDays: Type.Optional(
    Type.Integer({ minimum: 0, description: "Before arrival; 0: on the day.", examples: [2] }),
  ),
  cancellation: Type.Optional(
    Type.Object({
      text: Type.String({ examples: ["Free of charge until 18:00 on the day of arrival."] }),
      freeUntilHoursBefore: Type.Optional(Type.Integer({ minimum: 0, examples: [24] })),
      freeUntilTime: Type.Optional(
        Type.String({ description: "Local, on the day of arrival.", examples: ["18:00"] }),
      ),
    }),
  ),
});
export type Conditions = Static<typeof Conditions>;

const Extraction = Type.Object({
  language: Type.Enum(["en", "es", "pt", "unknown"], { examples: ["en"] }),
  pagesRecognised: Type.Array(Type.Integer({ minimum: 1 }), {
    description: "Pages that are pictures: their text was recognised, and may be wrong.",
  }),
  draft: Type.Object(Draft.properties, {
    description: "To be completed, corrected and sent to `POST /v1/contracts` with `analysisUrn`.",
  }),
  conditions: Type.Object(Conditions.properties, {
    description:
      "What the document agrees beyond the rooms; a contract keeps it as words in its `conditions`.",
  }),
  found: Type.Array(Finding),
  unclear: Type.Array(Unclear, {
    description: "What the document leaves open or contradicts: nothing of it was guessed.",
  }),
  missing: Type.Array(Type.String({ examples: ["/hotel/coordinates"] }), {
    description: "What a contract needs and the document doesn't say.",
  }),
});
export type Extraction = Static<typeof Extraction>;

export const AnalysisParams = Type.Object({ analysisUrn: Urn("contract-analysis") });

export const ContractAnalysisView = Type.Object(
  {
    urn: Urn("contract-analysis"),
    status: Type.Enum([...analysisStatuses], {
      description: "CONFIRMED: somebody has made it a contract. Until then it has no effect at all.",
      examples: ["READY"],
    }),
    file: Type.Object({
      name: Type.String({ examples: ["garden-court-2026.pdf"] }),
      mediaType: Type.Enum([...documentMediaTypes]),
      bytes: Type.Integer({ minimum: 0, examples: [142_901] }),
      sha256: Type.String({ examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"] }),
    }),
    progress: Type.Object({
      pages: Type.Integer({ minimum: 0, description: "0: not known yet.", examples: [3] }),
      pagesRead: Type.Integer({ minimum: 0, examples: [3] }),
    }),
    refusal: Type.Optional(
      Type.Object({
        reason: Type.Enum([...documentRefusals]),
        detail: Type.String({ examples: ["The document is locked with a password."] }),
      }),
    ),
    extraction: Type.Optional(Extraction),
    contractUrns: Type.Array(Urn("contract"), {
      description: "What was made of it, and by whom, stands there.",
    }),
    requestedAt: Timestamp,
    version: Type.Integer({ examples: [2] }),
  },
  { title: "ContractAnalysis" },
);
export type ContractAnalysisView = Static<typeof ContractAnalysisView>;

export interface DocumentFacts {
  name: string;
  mediaType: DocumentMediaType;
  bytes: number;
  sha256: string;
}

/** Data of `contract.analyze`: the document itself is staged, as base64 in a JSON text. */
export interface AnalyzeDocument {
  file: DocumentFacts;
  document: StagedRef;
}

/** Data of `contract.note-progress`. */
export interface ReadingProgress {
  pages: number;
  pagesRead: number;
}

/** Data of `contract.note-reading`. */
export type ReadingOutcome =
  | { extraction: Extraction; pages: number }
  | { refusal: { reason: DocumentRefusal; detail: string } };
