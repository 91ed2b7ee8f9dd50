/** Owns passengers who come in a spreadsheet: its rows read in a thread, what is wrong told, the rest handed to the case like a partner's amendment. */
import type { ManifestAmended } from "../../schemas/partner-manifest.ts";
import { bookingPassengersMax } from "../../schemas/passenger.ts";
import type { AddPassengers, PassengerFileForm, PassengersTaken } from "../../schemas/passenger-file.ts";
import { Problem } from "../../schemas/problems.ts";
import type { UploadedFile } from "../checks/read-json.ts";
import { commandOf, type Dispatch, type StageCommand } from "../dispatch.ts";
import type { PassengerFile } from "../passenger-file/read.ts";
import type { ReadPassengerFile } from "../passenger-file/reader.ts";
import { answer, type Handler, sendCommand } from "./handlers.ts";

const name = "case.add-passengers";

export const createTakePassengerFile =
  (dispatch: Dispatch, read: ReadPassengerFile, stage: StageCommand | undefined): Handler =>
  async (request) => {
    const upload = request.file as UploadedFile;
    const { mode = "all" } = request.body as PassengerFileForm;
    const facts = { sha256: upload.sha256, bytes: upload.bytes.length };
    const file = await read({
      bytes: new Uint8Array(upload.bytes),
      name: upload.name,
      today: request.now,
      bookingPassengersMax,
    });
    if (file.passengers.length === 0 || (mode === "all" && file.errorCount > 0)) throw wrongRows(file);
    const { format, rows, rowsRefused, passengers } = file;
    const data: AddPassengers = {
      decidedAt: request.now.toISOString(),
      passengers,
      file: { ...facts, format, rows, rowsRefused },
    };
    const command = { ...commandOf(request, { name, entity: "caseUrn" }), data };
    const accepted = await sendCommand(dispatch, stage, command, JSON.stringify(data).length);
    return answer(request, { ...accepted, ok: taken(accepted.ok as ManifestAmended, file) });
  };

const wrongRows = ({ rows, rowsRefused, errors, errorCount }: PassengerFile): Problem => {
  const told = errorCount > errors.length ? ` The first ${errors.length} stand in \`errors\`.` : "";
  return new Problem(
    "validation/body",
    `${rowsRefused} of ${rows} rows are wrong, in ${errorCount} cells; nobody was taken.${told}`,
    { errors },
  );
};

const taken = (
  {
    caseUrn,
    passengersAdded,
    passengersKnown,
    groupsAdded,
    groupsJoined,
    subCaseCount,
    correlationUrn,
  }: ManifestAmended,
  { format, rows, rowsRefused, errors, errorCount, columns, columnsIgnored }: PassengerFile,
): PassengersTaken => ({
  caseUrn,
  format,
  rows,
  rowsRefused,
  passengersAdded,
  passengersKnown,
  groupsAdded,
  groupsJoined,
  subCaseCount,
  columns,
  columnsIgnored,
  errors,
  errorCount,
  correlationUrn,
});
