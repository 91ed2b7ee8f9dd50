/** Owns asking a payment vendor for its page that shows a card. The page's address goes back to who has asked, and nowhere else. */
import type { Query } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { CardRevealView } from "../../schemas/wallet.ts";
import type { Instance } from "./dialects.ts";

/** A person waits for it. */
const answerMsMax = 3000;

const away = (): Problem =>
  new Problem(
    "upstream/unavailable",
    "The card's page cannot be had right now. Your card works all the same.",
    {
      failedDomain: "payment",
      retryAfterSeconds: 30,
    },
  );

/** @throws Problem upstream/unavailable, conflict/state: the vendor shows no such card */
export const revealCard = async (
  instances: readonly Instance[],
  { params, traceparent }: Query,
): Promise<CardRevealView> => {
  const { vendor, cardId } = params as { vendor: string; cardId: string };
  const instance = instances.find(({ name }) => name === vendor);
  if (instance?.kind !== "payment") throw away();
  const told = await instance.port.reveal(
    { cardId },
    { traceparent, signal: AbortSignal.timeout(answerMsMax) },
  );
  if (told.outcome === "refused" && told.code === "NOT_FOUND")
    throw new Problem("conflict/state", "The card's vendor does not show it.", { state: told.code });
  if (told.outcome !== "done") throw away();
  const { url, expiresAt } = told;
  return { url, expiresAt };
};
