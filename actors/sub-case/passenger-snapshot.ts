/** Owns the read that passengers' streams are made of: profile and offer together, of a session's group or of one that is named. */
import type { Collection, Document } from "mongodb";
import type { Query } from "../../schemas/command.ts";
import type { PassengerSnapshot } from "../../schemas/passenger-events.ts";
import { Problem } from "../../schemas/problems.ts";
import { loadedOf } from "../runtime/store.ts";
import { documentOf } from "./sessions.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";
import { meView, offerView } from "./view.ts";
import { voucherQr } from "./voucher-page.ts";

/** @param params `subCaseId` names the group; without it, it is where the session's passenger is now @throws Problem not-found/resource */
export const passengerSnapshot = async (
  subCases: Collection<Document>,
  { principal, params }: Query,
  schemaVersion: number,
): Promise<PassengerSnapshot> => {
  const { subCaseId } = params as { subCaseId?: string };
  const projection = { handled: 0, outbox: 0, steps: 0 };
  const found =
    subCaseId === undefined
      ? await documentOf(subCases, principal, projection)
      : await subCases.findOne({ _id: subCaseId as never }, { projection });
  if (found === null) throw new Problem("not-found/resource", "There is no such group.");
  const { state: whole, meta } = loadedOf<SubCaseState>(found, { schemaVersion });
  const state = shown(whole);
  const isIssued = state.voucher?.status === "ISSUED" && state.offer.state !== "PENDING";
  return {
    subCaseId: whole.subCaseId,
    me: meView(whole),
    offer: offerView(state, meta.version, isIssued ? await voucherQr(state) : undefined),
  };
};
