/** Owns the two checks that stand between a principal and an entity that exists: its airport and its case. */
import type { Principal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";

/** @throws Problem auth/foreign-airport for an operator scoped to another airport (contract, "Role rules") */
export const requireAirport = (principal: Principal, airport: string): void => {
  if (principal.airport === undefined || principal.airport === airport) return;
  throw new Problem("auth/foreign-airport", `You are scoped to ${principal.airport}; this is at ${airport}.`);
};

/** The part of a list's filter that keeps an operator inside its airport. */
export const airportFilter = (principal: Principal, asked: string | undefined): { airport?: string } => {
  if (asked !== undefined) requireAirport(principal, asked);
  const airport = asked ?? principal.airport;
  return airport === undefined ? {} : { airport };
};
