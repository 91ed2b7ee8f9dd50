// A night as partners follow it and write to it: who pushes, reads and amends, and the case of three bookings that is housed before anything is
// asked.
import type { Test } from "tap";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { PartnerServices } from "../../schemas/partner-reads.ts";
import { type Clients, startClients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";

export const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
export const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
export const traveller = (pnr: string, lastName: string, firstName = "Grace") => ({
  ...{ pnr, lastName, firstName, cabinClass: "ECONOMY" },
  contact: { email: `${lastName.toLowerCase().replaceAll(/\W/g, "")}@example.com`, language: "en" },
});

export interface PartnerNight {
  night: Clients;
  /** The partner's of XN, and of another airline's. */
  token: string;
  foreign: string;
  supervisor: string;
  /** The case's URN. */
  push(name: string, bookings: number, airport?: string): Promise<string>;
  /** By the partner. */
  read<Body>(id: string, params?: Record<string, string>, query?: object): Promise<Body>;
  /** As operators see it. */
  detail(caseUrn: string): Promise<CaseView>;
  housed(caseUrn: string, groups: number): Promise<PartnerServices[]>;
  /** The case, and what its groups have got. */
  tonight: string;
  services: PartnerServices[];
}

export async function startPartnerNight(t: Test): Promise<PartnerNight> {
  const night = await startClients(t, {
    settings: { PARTNER_PRIORITY_DAILY: "3", PARTNER_NOTIFY_DAILY: "4", PARTNER_NOTIFY_PASSENGER_DAILY: "2" },
  });
  const [xn, qz] = night.airlines;
  const token = await night.partnerToken(xn);
  const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
  const push: PartnerNight["push"] = async (name, bookings, airport = "JFK") => {
    const body = smallFlight("XN", name, bookings);
    const flight = { ...body.flight, originAirport: airport };
    return (await night.pushed(xn, { ...body, flight })).body.caseUrn;
  };
  const read = async <Body>(id: string, params: Record<string, string> = {}, query = {}): Promise<Body> =>
    (await night.call<Body>(id, { token, params, query })).body;
  const detail: PartnerNight["detail"] = async (caseUrn) =>
    (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
  const housed: PartnerNight["housed"] = async (caseUrn, groups) => {
    await night.events.untilCount("subcase.offer-ready", groups, { caseUrn });
    return (await read<Page<PartnerServices>>("listPartnerServices", { caseUrn })).items;
  };
  const tonight = await push("tonight", 3);
  const services = await housed(tonight, 3);
  const foreign = await night.partnerToken(qz);
  return { night, token, foreign, supervisor, push, read, detail, housed, tonight, services };
}
