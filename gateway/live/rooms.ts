/** Owns the rooms of the operators' channel: what names one, and who may be in it. */
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { parseUrn } from "../../schemas/urn.ts";

/** One case, or all of an airport's. */
export type Room =
  | { kind: "case"; caseId: string; airport: string }
  | { kind: "airport"; tenant: string; airport: string };

/** What a client names; the airport of a case is found out. */
export type Named = { caseUrn: string; caseId: string } | { airport: string };

export const keyOf = (room: Room): string =>
  room.kind === "case" ? `case:${room.caseId}` : `airport:${room.tenant}:${room.airport}`;

const airportForm = /^[A-Z]{3}$/;

/** @throws Problem validation/body, auth/foreign-tenant, auth/foreign-airport */
export const namedBy = (payload: unknown, { tenant, airport: scope }: Principal): Named => {
  const { caseUrn, airport } = (typeof payload === "object" && payload !== null ? payload : {}) as Record<
    string,
    unknown
  >;
  if (typeof caseUrn === "string" && airport === undefined) {
    const parsed = parseUrn(caseUrn);
    if (parsed?.kind !== "case") throw wrong();
    if (parsed.tenant !== tenant) throw new Problem("auth/foreign-tenant", "This case is another airline's.");
    return { caseUrn, caseId: parsed.id };
  }
  if (typeof airport === "string" && caseUrn === undefined && airportForm.test(airport)) {
    if (scope !== undefined && scope !== airport) throw foreignAirport();
    return { airport };
  }
  throw wrong();
};

const wrong = (): Problem =>
  new Problem(
    "validation/body",
    "Name a case as `caseUrn`, or an airport by its three letters as `airport`.",
  );

const foreignAirport = (): Problem =>
  new Problem("auth/foreign-airport", "You are scoped to another airport.");

/** Whether somebody who was in the room may still be: asked anew for each connection and each token. */
export const mayStay = (room: Room, { tenant, airport }: Principal): boolean =>
  tenantOf(room) === tenant && (airport === undefined || airport === room.airport);

export const tenantOf = (room: Room): string | undefined =>
  room.kind === "airport" ? room.tenant : parseUrn(`urn:case:${room.caseId}`)?.tenant;
