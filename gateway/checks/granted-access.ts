/** Owns the check that nothing was withdrawn since a token was issued: it, its holder's access, or the session it came from. */
import { Problem } from "../../schemas/problems.ts";
import type { PresentedToken, Revocations } from "../../streams/revocations.ts";

/**
 * Asked at every request, never remembered with the token.
 * @throws Problem auth/invalid-token
 */
export const requireGrantedAccess = (presented: PresentedToken, revocations: Revocations): void => {
  const withdrawal = revocations.withdrawalOf(presented);
  if (withdrawal === undefined) return;
  throw new Problem(
    "auth/invalid-token",
    withdrawal === "revoked"
      ? "Access was withdrawn. Talk to your administrator."
      : "This session has ended. Log in again.",
  );
};
