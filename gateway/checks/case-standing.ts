/** Owns the check that a passenger's session did not end with its case (contract, "Case": on CLOSED all its tokens are revoked). */
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ClosedCases } from "../../streams/closed-cases.ts";

/** Tokens tell whole seconds: one of the closing's own second counts as from before it, and a login waits that second out. */
export const secondOf = (closedAt: Date): number => Math.floor(closedAt.getTime() / 1000);

/**
 * Asked at every request, never remembered with the token. Others than passengers with a session pass.
 * @throws Problem auth/case-closed; auth/invalid-token after a reopening, for a session from before the closing
 */
export const requireOpenCase = (
  { surface, caseId, tokenIssuedAt = 0 }: Principal,
  closedCases: ClosedCases,
): void => {
  if (surface !== "passenger" || caseId === undefined) return;
  const standing = closedCases.standing(caseId);
  if (standing === undefined) return;
  if (!standing.open)
    throw new Problem("auth/case-closed", "Your airline has closed this case. Ask its staff for help.");
  if (tokenIssuedAt <= secondOf(standing.closedAt))
    throw new Problem(
      "auth/invalid-token",
      "This session ended when the case was closed. The case is open again: log in again.",
    );
};
