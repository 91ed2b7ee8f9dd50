// A night for the review desk, and what its stories do again and again: strand passengers, act on items, look at what has
// become of them. The stories are the tests'.
import type { Test } from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { PassengerInput } from "../../schemas/passenger.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import type { WaveView } from "../../schemas/wave.ts";
import { mintOperatorToken } from "../../scripts/supervisor/operator-token.ts";
import { startClients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";

export const reason = "They cannot wait";
const hotels = ["stayhub", "roomlink"];

export const traveller = (pnr: string, firstName: string, more: PassengerInput = {}): PassengerInput => ({
  pnr,
  firstName,
  lastName: `Name${firstName}`,
  cabinClass: "ECONOMY",
  contact: { email: `${firstName}@mail.example` },
  ...more,
});

/**
 * Ana and Ben work at any airport, Sue supervises; the administrator of LAX sees no other one.
 * @param settings of the service, beside those that let a night go by quickly
 */
export const startReviewNight = async (t: Test, settings: Record<string, string> = {}) => {
  const night = await startClients(t, {
    settings: {
      WEBHOOK_RETRY_SCALE: "0.00001",
      SWEEP_INTERVAL_MS: "300",
      ACK_WAIT_MS: "2000",
      STEP_DEADLINE_MS: "1500",
      ...settings,
    },
  });
  const [xn] = night.airlines;
  const operator = (name: string, role = "AIRPORT_OPERATOR", airport?: string) =>
    mintOperatorToken(night.instance, {
      airline: xn.urn,
      role,
      sub: name,
      ...(airport === undefined ? {} : { airport }),
    });
  const [ana, ben, sue, admin, lax] = await Promise.all([
    operator("ana"),
    operator("ben"),
    operator("sue", "OPS_SUPERVISOR"),
    operator("adm", "ADMIN"),
    operator("lax", "ADMIN", "LAX"),
  ]);

  const push = async (name: string, passengers: PassengerInput[], airport = "JFK"): Promise<string> => {
    const body = smallFlight("XN", name, 0);
    const flight = { ...body.flight, originAirport: airport };
    return (await night.pushed(xn, { ...body, flight, passengers })).body.caseUrn;
  };
  const detail = async (caseUrn: string): Promise<CaseView> =>
    (await night.call<CaseView>("getCase", { token: admin, params: { caseUrn } })).body;
  const itemOf = async (caseUrn: string, category: string): Promise<ReviewItemView> =>
    (await night.eventually(
      `its ${category}`,
      async () => (await detail(caseUrn)).manualReviewItems.find((item) => item.category === category),
      (item) => item !== undefined,
    )) as ReviewItemView;
  const read = async (reviewUrn: string): Promise<ReviewItemView> =>
    (await night.call<ReviewItemView>("getReviewItem", { token: admin, params: { reviewUrn } })).body;
  const until = (reviewUrn: string, what: string, holds: (item: ReviewItemView) => boolean) =>
    night.eventually(what, () => read(reviewUrn), holds);
  const act = async (id: string, reviewUrn: string, token: string, body?: object): Promise<ReviewItemView> =>
    (await night.call<ReviewItemView>(id, { token, params: { reviewUrn }, ...(body && { body }) })).body;
  const refused = (id: string, reviewUrn: string, token: string, body?: object) =>
    night.refused(id, { token, params: { reviewUrn }, ...(body && { body }) });
  const fail = (...failNext: { operation: string; kind: string; times: number; match?: string }[]) =>
    night.control(Object.fromEntries(hotels.map((name) => [name, { failNext }])));
  const waveOf = async (caseUrn: string): Promise<WaveView> => {
    const params = { waveUrn: (await detail(caseUrn)).wave?.urn ?? "" };
    return (await night.call<WaveView>("getWave", { token: admin, params })).body;
  };
  const trailOf = (entityUrn: string, action: string): Promise<AuditEntryView> =>
    night.eventually(
      `${action} in the trail`,
      async () => {
        const call = { token: sue, params: { entityUrn }, query: { limit: 200 } };
        const { body } = await night.call<Page<AuditEntryView>>("getEntityAudit", call);
        return body.items.find((entry) => entry.action === action) as AuditEntryView;
      },
      (entry) => entry !== undefined,
    );
  const list = async (caseUrn: string, query: Record<string, string>) =>
    (
      await night.call<Page<ReviewItemView>>("listManualReview", { token: sue, query: { caseUrn, ...query } })
    ).body.items.map((item) => item.urn);
  /** Of one group that every hotel of its wave has refused. */
  const failedItem = async (name: string, pnr: string) => {
    await fail({ operation: "book", kind: "refuse", times: 50, match: `Name${name}` });
    const caseUrn = await push(name, [traveller(pnr, name)]);
    const { urn } = await itemOf(caseUrn, "BOOKING_FAILED");
    await fail();
    return { caseUrn, urn };
  };

  const people = { ana, ben, sue, admin, lax, operator };
  const doing = { push, detail, itemOf, read, until, act, refused, fail, waveOf, trailOf, list, failedItem };
  return { night, ...people, ...doing };
};

export type ReviewNight = Awaited<ReturnType<typeof startReviewNight>>;
