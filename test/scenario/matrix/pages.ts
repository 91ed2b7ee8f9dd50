// Every list of the tables walked item by item while others are added in between: nothing is told twice, and nothing that stood
// at the start is left out.
import type { Document } from "mongodb";
import { ulid } from "ulid";
import type { Route } from "../../../gateway/route.ts";
import type { Page } from "../../../schemas/command.ts";
import { idOf } from "../../../schemas/urn.ts";
import type { Call } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";
import { contractBody, rideBody } from "./terms.ts";
import type { World } from "./world.ts";

export const isList = (route: Route): boolean =>
  "nextCursor" in ((route.response as { properties?: object }).properties ?? {});

/** Puts one more item onto a list. @param n different for each */
type Add = (world: World, n: number) => Promise<unknown>;

const admin = ({ clients, xn }: World) => clients.operatorToken(xn.airline.urn, "ADMIN");

/** Stranded once more, where no policy is: the same booking reference and name are the same person, and somebody must look at it. */
const anotherCase: Add = async ({ clients, xn }, n) => {
  const { flight, ...body } = smallFlight("XN", "tonight", 3);
  const again = { externalEventId: `XN-again-${ulid()}-${n}`, flight: { ...flight, originAirport: "LHR" } };
  const { caseUrn } = (await clients.pushed(xn.airline, { ...body, ...again })).body;
  await clients.events.untilCount("review.opened", 1, { caseUrn });
};

/** A case gets no more groups while nobody amends its manifest: a copy of one stands for those to come, with passengers of their own, whose URNs are in another order than those of their groups. */
const anotherGroup: Add = (world) =>
  copyOfGroup(world, (group) => ({
    ...group,
    passengers: group.passengers.map((passenger: Document) => ({
      ...passenger,
      urn: `urn:passenger:XN-${ulid().split("").reverse().join("")}`,
    })),
  }));

const anotherVoucher: Add = (world) =>
  copyOfGroup(world, (group) => ({ ...group, voucher: { ...group.voucher, voucherId: `XN-${ulid()}` } }));

const copyOfGroup = async ({ clients, xn }: World, changed: (group: Document) => Document): Promise<void> => {
  const groups = clients.documents.tenant("XN").collection<Document>("subCases");
  const found = await groups.findOne({ _id: idOf(xn.subCaseUrn) as never });
  const id = ulid();
  const reservation = { ...found?.reservation, reservationId: `XN-${id}` };
  const [candidate] = found?.assignment.candidates ?? [];
  const candidates = [{ ...candidate, hotelUrn: `urn:hotel:walk-${id}` }];
  await groups.insertOne({
    ...changed(found as Document),
    _id: `XN-${id}` as never,
    subCaseId: `XN-${id}`,
    groupId: id,
    reservation,
    candidate: 0,
    assignment: { ...found?.assignment, candidates },
  });
};

const anotherDemand: Add = async (world) =>
  world.clients.call("requestDemand", {
    token: await admin(world),
    params: { caseUrn: world.xn.caseUrn },
    body: { type: "INCREMENTAL", roomsRequested: 1 },
  });

const anotherPolicy: Add = async (world, n) => {
  const token = await admin(world);
  const airport = ["BOS", "SEA", "DEN", "ORD", "ATL", "DFW", "PHX", "LAS"][n] ?? "";
  const body = { name: `Walk ${n}`, context: { airport }, tiers: ["CREW"] };
  const { urn } = (await world.clients.call<{ urn: string }>("createPolicy", { token, body })).body;
  await world.clients.call("activatePolicy", { token, params: { policyUrn: urn } });
};

const anotherFreeze: Add = async (world) =>
  world.clients.call("freezeDemand", {
    token: await admin(world),
    body: { airport: world.freezable(), reason: "Fog" },
  });

/** What a search tells of is noted by and by: a copy stands for the next hotel. */
const anotherHotel: Add = async ({ clients }) => {
  const hotels = clients.documents.tenant("XN").collection<Document>("hotels");
  const id = ulid();
  await hotels.insertOne({
    ...(await hotels.findOne({})),
    _id: `walk-${id}` as never,
    codes: [`direct:${id}`],
  });
};

/** The airports of the world are a file. */
const nothing: Add = async () => undefined;

/** Copies of one message, for every group of the case: in this world nobody carries any. */
let written = 0;
const anotherMessage: Add = async ({ clients, xn }) => {
  const tenant = clients.documents.tenant("XN");
  // What passengers see of a message has no URN: each has a second of its own.
  const at = new Date(Date.UTC(2026, 10, 21, 22, 0, written++));
  const groups = await tenant
    .collection<Document>("subCases")
    .find({ caseId: idOf(xn.caseUrn) })
    .toArray();
  const [channel, recipient, status] = ["SMS", "•••0142", "SENT"];
  const attempts = [{ channel, recipient, status, at, sentAt: at, passengerUrn: xn.passengerUrn }];
  await tenant.collection<Document>("messages").insertMany(
    groups.map(({ caseId, groupId, subCaseId }) => {
      const messageId = `XN-${ulid()}`;
      const said = { template: "offer-ready", language: "en", facts: {}, attempts, queuedAt: at, sentAt: at };
      return {
        ...{ _id: messageId as never, messageId, caseId, groupId, subCaseId, reference: messageId },
        ...{ schemaVersion: 1, version: 1, revision: 1, handled: [], outbox: [], ...said },
      };
    }),
  );
};

const anotherRide: Add = async (world, n) =>
  world.clients.call("createSegment", {
    token: await admin(world),
    body: rideBody(world.spare.driven.reservationUrn, n),
  });

/** Copies of one delivery, of the case that the walk looks at: what the world tells by itself comes when it comes. */
const anotherDelivery: Add = async ({ clients, xn }) => {
  const tenant = clients.documents.tenant("XN");
  const { clientId } = xn.airline.partners[0] ?? {};
  const subscription = await tenant.collection<Document>("subscriptions").findOne({ clientId });
  const id = `XN-${ulid()}`;
  const at = new Date();
  const attempts = [{ attempt: 1, at, latencyMs: 5, status: 200 }];
  await tenant.collection<Document>("deliveries").insertOne({
    ...{ _id: id as never, subscriptionId: String(subscription?._id), eventUrn: `urn:event:${id}` },
    ...{ type: "case.amended", caseUrn: xn.caseUrn, correlationUrn: `urn:correlation:${id}`, sequence: 1 },
    ...{ createdAt: at, settledAt: at, status: "DELIVERED", attempts },
    ...{ schemaVersion: 1, version: 1, revision: 1, handled: [], outbox: [] },
  });
};

/** One for each list; a list without its line fails the matrix. Lists with the same one are walked together. */
export const adds: Readonly<Record<string, Add>> = {
  listCases: anotherCase,
  listPartnerCases: anotherCase,
  listPartnerPassengers: anotherGroup,
  listPartnerServices: anotherGroup,
  listPassengerCases: anotherCase,
  listPassengerVouchers: anotherVoucher,
  listPartnerPolicies: anotherPolicy,
  listDisruptions: anotherCase,
  listManualReview: anotherCase,
  listReviewItems: anotherCase,
  getManifest: anotherGroup,
  getCaseProgress: anotherGroup,
  listReservations: anotherGroup,
  listCaseHotels: anotherGroup,
  listHotels: anotherHotel,
  listDemandFreezes: anotherFreeze,
  searchAirports: nothing,
  listPendingApprovals: anotherDemand,
  getCaseAudit: anotherDemand,
  getEntityAudit: anotherDemand,
  searchAudit: anotherDemand,
  listActivePolicies: anotherPolicy,
  listContracts: async (world, n) =>
    world.clients.call("putContract", { token: await admin(world), body: contractBody("JFK", `Walk ${n}`) }),
  listRevocations: async (world, n) =>
    world.clients.call("revokeAccess", {
      token: await admin(world),
      body: { subject: `walk-${n}-${ulid()}`, reason: "Lost" },
    }),
  listMyNotifications: anotherMessage,
  listNotifications: anotherMessage,
  listSegments: anotherRide,
  listWebhookDeliveries: anotherDelivery,
  listMyWebhookDeliveries: anotherDelivery,
};

const nameOf = (item: unknown): string => {
  const { urn, subCaseUrn } = item as { urn?: string; subCaseUrn?: string };
  return urn ?? subCaseUrn ?? JSON.stringify(item);
};

const addedBefore = 3;
const addedBetween = 4;
/** Of a list that is longer the rest is walked by larger steps. */
const singlyMax = 40;

interface List {
  route: Route;
  /** A call that succeeds. */
  call: Call;
}

/** Stops after each page but the last. @returns what was wrong; empty when the list is stable */
async function* stepsOf({ clients }: World, { route, call }: List): AsyncGenerator<void, string[]> {
  const page = async (query: Call["query"]) =>
    (await clients.call<Page<unknown>>(route.id, { ...call, query: { ...call.query, ...query } })).body;
  const stood = (await page({ limit: 200 })).items.map(nameOf);
  const wrong = stood.length < addedBefore ? [`${stood.length} items are too few to walk`] : [];
  const told: string[] = [];
  let cursor: string | null = null;
  for (let n = 0; n < stood.length + addedBetween + 5; n++) {
    const limit = n < singlyMax ? 1 : 10;
    const { items, nextCursor, hasMore }: Page<unknown> = await page({ limit, ...(cursor && { cursor }) });
    told.push(...items.map(nameOf));
    if (items.length > limit) wrong.push(`${items.length} items where ${limit} may be told`);
    if (hasMore !== (nextCursor !== null)) wrong.push("hasMore and nextCursor differ");
    if (nextCursor === null) break;
    cursor = nextCursor;
    yield;
  }
  wrong.push(...told.filter((name, i) => told.indexOf(name) !== i).map((name) => `${name} is told twice`));
  wrong.push(...stood.filter((name) => !told.includes(name)).map((name) => `${name} is left out`));
  return wrong.map((text) => `${route.id}: ${text}`);
}

/** Walks lists that the same thing is added to, each a step between two additions. @returns what was wrong */
export const walk = async (world: World, lists: readonly List[], add: Add): Promise<string[]> => {
  for (let n = 0; n < addedBefore; n++) await add(world, n);
  const wrong: string[] = [];
  let walking = lists.map((list) => stepsOf(world, list));
  for (let n = addedBefore; walking.length > 0; n++) {
    const steps = await Promise.all(walking.map((each) => each.next()));
    wrong.push(...steps.flatMap((step) => (step.done ? step.value : [])));
    walking = walking.filter((_, i) => !steps[i]?.done);
    if (walking.length > 0 && n < addedBefore + addedBetween) await add(world, n);
  }
  return wrong;
};
