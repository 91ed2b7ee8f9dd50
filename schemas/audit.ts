/** Owns the wire shape of the audit trail: who did what, when, why, and what it looked like before and after. */
import Type, { type Static } from "typebox";
import { PageQuery } from "./page.ts";
import { Urn } from "./urn.ts";
import { Timestamp } from "./vocabulary.ts";

export const AuditEntryView = Type.Object(
  {
    urn: Type.Optional(Urn("event")),
    at: Timestamp,
    actor: Type.String({ description: "URN of who acted; the service acts as `urn:user:system-…`." }),
    action: Type.String({ examples: ["policy.activate"] }),
    entityUrn: Type.String(),
    caseUrn: Type.Optional(Urn("case")),
    reason: Type.Optional(Type.String()),
    before: Type.Optional(Type.Unknown({ description: "Snapshot; absent for a creation." })),
    after: Type.Optional(Type.Unknown()),
    correlationUrn: Type.Optional(Urn("correlation")),
  },
  { title: "AuditEntry" },
);
export type AuditEntryView = Static<typeof AuditEntryView>;

export const AuditQuery = Type.Object({ ...PageQuery });
