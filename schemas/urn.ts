/** Owns URNs: the table of kinds, parsing of both written forms, building, and the schema type that marks every place one can stand. */
import Type, { type TString } from "typebox";

/**
 * How the id of a kind is made up.
 * `tenant`: `<airline code>-<ULID>`, so a foreign one is told without a look-up. `airline`: the code itself.
 * `shared`: a catalogue entry that every tenant may name. `issuer`: the identity provider's own id.
 */
const kinds = {
  "agent-action": "tenant",
  airline: "airline",
  airport: "shared",
  booking: "tenant",
  card: "tenant",
  case: "tenant",
  contact: "tenant",
  contract: "tenant",
  "contract-analysis": "tenant",
  correlation: "shared",
  delivery: "tenant",
  demand: "tenant",
  "demand-freeze": "tenant",
  event: "tenant",
  flight: "tenant",
  hotel: "shared",
  message: "tenant",
  operator: "issuer",
  partner: "tenant",
  "partner-notice": "tenant",
  passenger: "tenant",
  "passenger-session": "shared",
  policy: "tenant",
  replay: "tenant",
  reservation: "tenant",
  review: "tenant",
  revocation: "tenant",
  segment: "tenant",
  step: "tenant",
  "sub-case": "tenant",
  subscription: "tenant",
  transfer: "tenant",
  "transport-run": "tenant",
  triage: "tenant",
  user: "issuer",
  vendor: "shared",
  voucher: "tenant",
  wave: "tenant",
} as const;

export type UrnKind = keyof typeof kinds;
export const urnKinds = Object.keys(kinds) as readonly UrnKind[];

/** `tenant` is the airline code that owns the resource; undefined for shared and issuer kinds. */
export interface ParsedUrn {
  kind: UrnKind;
  id: string;
  tenant: string | undefined;
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._~|@+-]{0,127}$/;
/** RFC 8141, section 2: a namespace identifier, which some routes' published form has before the kind. */
const namespace = /^[a-z0-9][a-z0-9-]{1,31}$/;
const airlineCode = /^[A-Z0-9]{2,3}$/;

const isKind = (text: string): text is UrnKind => Object.hasOwn(kinds, text);

/**
 * Reads `urn:<kind>:<id>` and `urn:<namespace>:<kind>:<id>` (contract, "Identifiers"). A reservation's structural
 * suffixes `:vendor:<vendor>:status:<status>` are accepted and ignored. Undefined when the text is no URN of ours.
 */
export const parseUrn = (text: string): ParsedUrn | undefined => {
  if (text.length > 300 || !text.startsWith("urn:")) return undefined;
  const parts = text.split(":").slice(1);
  if (!isKind(parts[0] ?? "") && namespace.test(parts.shift() ?? "") === false) return undefined;
  const [kind, id, ...suffix] = parts;
  if (kind === undefined || id === undefined || !isKind(kind) || !idPattern.test(id)) return undefined;
  if (suffix.length > 0 && !(kind === "reservation" && isReservationSuffix(suffix))) return undefined;
  const owner = kinds[kind];
  if (owner === "airline") return airlineCode.test(id) ? { kind, id, tenant: id } : undefined;
  if (owner !== "tenant") return { kind, id, tenant: undefined };
  const dash = id.indexOf("-");
  const code = id.slice(0, dash);
  return dash > 0 && airlineCode.test(code) ? { kind, id, tenant: code } : undefined;
};

const isReservationSuffix = (parts: string[]): boolean =>
  (parts.length === 2 || parts.length === 4) &&
  parts[0] === "vendor" &&
  (parts.length === 2 || parts[2] === "status");

/** The short written form, the only one emitted. */
export const urn = (kind: UrnKind, id: string): string => `urn:${kind}:${id}`;

/** The id of a URN known to be well formed (it passed a schema). Throws a TypeError otherwise: that is a bug. */
export const idOf = (text: string): string => {
  const parsed = parseUrn(text);
  if (parsed === undefined) throw new TypeError(`not a URN: ${text.slice(0, 80)}`);
  return parsed.id;
};

/** The airline code inside a tenant-owned id (`XN` of `XN-01J…`). */
export const tenantOfId = (id: string): string => id.slice(0, id.indexOf("-"));

/**
 * A place where a URN of one of these kinds stands. The `urn` keyword is what the gateway's tenant check
 * and validator read, so a route cannot take a URN that nobody checks.
 */
export const Urn = (...of: UrnKind[]): TString =>
  Type.String({ urn: of, minLength: 7, maxLength: 300, examples: of.slice(0, 1).map(exampleUrn) });

const exampleUrn = (kind: UrnKind): string =>
  kinds[kind] === "tenant"
    ? urn(kind, "XN-01JD0000000000000000000000")
    : kinds[kind] === "airline"
      ? "urn:airline:XN"
      : urn(kind, kind === "hotel" ? "jfk-garden-court" : "example");

/** Whether the text is a URN of one of the kinds; the rule behind the `urn` schema keyword. */
export const isUrnOf = (text: string, of: readonly UrnKind[]): boolean => {
  const parsed = parseUrn(text);
  return parsed !== undefined && of.includes(parsed.kind);
};

/** The Ajv keyword behind `Urn`: a text passes that is a URN of one of the kinds. */
export const urnKeyword = {
  keyword: "urn",
  type: "string",
  schemaType: "array",
  validate: (of: readonly UrnKind[], text: string): boolean => isUrnOf(text, of),
  errors: false,
} as const;
