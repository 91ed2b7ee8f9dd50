// Passengers who have their offer, each with a session: who they are, and what tells of nobody else.
import type { CaseView } from "../../schemas/case.ts";
import type { OfferView } from "../../schemas/passenger-api.ts";
import { idOf } from "../../schemas/urn.ts";
import type { DemoAirline } from "../../scripts/demonstration/provision.ts";
import type { Call, Clients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";

export interface Guest {
  airline: DemoAirline;
  caseUrn: string;
  groupId: string;
  subCaseId: string;
  token: string;
  passengerUrn: string;
  /** What tells of nobody else. */
  marks: string[];
}

const hourMs = 3_600_000;

/** Who is stranded within the hour needs a room from today on, whatever the hour. @returns the case, once all have their offers */
export const strand = async (
  { pushed, events }: Clients,
  airline: DemoAirline,
  { name, pnrs, airport, hours = 1 }: { name: string; pnrs: string[]; airport: string; hours?: number },
): Promise<string> => {
  const body = smallFlight(airline.code, name, 0);
  const at = (ms: number) => new Date(Date.now() + ms).toISOString();
  const { caseUrn } = (
    await pushed(airline, {
      ...body,
      flight: { ...body.flight, originAirport: airport, scheduledDeparture: at(hours * hourMs) },
      nextFlight: {
        iataDesignator: `${airline.code}484`,
        scheduledDeparture: at((hours + 30) * hourMs),
      },
      passengers: pnrs.map((pnr) => ({
        ...{ pnr, firstName: `Given${pnr}`, lastName: `Family${pnr}`, cabinClass: "ECONOMY" as const },
        contact: { phone: "+12025550143", language: "en" as const },
      })),
    })
  ).body;
  await events.untilCount("subcase.offer-ready", pnrs.length, { caseUrn });
  return caseUrn;
};

export const guestOf = async (
  night: Clients,
  airline: DemoAirline,
  caseUrn: string,
  pnr: string,
): Promise<Guest> => {
  const token = await night.passengerToken(airline, { pnr, lastName: `Family${pnr}` });
  const operator = await night.operatorToken(airline.urn, "ADMIN");
  const seen = (await night.call<CaseView>("getCase", { token: operator, params: { caseUrn } })).body;
  const group = seen.passengerGroups.find(({ passengers }) => passengers[0]?.pnr === pnr);
  const offer = (await night.call<OfferView>("getMyOffer", { token, host: airline.passengerHost })).body;
  const { urn: passengerUrn = "?" } = group?.passengers[0] ?? {};
  const marks = [`Family${pnr}`, `Given${pnr}`, passengerUrn, offer.voucher?.code ?? "?"];
  const { groupId = "", subCaseUrn = "" } = group ?? {};
  return { airline, caseUrn, groupId, subCaseId: idOf(subCaseUrn), token, passengerUrn, marks };
};

/** A call of theirs, at their airline's own host. */
export const own = ({ token, airline }: Guest, more: Call = {}): Call => ({
  token,
  host: airline.passengerHost,
  ...more,
});
