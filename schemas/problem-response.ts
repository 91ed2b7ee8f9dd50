/** Owns the body of every error answer (RFC 7807 and the contract's extension members). The catalogue of codes is `problems.ts`. */
import Type, { type Static } from "typebox";
import { ReplayView } from "./replay.ts";
import { Urn } from "./urn.ts";

export const ProblemResponse = Type.Object(
  {
    type: Type.String({
      format: "uri",
      examples: ["https://stopover.example/problems/conflict/version"],
      description: "Identifies the kind of problem; stable, safe to switch on.",
    }),
    title: Type.String({ description: "The kind of problem in words; the same for every occurrence." }),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: "What went wrong this time, and what to do." }),
    instance: Type.Unsafe<string>({
      ...Urn("correlation"),
      description: "Quote it to support: it is in every log line of this request.",
    }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            description: "RFC 6901 pointer into the body, or `?name` for a query parameter.",
            examples: ["/flight/number"],
          }),
          detail: Type.String(),
          row: Type.Optional(
            Type.Integer({ description: "Of a spreadsheet that was sent, as spreadsheets count." }),
          ),
          column: Type.Optional(Type.String({ description: "Its header, as the file has it." })),
        }),
      ),
    ),
    version: Type.Optional(Type.Integer({ description: "The version that stands now." })),
    state: Type.Optional(Type.String({ description: "The state that stands now." })),
    lockedBy: Type.Optional(Type.String({ description: "User URN of the lock's holder." })),
    expiresInSeconds: Type.Optional(
      Type.Integer({ description: "Then the lock lapses, unless its holder renews it." }),
    ),
    failedDomain: Type.Optional(Type.String({ description: "The part behind this service that failed." })),
    replay: Type.Optional(ReplayView),
  },
  { title: "Problem" },
);
export type ProblemResponse = Static<typeof ProblemResponse>;
