/** Owns how a disruption becomes a case: a partner's push or an operator's declaration, and its provisioning in chunks. */
import { createHash } from "node:crypto";
import { airport as airportOf } from "../../schemas/airports.ts";
import type { OpenCaseManuallyBody } from "../../schemas/case.ts";
import type { Command } from "../../schemas/command.ts";
import type { CaseKind } from "../../schemas/drill.ts";
import { flightKeyOf } from "../../schemas/flight.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import { needsOf } from "../../schemas/passenger.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import type { DisruptionType } from "../../schemas/vocabulary.ts";
import { derivedId } from "../runtime/clock.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { isAwaitingManifest, isAwaitingPush } from "./detected-state.ts";
import { reasonOf, type ToldFacts } from "./disruption-facts.ts";
import { groupByPnr, groupOf, groupPassengersMax, type ManifestGroup } from "./manifest.ts";
import type { CaseEvent, CaseState, GroupHead } from "./state.ts";

/** A lost command of ours is sent again after this long. */
export const reissueAfterMs = 20_000;
const chunkGroupsMax = 100;
/** Well under what one message may hold. */
const chunkBytesMax = 180_000;

/** Both surfaces' bodies in one shape. */
interface Intake {
  externalEventId: string;
  kind?: CaseKind;
  source: CaseState["source"];
  flight: CaseState["flight"];
  nextFlight: CaseState["nextFlight"];
  disruption: { type: DisruptionType; reason: string; airport?: string; decidedAt: Date };
  groups: (tenant: string, seed: string) => ManifestGroup[];
  pointers: { origin: string; destination: string; passengers: string };
  /** Set: group ids were chosen by the sender, by the index of their group in the body. */
  namedGroups: [index: number, groupId: string][];
}

const readPush = (body: DisruptionPushBody): Intake => ({
  externalEventId: body.externalEventId,
  source: "PARTNER",
  flight: {
    number: body.flight.iataDesignator,
    origin: body.flight.originAirport,
    destination: body.flight.destinationAirport,
    scheduledDeparture: new Date(body.flight.scheduledDeparture),
  },
  nextFlight: body.nextFlight && {
    number: body.nextFlight.iataDesignator,
    scheduledDeparture: new Date(body.nextFlight.scheduledDeparture),
  },
  disruption: { ...body.disruption, decidedAt: new Date(body.disruption.decidedAt) },
  groups: (tenant, seed) => groupByPnr(tenant, seed, body.passengers),
  pointers: {
    origin: "/flight/originAirport",
    destination: "/flight/destinationAirport",
    passengers: "/passengers",
  },
  namedGroups: [],
});

/** A drill is named apart: the real event of that name, should it come, opens a case of its own. */
export const eventIdOf = ({ externalEventId, kind }: { externalEventId: string; kind?: CaseKind }): string =>
  kind === undefined ? externalEventId : `${kind}:${externalEventId}`;

const readDeclaration = (body: OpenCaseManuallyBody, now: Date): Intake => ({
  externalEventId: eventIdOf(body),
  ...(body.kind === undefined ? {} : { kind: body.kind }),
  source: "MANUAL",
  flight: { ...body.flight, scheduledDeparture: new Date(body.flight.scheduledDeparture) },
  nextFlight: body.nextFlight && {
    number: body.nextFlight.number,
    scheduledDeparture: new Date(body.nextFlight.scheduledDeparture),
  },
  disruption:
    body.disruption === undefined
      ? { type: "CANCELLED", reason: "OTHER", decidedAt: now }
      : { ...body.disruption, decidedAt: new Date(body.disruption.decidedAt) },
  groups: (tenant, seed) => declaredGroups(tenant, seed, body.passengerGroups),
  pointers: { origin: "/flight/origin", destination: "/flight/destination", passengers: "/passengerGroups" },
  namedGroups: body.passengerGroups.flatMap(({ groupId }, i) =>
    groupId === undefined ? [] : [[i, groupId] as [number, string]],
  ),
});

const declaredGroups = (tenant: string, seed: string, groups: OpenCaseManuallyBody["passengerGroups"]) =>
  groups.flatMap(({ groupId, passengers }, i) =>
    groupId === undefined
      ? groupByPnr(tenant, `${seed}/${i}`, passengers)
      : [groupOf(tenant, groupId, `${seed}/${groupId}`, passengers)],
  );

/** The same for the same JSON, whatever the order in which a sender writes its members. */
export const bodyHashOf = (body: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(body)))
    .digest("base64url");

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
};

/**
 * A push or declaration. The same externalEventId again changes nothing; under another body it is noted for the audit.
 * @throws Problem validation/body for airports that nobody knows and groups named twice; auth/foreign-airport; auth/insufficient-role
 */
export const decideOpen = (state: CaseState | undefined, command: Received): CaseEvent[] => {
  const bodyHash = bodyHashOf(command.data);
  requireDrillRole(command);
  if (state !== undefined) requireAirport(command.principal, state.airport);
  if (state?.externalEventId === eventIdOf(command.data as { externalEventId: string; kind?: CaseKind })) {
    const known = state.bodyHash === bodyHash || state.otherBodies.includes(bodyHash);
    return known ? [] : [{ type: "case.repeated-differently", data: { bodyHash } }];
  }
  if (state !== undefined) requireWaiting(state);
  const intake = intakeOf(command, command.now);
  const airport = checkedAirport(command, intake);
  checkGroups(intake.namedGroups);
  const manifest = intake.groups(command.tenant, `${command.tenant}/${intake.externalEventId}`);
  checkSizes(manifest, intake.pointers.passengers);
  const opened = registered(command, intake, airport, manifest, bodyHash);
  if (state !== undefined) return [{ type: "case.manifest-received", data: opened }];
  return [{ type: "case.registered", data: claims(command) ? withClaim(opened) : opened }];
};

const intakeOf = ({ name, data }: Pick<Command, "name" | "data">, now: Date): Intake =>
  pushes.has(name)
    ? readPush(data as DisruptionPushBody)
    : readDeclaration(data as OpenCaseManuallyBody, now);

/** Where the case is. @throws Problem validation/body, auth/foreign-airport */
const checkedAirport = ({ principal }: Pick<Command, "principal">, intake: Intake): string => {
  const airport = caseAirport(intake);
  checkAirports(intake);
  requireAirport(principal, airport);
  return airport;
};

/** What a push or declaration says of a case that has passengers. @throws Problem as {@link decideOpen} for its airports */
export const factsToldBy = (command: Command): ToldFacts => {
  const intake = intakeOf(command, new Date(command.issuedAt));
  const airport = checkedAirport(command, intake);
  const { flight, disruption } = intake;
  const told = { flight: { ...flight, scheduledDeparture: flight.scheduledDeparture.toISOString() } };
  if ((command.data as OpenCaseManuallyBody).disruption === undefined) return told;
  return { ...told, airport, disruption: { ...disruption, decidedAt: disruption.decidedAt.toISOString() } };
};

const pushes: ReadonlySet<string> = new Set(["case.open", "case.open-first"]);

/** Nobody has a case for the flight, in an airline where a feed might open one. */
const claims = ({ name }: Received): boolean => name.endsWith("-first");

const withClaim = (opened: CaseState): CaseState => ({ ...opened, flightClaim: flightKeyOf(opened.flight) });

/** @throws Problem conflict/concurrent-write: whoever has looked finds another standing when it looks again */
const requireWaiting = (state: CaseState): void => {
  if (isAwaitingPush(state) && isAwaitingManifest(state)) return;
  throw new Problem("conflict/concurrent-write", "The case is another event's by now. Repeat it.");
};

/** Contract, "Role rules": drills and shadow cases are an administrator's. */
const requireDrillRole = ({ data, principal }: Received): void => {
  const { kind } = data as { kind?: CaseKind };
  if (kind === undefined || principal.surface === "system" || principal.role === "ADMIN") return;
  throw new Problem("auth/insufficient-role", "Drills and shadow cases are run by an ADMIN.");
};

/** Where the passengers are stranded: said, or the destination of a diversion or missed connection, else the origin. */
const caseAirport = ({ disruption, flight }: Intake): string => {
  if (disruption.airport !== undefined) return disruption.airport;
  const beyond = disruption.type === "DIVERTED" || disruption.type === "MISSED_CONNECTION";
  return beyond ? flight.destination : flight.origin;
};

const checkAirports = ({ pointers, flight, disruption }: Intake): void => {
  const named: [string, string | undefined][] = [
    [pointers.origin, flight.origin],
    [pointers.destination, flight.destination],
    ["/disruption/airport", disruption.airport],
  ];
  const errors: FieldError[] = named
    .filter(([, code]) => code !== undefined && airportOf(code) === undefined)
    .map(([pointer, code]) => ({ pointer, detail: `${code} is not a known IATA airport code` }));
  if (errors.length > 0) throw new Problem("validation/body", "An airport code is not known.", { errors });
};

const checkGroups = (named: Intake["namedGroups"]): void => {
  const seen = new Set<string>();
  const errors = named.flatMap(([i, groupId]) => {
    if (!seen.has(groupId)) return seen.add(groupId) && [];
    return [{ pointer: `/passengerGroups/${i}/groupId`, detail: `group ${groupId} stands twice` }];
  });
  if (errors.length > 0) throw new Problem("validation/body", "A group is named twice.", { errors });
};

/** @throws Problem validation/body */
export const checkSizes = (manifest: ManifestGroup[], pointer: string): void => {
  const large = manifest.find(({ passengers }) => passengers.length > groupPassengersMax);
  if (large === undefined) return;
  const named = large.passengers[0]?.pnr ?? large.groupId;
  const detail = `${named} has ${large.passengers.length} passengers; a group has at most ${groupPassengersMax}`;
  throw new Problem("validation/body", "A booking is too large to be one.", {
    errors: [{ pointer, detail }],
  });
};

const registered = (
  command: Received,
  intake: Intake,
  airport: string,
  manifest: ManifestGroup[],
  bodyHash: string,
): CaseState => {
  const seed = `${command.tenant}/${intake.externalEventId}`;
  return {
    externalEventId: intake.externalEventId,
    bodyHash,
    otherBodies: [],
    status: "OPEN",
    ...(intake.kind === undefined ? {} : { kind: intake.kind }),
    source: intake.source,
    airport,
    flight: intake.flight,
    ...(intake.nextFlight === undefined ? {} : { nextFlight: intake.nextFlight }),
    disruption: { ...intake.disruption, ...reasonOf(intake.disruption.reason) },
    createdAt: command.now,
    createdBy: command.principal.urn,
    correlationUrn: command.correlationUrn,
    groups: manifest.map((group) => headOf(command, seed, group)),
    progress: "W".repeat(manifest.length),
    rooms: "0".repeat(manifest.length),
    rounds: "0".repeat(manifest.length),
    onDesk: [],
    manifest,
    provisioned: 0,
    policies: {},
    demands: [],
    awaiting: { step: "provisioning", dueAt: new Date(command.now.getTime() + reissueAfterMs) },
  };
};

const headOf = (command: Received, seed: string, group: ManifestGroup): GroupHead => ({
  groupId: group.groupId,
  subCaseId: derivedId(command.tenant, `${seed}/${group.groupId}`, command.now),
  ...(group.tier === undefined ? {} : { tier: group.tier }),
  passengers: group.passengers.length,
  needs: needsOf(group.passengers),
  missing: group.missing,
});

/** How many of the groups that the case still owns go with the next message: by count and by size. */
export const chunkSize = (groups: readonly object[]): number => {
  let bytes = 0;
  let count = 0;
  for (const group of groups.slice(0, chunkGroupsMax)) {
    bytes += Buffer.byteLength(JSON.stringify(group));
    if (count > 0 && bytes > chunkBytesMax) break;
    count += 1;
  }
  return count;
};

/** A chunk's sub-cases stand. Chunks are confirmed by where they begin, so a repeated answer counts once. */
export const decideProvisioned = (state: CaseState | undefined, command: Received): CaseEvent[] => {
  if (state === undefined) throw new NotYet("The case is not registered yet.");
  const { from, count } = command.data as { from: number; count: number };
  if (from !== state.provisioned || state.provisionedAt !== undefined || state.status === "CLOSED") return [];
  const dueAt = new Date(command.now.getTime() + reissueAfterMs);
  return count >= state.groups.length - state.provisioned
    ? [{ type: "case.opened", data: { at: command.now, dueAt } }]
    : [{ type: "case.chunk-provisioned", data: { count, dueAt } }];
};
