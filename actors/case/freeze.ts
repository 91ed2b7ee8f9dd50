/** Owns an airport's freeze of demand: one document an airport; while it stands, demand there is rejected with its reason. */
import { airport as airportOf } from "../../schemas/airports.ts";
import type { DemandFreezeView } from "../../schemas/demand.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import { freshId } from "../runtime/clock.ts";
import type { Decider, Outgoing, Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";

export const freezeCollection = "demandFreezes";
export const freezeIndexes = [{ name: "airport", key: { airport: 1 }, unique: true }] as const;

/** As it was declared. */
export interface Freeze {
  reason: string;
  at: Date;
  by: string;
  /** Absent: until somebody lifts it. */
  until?: Date;
}

export interface FreezeState {
  airport: string;
  declared: Freeze;
  lifted?: { at: Date; by: string };
}

export type FreezeEvent =
  | { type: "demand.frozen"; data: { airport: string; declared: Freeze } }
  | { type: "demand.unfrozen"; data: { airport: string; at: Date; by: string } };

/** What decisions about demand go by; undefined: demand at the airport is not frozen. */
export const standingFreeze = (state: FreezeState | undefined, now: Date): Freeze | undefined =>
  state !== undefined && statusOf(state, now) === "ACTIVE" ? state.declared : undefined;

const statusOf = ({ declared, lifted }: FreezeState, now: Date): DemandFreezeView["status"] =>
  lifted !== undefined
    ? "LIFTED"
    : declared.until !== undefined && declared.until <= now
      ? "EXPIRED"
      : "ACTIVE";

export const evolveFreeze = (state: FreezeState | undefined, event: FreezeEvent): FreezeState => {
  if (event.type === "demand.frozen") return { ...event.data };
  const { at, by } = event.data;
  return { ...(state as FreezeState), lifted: { at, by } };
};

/** @throws Problem conflict/state for an airport that is frozen, or is not; validation/body; auth/foreign-airport */
export const decideFreeze = (state: FreezeState | undefined, command: Received): FreezeEvent[] => {
  const { now, principal } = command;
  if (command.name === "case.freeze-demand") return freeze(state, command);
  if (state === undefined) throw new Problem("not-found/resource", "No such freeze.");
  requireAirport(principal, state.airport);
  const status = statusOf(state, now);
  if (status !== "ACTIVE") throw new Problem("conflict/state", `The freeze is ${status}.`, { state: status });
  return [{ type: "demand.unfrozen", data: { airport: state.airport, at: now, by: principal.urn } }];
};

const freeze = (state: FreezeState | undefined, { data, now, principal }: Received): FreezeEvent[] => {
  const { airport, reason, until } = data as { airport: string; reason: string; until?: string };
  const wrong = (pointer: string, detail: string): Problem =>
    new Problem("validation/body", "Correct the fields named in `errors`.", {
      errors: [{ pointer, detail }],
    });
  if (airportOf(airport) === undefined)
    throw wrong("/airport", `${airport} is not a known IATA airport code`);
  requireAirport(principal, airport);
  const end = until === undefined ? undefined : new Date(until);
  if (end !== undefined && end <= now) throw wrong("/until", "must be in the future");
  if (standingFreeze(state, now) !== undefined)
    throw new Problem("conflict/state", `Demand at ${airport} is frozen already.`, { state: "ACTIVE" });
  const declared = { reason, at: now, by: principal.urn, ...(end === undefined ? {} : { until: end }) };
  return [{ type: "demand.frozen", data: { airport, declared } }];
};

/** Cases with pending demand are told after the commit: whatever is asked for later reads the freeze by itself. */
const outgoingOf = (event: FreezeEvent, freezeId: string): Outgoing[] => {
  const told: Outgoing = { to: "internal", type: event.type, id: freezeId, data: { ...event.data } };
  if (event.type === "demand.unfrozen") return [told];
  const { airport } = event.data;
  return [told, { to: "command", name: "case.spread-freeze", entity: freezeId, data: { airport } }];
};

export const freezeView = (
  freezeId: string,
  state: FreezeState,
  version: number,
  now: Date,
): DemandFreezeView => {
  const { airport, declared, lifted } = state;
  return {
    urn: urn("demand-freeze", freezeId),
    airport,
    reason: declared.reason,
    status: statusOf(state, now),
    frozenAt: declared.at.toISOString(),
    frozenBy: declared.by,
    ...(declared.until === undefined ? {} : { until: declared.until.toISOString() }),
    ...(lifted === undefined ? {} : { liftedAt: lifted.at.toISOString(), liftedBy: lifted.by }),
    version,
  };
};

export const freezes: Decider<FreezeState, FreezeEvent> = {
  actor: "case",
  kind: "demand-freeze",
  collection: freezeCollection,
  schemaVersion: 1,
  commands: ["freeze-demand", "lift-freeze"],
  indexes: freezeIndexes,
  decide: decideFreeze,
  evolve: evolveFreeze,
  outgoing: (event, _state, _command, id) => outgoingOf(event, id),
  locate: ({ name, data }) =>
    name === "case.freeze-demand" ? { airport: (data as { airport: string }).airport } : undefined,
  create: ({ name, tenant, now }) => (name === "case.freeze-demand" ? freshId(tenant, now) : undefined),
  view: (state, { id, version, command }) => freezeView(id, state, version, new Date(command.issuedAt)),
  audit: ({ command, before, after }) => ({ action: command.name, before: before ?? null, after }),
};
