/** Owns handing a large command's data to the actors in pieces: one message holds at most 1 MiB, a push may be 8. */
import type { ServiceBroker } from "moleculer";
import { ulid } from "ulid";
import type { StageCommand } from "./dispatch.ts";

const pieceCharactersMax = 200_000;

/** Pieces go one after the other; the command then carries their reference instead of its data. */
export const createStage =
  (broker: ServiceBroker): StageCommand =>
  async (command) => {
    const text = JSON.stringify(command.data);
    const stagedId = ulid(Date.parse(command.issuedAt));
    const pieces = Math.ceil(text.length / pieceCharactersMax);
    for (let index = 0; index < pieces; index++) {
      const piece = text.slice(index * pieceCharactersMax, (index + 1) * pieceCharactersMax);
      await broker.call("staging.put", { tenant: command.tenant, stagedId, index, text: piece });
    }
    return { ...command, data: {}, staged: { stagedId, pieces } };
  };
