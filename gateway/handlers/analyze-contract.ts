/** Owns contract documents that are handed in to be read: what kind they are by their first bytes, kept for the actor, never opened here. */
import type { AnalyzeDocument, DocumentMediaType } from "../../schemas/contract-analysis.ts";
import type { UploadedFile } from "../checks/read-json.ts";
import { commandOf, type Dispatch, type StageText } from "../dispatch.ts";
import { refusedFile } from "../passenger-file/table.ts";
import { answer, type Handler } from "./handlers.ts";

const name = "contract.analyze";
const nameCharactersMax = 120;

interface Kind {
  mediaType: DocumentMediaType;
  /** Names that may end it, in small letters. */
  endings: readonly string[];
  starts(bytes: Buffer): boolean;
}

const startsWith =
  (...starts: string[]) =>
  (bytes: Buffer): boolean =>
    starts.some((start) => bytes.subarray(0, start.length).equals(Buffer.from(start, "latin1")));

const kinds: readonly Kind[] = [
  // Readers take anything before it, within the first kilobyte (PDF 32000-1, annex H.3.4.1).
  {
    mediaType: "application/pdf",
    endings: ["pdf"],
    starts: (bytes) => bytes.subarray(0, 1024).includes("%PDF-"),
  },
  { mediaType: "image/png", endings: ["png"], starts: startsWith("\x89PNG\r\n\x1a\n") },
  { mediaType: "image/jpeg", endings: ["jpg", "jpeg"], starts: startsWith("\xff\xd8\xff") },
  { mediaType: "image/tiff", endings: ["tif", "tiff"], starts: startsWith("II*\0", "MM\0*") },
];

export const createAnalyzeContract =
  (dispatch: Dispatch, stage: StageText): Handler =>
  async (request) => {
    const upload = request.file as UploadedFile;
    const { bytes, sha256 } = upload;
    const mediaType = kindOf(upload);
    const command = commandOf(request, { name, entity: undefined });
    const data: AnalyzeDocument = {
      file: { name: shownName(upload.name), mediaType, bytes: bytes.length, sha256 },
      document: await stage(command, JSON.stringify(bytes.toString("base64"))),
    };
    return answer(request, await dispatch.command(name, { ...command, data }));
  };

/** No ending at all says nothing. @throws Problem validation/media-type */
const kindOf = ({ name: file, bytes }: UploadedFile): DocumentMediaType => {
  const kind = kinds.find(({ starts }) => starts(bytes));
  if (kind === undefined) throw refusedFile("validation/media-type", "is no PDF, PNG, JPEG or TIFF");
  const ending = /\.([^./\\]*)$/.exec(file)?.[1]?.toLowerCase();
  if (ending !== undefined && !kind.endings.includes(ending))
    throw refusedFile("validation/media-type", `is named otherwise than what it is, ${kind.mediaType}`);
  return kind.mediaType;
};

/** Without folders; only ever looked at. Cut between two letters, never in one. */
const shownName = (file: string): string =>
  [...file.replace(/^.*[\\/]/s, "").replaceAll(/\p{C}/gu, "")].slice(0, nameCharactersMax).join("") ||
  "document";
