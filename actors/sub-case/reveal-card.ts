/**
 * Owns showing passengers where they see their card's number: a page of the payment vendor's own. Its address is a secret: it goes to
 * who has asked and is kept nowhere. It is handed out once its audit entry stands, and not without.
 */
import type { Document } from "mongodb";
import type { CardRevealView } from "../../schemas/wallet.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import { documentOf } from "./sessions.ts";
import type { SubCaseState } from "./state.ts";
import { requireCard } from "./wallet-view.ts";

export const revealCard =
  (
    context: ActorContext,
    { collection, schemaVersion }: { collection: string; schemaVersion: number },
  ): CommandFunction =>
  async (command, dispatch) => {
    const subCases = context.documents.tenant(command.tenant).collection<Document>(collection);
    const found = await documentOf(subCases, command.principal);
    const { state } = loadedOf<SubCaseState>(found, { schemaVersion });
    const { vendor, cardId } = requireCard(state);
    const params = { vendor, cardId };
    const ok = await context.call<CardRevealView>("vendor-adapter.reveal-card", { ...command, params });
    await dispatch("reveal-card", { ...command, entity: String(found._id) });
    return { ok };
  };
