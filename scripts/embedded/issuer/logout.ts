/** Owns the order of a logout (contract, "Logout order"): it is told of first, then nothing new comes of the sign-in; oidc-provider revokes the tokens after that. */
import { errors, type KoaContextWithOIDC } from "oidc-provider";
import { cutOff } from "./cut-offs.ts";
import type { IssuerDocuments } from "./documents.ts";
import { type Account, accountOf } from "./users.ts";

/** Before anything of a session is revoked, for its user. @throws Error to leave the session as it is */
export type OnLogout = (account: Account, session: { grantId: string | undefined }) => Promise<void>;

interface LogoutParts {
  documents: IssuerDocuments;
  now: () => Date;
  onLogout: OnLogout;
}

/** The session stays as it is, and the user is told so. */
class NotLoggedOut extends errors.OIDCProviderError {
  constructor(cause: unknown) {
    super(503, "temporarily_unavailable", { cause });
    this.error_description = "You are still signed in: your live session could not be closed. Try again";
    this.expose = true;
  }
}

/** What a token says of whose it is. */
export interface Holder {
  accountId?: string;
  grantId?: string;
  sessionUid?: string;
}

/** By a refresh token: its live session first, then the browser's session. */
export const logOutHolder = async (parts: LogoutParts, holder: Holder): Promise<void> => {
  const { accountId, grantId, sessionUid } = holder;
  await tellLogout(parts, accountId, grantId);
  if (sessionUid === undefined) return;
  await cutOff(parts.documents, { sessionUid }, parts.now());
  await parts.documents.tokens.deleteMany({ uid: sessionUid, model: "Session" });
};

/** From the sign-out page: likewise, but oidc-provider removes the browser's session itself. */
export const logOutSession = async (
  parts: LogoutParts,
  { oidc: { session } }: KoaContextWithOIDC,
  clientId: string,
): Promise<void> => {
  await tellLogout(parts, session?.accountId, session?.grantIdFor(clientId));
  if (session !== undefined) await cutOff(parts.documents, { sessionUid: session.uid }, parts.now());
};

/** @throws NotLoggedOut */
const tellLogout = async (
  { documents, onLogout }: LogoutParts,
  accountId: string | undefined,
  grantId: string | undefined,
): Promise<void> => {
  const account = accountId === undefined ? undefined : await accountOf(documents, accountId);
  if (account === undefined) return;
  try {
    await onLogout(account, { grantId });
  } catch (error) {
    throw new NotLoggedOut(error);
  }
};
