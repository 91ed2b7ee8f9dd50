/** Owns the shape of the revocation list: who or which token is shut out, as administrators read and write it. */
import Type, { type Static } from "typebox";
import { parseUrn, Urn, urn } from "./urn.ts";
import { Timestamp } from "./vocabulary.ts";

/** Of which a body names exactly one. */
const target = {
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      pattern: "^\\S+$",
      description:
        "Who: the tokens' `sub` (an operator's user id, `urn:passenger-session:<uuid>`, `<client id>@clients`), or the URN of the operator or partner.",
      examples: ["auth0|5f7c8ec7c33c6c004bbafe82"],
    }),
  ),
  tokenId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: "^\\S+$",
      description:
        "Which token alone: its `jti` where it has one; else the SHA-256 digest of the whole token in base64url without padding, which whoever holds the token can work out.",
      examples: ["n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg"],
    }),
  ),
};

const Reason = Type.String({ minLength: 1, maxLength: 500, description: "Goes into the audit trail." });

export const RevocationBody = Type.Object({ ...target, reason: Reason });
export type RevocationBody = Static<typeof RevocationBody>;

export const LiftRevocationQuery = Type.Object({ reason: Type.Optional(Reason) });

export const RevocationView = Type.Object(
  {
    urn: Urn("revocation"),
    ...target,
    reason: Type.String(),
    createdAt: Timestamp,
    createdBy: Type.String({ description: "URN of the administrator." }),
    liftedAt: Type.Optional(Type.String({ ...Timestamp, description: "Only in the answer to its removal." })),
  },
  { title: "Revocation" },
);
export type RevocationView = Static<typeof RevocationView>;

/** A subject in the one form in which subjects are compared: a URN of ours is short, anything else stays as it is. */
export const subjectForm = (subject: string): string => {
  const parsed = parseUrn(subject);
  return parsed === undefined ? subject : urn(parsed.kind, parsed.id);
};
