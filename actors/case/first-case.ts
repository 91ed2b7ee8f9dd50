/**
 * Owns that an airline with a flight feed has one case for a flight, whoever is first: the feed, its own push, or an operator. The first
 * holds the flight (`flightClaim`, unique while the case is open); what comes later finds it there.
 */
import type { CaseOpened, OpenCaseManuallyBody } from "../../schemas/case.ts";
import type { Accepted, Command } from "../../schemas/command.ts";
import { type FlightCaseNote, flightKeyOf, type OpenDetected } from "../../schemas/flight.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { ManifestPatchBody } from "../../schemas/partner-manifest.ts";
import { Problem } from "../../schemas/problems.ts";
import { watchBucket } from "../../streams/bucket.ts";
import { causedId } from "../runtime/clock.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import { isAwaitingPush } from "./detected-state.ts";
import type { ToldFacts } from "./disruption-facts.ts";
import { bodyHashOf, eventIdOf, factsToldBy } from "./intake.ts";
import type { CaseState } from "./state.ts";

/** Of two that open a case for one flight in the same moment one is sent to the other's: it is found at the next look. */
const looksMax = 5;

/** The airlines that have a vendor of flight data: no other airline's pushes look whether a feed was first. */
export interface FedAirlines {
  has(tenant: string): boolean;
  close(): void;
}

export const watchFedAirlines = async ({ log, streams }: ActorContext): Promise<FedAirlines> => {
  const fed = new Set<string>();
  const bucket = await watchBucket<{ kind?: string }>(streams, "vendors", {
    onValue: (key, { kind }) => {
      if (kind === "flight") fed.add(key.split(".", 1)[0] as string);
    },
    onUnreadable: (key, error) => log.error({ key, err: error }, "a vendor is not understood"),
    onEnd: (error) => log.error({ err: error }, "flight feeds are not heard of any more"),
  });
  return { has: (tenant) => fed.has(tenant), close: () => bucket.close() };
};

/** What a look tells of the case that a flight has. */
type Holder = Pick<CaseState, "externalEventId" | "status" | "detection" | "progress" | "flight"> & {
  _id: string;
};

const projection = { externalEventId: 1, status: 1, detection: 1, progress: 1, flight: 1 };

const holderOf = (context: ActorContext, tenant: string, flightClaim: string): Promise<Holder | null> =>
  context.documents
    .tenant(tenant)
    .collection<Holder>("cases")
    .findOne({ flightClaim } as object, { projection });

/** Of the flight's local day, wherever it departs. */
const dayMs = 86_400_000;

/** An open case of the flight that holds nothing: it was opened before the airline had a feed, or is open again. */
const openWithoutClaim = async (
  context: ActorContext,
  tenant: string,
  { origin, scheduledDeparture, ...rest }: Departure,
): Promise<Holder[]> => {
  const at = scheduledDeparture.getTime();
  const found = await context.documents
    .tenant(tenant)
    .collection<Holder>("cases")
    .find(
      {
        "flight.scheduledDeparture": { $gt: new Date(at - dayMs), $lt: new Date(at + dayMs) },
        "flight.origin": origin,
        status: { $ne: "CLOSED" },
        kind: { $exists: false },
        flightClaim: { $exists: false },
      } as object,
      { projection },
    )
    .sort({ _id: 1 })
    .toArray();
  const wanted = flightKeyOf({ ...rest, origin, scheduledDeparture });
  return found.filter(({ flight }) => flightKeyOf(flight) === wanted);
};

const isThere = async (context: ActorContext, tenant: string, filter: object): Promise<boolean> =>
  (await context.documents
    .tenant(tenant)
    .collection<Holder>("cases")
    .findOne(filter, { projection: { _id: 1 } })) !== null;

/** @param look undefined: somebody else was quicker, and is found by the next one */
const untilFound = async <Found>(look: () => Promise<Found | undefined>): Promise<Found> => {
  for (let looks = 0; looks < looksMax; looks++) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Problem("conflict/concurrent-write", "Others keep opening this flight's case. Repeat it.");
};

const unlessOvertaken = async <Reply>(opening: Promise<Reply>): Promise<Reply | undefined> => {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof Problem && error.code === "conflict/concurrent-write") return undefined;
    throw error;
  }
};

type Body = DisruptionPushBody | OpenCaseManuallyBody;

/** What a flight is known by. */
type Departure = Parameters<typeof flightKeyOf>[0];

const departureOf = ({ flight }: Body): Departure => {
  const [number, origin] =
    "iataDesignator" in flight
      ? [flight.iataDesignator, flight.originAirport]
      : [flight.number, flight.origin];
  return { number, origin, scheduledDeparture: new Date(flight.scheduledDeparture) };
};

/** A push or declaration: of a flight for which the feed has opened a case it is about that case. */
export const openOnce =
  (context: ActorContext, verb: "open" | "open-manually", fed: Promise<FedAirlines>): CommandFunction =>
  async (command, dispatch) => {
    const { tenant } = command;
    const body = command.data as Body;
    const isDrill = "kind" in body && body.kind !== undefined;
    if (isDrill || !(await fed).has(tenant)) return dispatch(verb, command);
    const externalEventId = eventIdOf(body);
    const departure = departureOf(body);
    return untilFound(async () => {
      const holder =
        (await holderOf(context, tenant, flightKeyOf(departure))) ??
        (await openWithoutClaim(context, tenant, departure)).find(isAwaitingPush);
      if (holder === undefined)
        return unlessOvertaken(dispatch(`${verb}-first`, { ...command, name: `case.${verb}-first` }));
      const isElsewhere =
        holder.externalEventId === externalEventId ||
        !isAwaitingPush(holder) ||
        (await isThere(context, tenant, { externalEventId }));
      if (isElsewhere) return dispatch(verb, command);
      const found = { ...command, entity: holder._id };
      return unlessOvertaken(
        holder.progress === "" ? dispatch(verb, found) : takePush(found, verb, dispatch),
      );
    });
  };

/** Somebody has put passengers into it already: those whom the push brings are added, and the case is called as the push calls it. */
const takePush = async (command: Command, verb: string, dispatch: Dispatch) => {
  const body = command.data as Body;
  const decided = new Date(body.disruption?.decidedAt ?? command.issuedAt);
  const issued = new Date(command.issuedAt);
  const { nextFlight } = body;
  const data: ManifestPatchBody & Naming = {
    decidedAt: (decided < issued ? decided : issued).toISOString(),
    passengers:
      "passengers" in body ? body.passengers : body.passengerGroups.flatMap(({ passengers }) => passengers),
    ...(nextFlight === undefined
      ? {}
      : {
          nextFlight: {
            iataDesignator: "iataDesignator" in nextFlight ? nextFlight.iataDesignator : nextFlight.number,
            scheduledDeparture: nextFlight.scheduledDeparture,
          },
        }),
    naming: {
      externalEventId: eventIdOf(body),
      bodyHash: bodyHashOf(body),
      facts: factsToldBy({ ...command, name: `case.${verb}` }),
    },
  };
  await dispatch("take-push", { ...command, name: "case.take-push", data });
  return dispatch(verb, { ...command, id: causedId(command.id, "taken") }) as Promise<Accepted>;
};

/** What the case is called from then on, and what its airline says of the disruption. */
export interface Naming {
  naming: Pick<CaseState, "externalEventId" | "bodyHash"> & { facts: ToldFacts };
}

/** The feed's own: where a case holds the flight there is no second one, and the flight hears which it is. */
export const openDetected =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { tenant, entity } = command;
    const data = command.data as OpenDetected;
    const { flight, flightId, crossing } = data;
    const departure = { ...flight, scheduledDeparture: new Date(flight.scheduledDeparture) };
    return untilFound(async () => {
      if (await isThere(context, tenant, { _id: entity })) return dispatch("open-detected", command);
      const holder =
        (await holderOf(context, tenant, flightKeyOf(departure))) ??
        (await openWithoutClaim(context, tenant, departure)).sort(
          (one, other) => Number(isFrom(other, flightId)) - Number(isFrom(one, flightId)),
        )[0];
      if (holder === undefined) return unlessOvertaken(dispatch("open-detected", command));
      if (isFrom(holder, flightId)) return amended(command, holder._id, dispatch);
      const note: FlightCaseNote = { crossing, caseId: holder._id, standing: "ELSEWHERE" };
      const id = causedId(command.id, "note-case");
      const told = { id, name: "flight.note-case", entity: flightId, data: note, now: context.clock.now() };
      await sendCommand(context.streams, systemCommand("case", command, told));
      return { ok: null };
    });
  };

const isFrom = ({ detection }: Holder, flightId: string): boolean => detection?.flightId === flightId;

/** The feed has opened it at an earlier detection, and tells the flight so itself. @returns undefined: it has been closed since the look */
const amended = async (command: Command, entity: string, dispatch: Dispatch) => {
  const id = causedId(command.id, "amend-detected", entity);
  const amending = { ...command, id, entity, name: "case.amend-detected" };
  const reply = (await dispatch("amend-detected", amending)) as Accepted<CaseOpened>;
  return reply.ok.status === "CLOSED" ? undefined : reply;
};
