/** Wires the contract actor: one document per contract, in which its rooms are counted down, and one per analysis of a contract's document. */
import type { RoomsTaken } from "../../schemas/contract.ts";
import type { NoteHotel } from "../../schemas/hotel-catalogue.ts";
import { idOf } from "../../schemas/urn.ts";
import { freshId } from "../runtime/clock.ts";
import type { Decider, Outgoing, Reading } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { analyses, type ConfirmationNote } from "./analysis.ts";
import { decide } from "./decide.ts";
import { DocumentReader } from "./document/reader.ts";
import { contractIndexes, contractQueries } from "./queries.ts";
import { readDocument, requireRead } from "./read-document.ts";
import { type ContractEvent, type ContractState, evolve } from "./state.ts";
import { contractView, hotelFacts, provenanceOf, roomsTakenView } from "./view.ts";

const contracts: Decider<ContractState, ContractEvent> = {
  actor: "contract",
  kind: "contract",
  collection: "contracts",
  schemaVersion: 1,
  commands: ["put", "hold", "book", "cancel"],
  indexes: contractIndexes,
  decide,
  evolve,
  outgoing: (event, state, _command, id) =>
    event.type === "contract.put" ? [noteHotel(id, state), ...noteConfirmed(id, event.data.analysisId)] : [],
  // A supervisor's version is about the terms: a night's bookings don't make it stale.
  technical: new Set(["contract.rooms-held", "contract.rooms-booked", "contract.rooms-released"]),
  locate: ({ id }) => ({ creation: id }),
  create: ({ name, tenant, now }) => (name === "contract.put" ? freshId(tenant, now) : undefined),
  view: (state, reading) =>
    reading.command.name === "contract.put"
      ? contractView(reading.id, state, reading.version, new Date(reading.command.issuedAt))
      : takenView(state, reading),
  audit: ({ command, before, after }) =>
    command.name === "contract.put"
      ? {
          action: before === undefined ? "contract.create" : "contract.update",
          airport: after.terms.airport,
          before: before?.terms ?? null,
          after: { ...after.terms, ...provenanceOf(after) },
        }
      : null,
};

/** The catalogue knows the hotel from the day of the contract, whether or not anybody has searched. */
const noteHotel = (contractId: string, state: ContractState): Outgoing => {
  const data: NoteHotel = { hotel: hotelFacts(contractId, state.terms), airport: state.terms.airport };
  return { to: "command", name: "vendor-adapter.note-hotel", entity: contractId, data };
};

/** The document's analysis learns that somebody stands by what was read of it. */
const noteConfirmed = (contractId: string, analysisId: string | undefined): Outgoing[] => {
  const data: ConfirmationNote = { contractId };
  return analysisId === undefined
    ? []
    : [{ to: "command", name: "contract.note-confirmed", entity: analysisId, data }];
};

/** What stands under the command's reference now. */
const takenView = ({ taken }: ContractState, { command }: Reading): RoomsTaken => {
  const { reference } = command.data as { reference: string };
  const entry = taken.find((one) => one.reference === reference);
  if (entry === undefined) throw new Error(`${command.name} left nothing under its reference`);
  return roomsTakenView(entry, new Date(command.issuedAt));
};

export const contractActor = (context: ActorContext): Actor => {
  const reader = new DocumentReader();
  /** The body says which contract is meant, if any. */
  const put: CommandFunction = async (command, dispatch) => {
    const { contractUrn, analysisUrn } = command.data as { contractUrn?: string; analysisUrn?: string };
    if (analysisUrn !== undefined) await requireRead(context, command, idOf(analysisUrn));
    if (contractUrn === undefined) return dispatch("put", command);
    return { ...(await dispatch("put", { ...command, entity: idOf(contractUrn) })), created: false };
  };
  return {
    name: "contract",
    deciders: [contracts, analyses],
    queries: contractQueries(context),
    commands: { put, "read-document": readDocument(context, reader) },
    start: async () => () => reader.stop(),
  };
};
