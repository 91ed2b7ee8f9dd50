/** Owns the one effect of the contract actor: having a document read, told page by page, and forgotten once it is. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import type { ReadingOutcome } from "../../schemas/contract-analysis.ts";
import { Problem } from "../../schemas/problems.ts";
import { causedId } from "../runtime/clock.ts";
import { NotYet } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import { dropStaged, fetchStaged } from "../runtime/staging.ts";
import { loadedOf } from "../runtime/store.ts";
import { analysesCollection, analysisSchemaVersion, requireReach } from "./analysis.ts";
import { type AnalysisState, isUnread } from "./analysis-state.ts";
import type { DocumentReader } from "./document/reader.ts";

/** @throws Problem not-found/resource */
export const loadAnalysis = async (
  { documents }: ActorContext,
  tenant: string,
  analysisId: string,
): Promise<{ state: AnalysisState; version: number }> => {
  const found = await documents
    .tenant(tenant)
    .collection<Document>(analysesCollection)
    .findOne({ _id: analysisId as never });
  if (found === null) throw new Problem("not-found/resource", "No such analysis.");
  const { state, meta } = loadedOf<AnalysisState>(found, { schemaVersion: analysisSchemaVersion });
  return { state, version: meta.version };
};

/** @throws Problem not-found/resource, auth/foreign-airport, conflict/state while nothing has been read */
export const requireRead = async (
  context: ActorContext,
  command: Command,
  analysisId: string,
): Promise<void> => {
  const { state } = await loadAnalysis(context, command.tenant, analysisId);
  requireReach(command.principal, state);
  if (state.extraction === undefined)
    throw new Problem("conflict/state", "The document has not been read; nothing can be confirmed of it.", {
      state: state.status,
    });
};

type Reader = Pick<DocumentReader, "inTurn" | "read">;

export const readDocument = (context: ActorContext, reader: Reader): CommandFunction => {
  /** Read here, or waiting for it: its timer may ask many times more, and no such command keeps others waiting. */
  const underWay = new Set<string>();

  const read = async (command: Command, dispatch: Dispatch): Promise<void> => {
    const tell = async (verb: string, part: string, data: unknown): Promise<void> => {
      const id = causedId(command.id, verb, part);
      await dispatch(verb, { ...command, id, name: `contract.${verb}`, data });
    };
    const before = await loadAnalysis(context, command.tenant, command.entity);
    await tell("begin-reading", String(before.state.attempts), {});
    const { state } = await loadAnalysis(context, command.tenant, command.entity);
    if (isUnread(state)) {
      const outcome = await outcomeOf(context, reader, command.tenant, state, (pages, pagesRead) =>
        tell("note-progress", `${state.attempts} ${pagesRead}`, { pages, pagesRead }),
      );
      await tell("note-reading", String(state.attempts), outcome);
    }
    await dropStaged(context.documents.tenant(command.tenant), state.document);
  };

  return async (command, dispatch) => {
    if (underWay.has(command.entity)) return { ok: null };
    underWay.add(command.entity);
    try {
      await reader.inTurn(command.tenant, () => read(command, dispatch));
    } finally {
      underWay.delete(command.entity);
    }
    return { ok: null };
  };
};

const outcomeOf = async (
  { documents, log }: ActorContext,
  reader: Reader,
  tenant: string,
  { document, file }: AnalysisState,
  onProgress: (pages: number, pagesRead: number) => Promise<void>,
): Promise<ReadingOutcome> => {
  let base64: unknown;
  try {
    base64 = await fetchStaged(documents.tenant(tenant), document);
  } catch (error) {
    // It came with its analysis, so what is missing now is gone.
    if (!(error instanceof NotYet)) throw error;
    return { refusal: { reason: "LOST", detail: "The document is kept for a day, and was not read in it." } };
  }
  const told: Promise<void>[] = [];
  const outcome = await reader.read(
    Buffer.from(String(base64), "base64"),
    file.mediaType,
    ({ pages, pagesRead }) => {
      const failed = (error: unknown): void =>
        log.warn({ err: error }, "the progress of a reading is not noted");
      told.push(onProgress(pages, pagesRead).catch(failed));
    },
  );
  await Promise.all(told);
  return outcome;
};
