/** Owns who inherits which role and whether a role or scope opens a route. Tokens carry only the assigned role (contract, "Operator"). */
import type { Role, Scope } from "../../schemas/vocabulary.ts";

/** FINANCE_AUDIT is parallel to the line of operators; only ADMIN has it too. */
const directlyInherits: Readonly<Record<Role, readonly Role[]>> = {
  ADMIN: ["OPS_SUPERVISOR", "FINANCE_AUDIT"],
  OPS_SUPERVISOR: ["AIRPORT_OPERATOR"],
  AIRPORT_OPERATOR: [],
  FINANCE_AUDIT: [],
};

/** The role itself and all that it inherits. */
export const rolesOf = (role: Role): ReadonlySet<Role> =>
  new Set([role, ...directlyInherits[role].flatMap((inherited) => [...rolesOf(inherited)])]);

const effective: Readonly<Record<Role, ReadonlySet<Role>>> = {
  ADMIN: rolesOf("ADMIN"),
  OPS_SUPERVISOR: rolesOf("OPS_SUPERVISOR"),
  AIRPORT_OPERATOR: rolesOf("AIRPORT_OPERATOR"),
  FINANCE_AUDIT: rolesOf("FINANCE_AUDIT"),
};

/** Whether the held role is, or inherits, one of the allowed. */
export const roleAllows = (held: Role | undefined, allowed: readonly Role[]): boolean =>
  held !== undefined && allowed.some((role) => effective[held].has(role));

/** Whether one of the allowed scopes was granted. */
export const scopeAllows = (granted: readonly Scope[] | undefined, allowed: readonly Scope[]): boolean =>
  granted !== undefined && allowed.some((scope) => granted.includes(scope));
