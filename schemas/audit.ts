/** Owns the wire shape of the audit trail: who did what, when, why, what it looked like before and after, and how the trail is searched. */
import Type, { type Static } from "typebox";
import { PageQuery } from "./page.ts";
import { Urn, urnKinds } from "./urn.ts";
import { roles, Timestamp } from "./vocabulary.ts";

const Digest = Type.String({ pattern: "^[0-9a-f]{64}$", examples: ["9f86d081884c7d65".repeat(4)] });

/** Where an entry stands: what anybody needs to check that none before it was changed, left out or put in. */
const ChainPlace = Type.Object(
  {
    name: Type.String({
      description: "The case's URN; the airline's for what belongs to no case.",
      examples: ["urn:case:XN-01JD0000000000000000000000"],
    }),
    sequence: Type.Integer({ minimum: 1, description: "Counted without gaps." }),
    previousDigest: Digest,
    digest: Type.String({
      pattern: "^[0-9a-f]{64}$",
      description:
        "SHA-256, in hexadecimal, over the canonical form (RFC 8785) of the entry as it is kept, the digest before it included.",
      examples: ["9f86d081884c7d65".repeat(4)],
    }),
  },
  { title: "AuditChainPlace" },
);

export const AuditEntryView = Type.Object(
  {
    urn: Type.Optional(Urn("event")),
    at: Timestamp,
    actor: Type.String({ description: "URN of who acted; the service acts as `urn:user:system-…`." }),
    surface: Type.Optional(
      Type.String({ description: "Where they came in.", examples: ["operator", "partner", "system"] }),
    ),
    role: Type.Optional(Type.Enum([...roles])),
    action: Type.String({ examples: ["policy.activate"] }),
    entityUrn: Type.String(),
    caseUrn: Type.Optional(Urn("case")),
    airport: Type.Optional(Type.String({ description: "Absent where it concerns no single airport." })),
    reason: Type.Optional(Type.String()),
    before: Type.Optional(Type.Unknown({ description: "Snapshot; absent for a creation." })),
    after: Type.Optional(Type.Unknown()),
    correlationUrn: Type.Optional(Urn("correlation")),
    chain: Type.Optional(ChainPlace),
  },
  { title: "AuditEntry" },
);
export type AuditEntryView = Static<typeof AuditEntryView>;

export const AuditQuery = Type.Object({ ...PageQuery });

/** All optional, and all that are given must hold. */
const AuditFilters = {
  entity: Type.Optional(
    Type.Enum([...urnKinds], { description: "Kind of what was changed.", examples: ["policy"] }),
  ),
  entityUrn: Type.Optional(Urn(...urnKinds)),
  caseUrn: Type.Optional(Urn("case")),
  action: Type.Optional(Type.String({ minLength: 1, maxLength: 100, examples: ["policy.activate"] })),
  actor: Type.Optional(Urn("user", "operator", "partner", "passenger-session")),
  from: Type.Optional(Type.String({ ...Timestamp, description: "This moment and after." })),
  to: Type.Optional(
    Type.String({ ...Timestamp, description: "Before this moment.", examples: ["2026-11-22T21:30:00Z"] }),
  ),
};

export const AuditSearch = Type.Object({ ...AuditFilters, ...PageQuery });
export const AuditExportQuery = Type.Object(AuditFilters);
export type AuditExportQuery = Static<typeof AuditExportQuery>;

/** What an export's end says of it. */
export interface ExportedAudit {
  filters: AuditExportQuery;
  /** Handed to the client's connection. */
  rows: number;
  /** False: the client went away, or something failed, before the last row. */
  complete: boolean;
}
