/** Owns the two members by which a write says what it has seen: the gateway lifts them into the command's envelope. */
import Type from "typebox";

/** `version` may come as `If-Match` instead; the body wins when both are sent. */
export const Concurrency = {
  version: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "The version you have seen; a change since then is refused with 409.",
    }),
  ),
  fencingToken: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "From the lock you hold; a stale one is refused with 409.",
    }),
  ),
};
