/** Owns handing a large command's data to the actors in pieces: one message holds at most 1 MiB, a push may be 8. */
import type { ServiceBroker } from "moleculer";
import { ulid } from "ulid";
import { reached, type StageCommand, type StageText } from "./dispatch.ts";

const pieceCharactersMax = 200_000;

/** Pieces go one after the other; the command then carries their reference instead of its data. @throws Problem upstream/unavailable */
export const createStage = (broker: ServiceBroker): StageCommand => {
  const stageText = createStageText(broker);
  return async (command) => ({
    ...command,
    data: {},
    staged: await stageText(command, JSON.stringify(command.data)),
  });
};

/** Keeps a JSON text where every actor's process finds it, for a day at most. @throws Problem upstream/unavailable */
export const createStageText =
  (broker: ServiceBroker): StageText =>
  async ({ tenant, issuedAt }, text) => {
    const stagedId = ulid(Date.parse(issuedAt));
    const pieces = Math.ceil(text.length / pieceCharactersMax);
    for (let index = 0; index < pieces; index++) {
      const piece = text.slice(index * pieceCharactersMax, (index + 1) * pieceCharactersMax);
      await reached(broker, "staging.put", { tenant, stagedId, index, text: piece });
    }
    return { stagedId, pieces };
  };
