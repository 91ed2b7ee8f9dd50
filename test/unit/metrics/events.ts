// Events of nights as the streams carry them: of one case each, its groups and rooms by number.
import type { RoomFact } from "../../../actors/metrics/facts.ts";
import { derivedId } from "../../../actors/runtime/clock.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import { urn } from "../../../schemas/urn.ts";

/** Long ago: whatever a test writes now comes after it. */
export const evening = new Date("2020-11-21T21:10:00.000Z");
export const minutesLater = (minutes: number): Date => new Date(evening.getTime() + minutes * 60_000);

export interface Night {
  caseId: string;
  event(type: string, minutes: number, data?: object): EventRecord;
  opened(minutes?: number): EventRecord;
  resolved(minutes: number): EventRecord;
  /** The n-th demand's. */
  asked(n: number, rooms: number): EventRecord;
  /** Of the n-th group's room. */
  room(n: number, room: RoomFact, minutes?: number): EventRecord;
  ready(n: number, minutes: number): EventRecord;
  answered(n: number, answer: "resolved" | "declined"): EventRecord;
  breached(minutes: number): EventRecord;
  touched(minutes: number, data?: object): EventRecord;
}

/** @param name tells cases apart @param cameIn minutes after the evening */
export const nightOf = (name: string, airport = "JFK", cameIn = 0, airline = "XN"): Night => {
  const caseId = derivedId(airline, name, minutesLater(cameIn));
  const id = (what: string) => derivedId(airline, `${name}/${what}`, evening);
  const event: Night["event"] = (type, minutes, data = {}) => ({
    urn: urn("event", id(`${type}/${minutes}/${JSON.stringify(data)}`)),
    type,
    occurred_at: minutesLater(cameIn + minutes).toISOString(),
    tenant: urn("airline", airline),
    case_urn: urn("case", caseId),
    correlation_urn: "urn:correlation:test",
    traceparent: "",
    data: data as Record<string, unknown>,
  });
  const group = (n: number) => ({
    subCaseUrn: urn("sub-case", id(`group ${n}`)),
    bookingUrn: urn("booking", id(`room ${n}`)),
  });
  return {
    caseId,
    event,
    opened: (minutes = 1) => event("case.opened", minutes, { airport }),
    resolved: (minutes) => event("case.resolved", minutes),
    asked: (n, rooms) =>
      event("demand.requested", 2, { demandId: id(`demand ${n}`), roomsRequested: rooms, type: "INITIAL" }),
    room: (n, room, minutes = 5) => event("subcase.room-changed", minutes, { ...group(n), room }),
    ready: (n, minutes) => event("subcase.offer-ready", minutes, group(n)),
    answered: (n, answer) => event(`subcase.${answer}`, 20, group(n)),
    breached: (minutes) => event("review.sla-breached", minutes, { airport, breaches: 1 }),
    touched: (minutes, data = {}) =>
      event("audit.recorded", minutes, { surface: "operator", action: "demand.approve", ...data }),
  };
};
