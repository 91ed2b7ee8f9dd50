/** Owns the letter by which a group tells its case where it stands, when the case asks or has not heard. */
import type { GroupNote, KnownStage } from "../../schemas/group-note.ts";
import type { SubCaseState } from "./state.ts";

/** Of a group that never had a saga the case has decided it itself, unless it takes it to be on its way to a room. */
export const isOwnWord = ({ mergedInto, round, wanted }: SubCaseState): boolean =>
  mergedInto === undefined && (round > 0 || wanted !== undefined);

/** @param known what the case thinks. Undefined: the case knows by itself */
export const stageOf = (
  state: SubCaseState,
  known: KnownStage | undefined,
): GroupNote["stage"] | undefined => {
  const { status, reservation } = state;
  // It has a room, whichever it will be.
  if (status === "PROCESSING" && state.left !== undefined)
    return state.left.status === "RESOLVED" ? "R" : "B";
  if (reservation?.status === "CHECKED_OUT") return "C";
  if (reservation?.status === "NO_SHOW") return "O";
  switch (status) {
    case "PENDING":
      return isPassedBy(state, known) ? "W" : undefined;
    case "NOT_REQUIRED":
      // Let go after a saga: the case, which may have been closed by then, has not heard.
      return isOwnWord(state) ? "N" : undefined;
    case "ROLLING_BACK":
      return undefined;
    case "PROCESSING":
      return reservation?.status === "CONFIRMED" ? "B" : "A";
    case "OFFER_READY":
      return "B";
    case "RESOLVED":
      return "R";
    case "DECLINED":
      return "D";
    case "FAILED":
      // It was to be tried again, and the choice came while the case was closed.
      return known?.stage === "A" && known.round === state.round ? "W" : "F";
    case "COMPENSATION_FAILED":
      return "U";
    default:
      return status satisfies never;
  }
};

/** A choice, or the order to book one, that came while the case was closed was not taken, and a return not heard. */
const isPassedBy = ({ assignment }: SubCaseState, known: KnownStage | undefined): boolean =>
  assignment === undefined || (known?.stage === "A" && !known.toBook);
