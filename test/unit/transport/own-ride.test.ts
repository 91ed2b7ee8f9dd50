// Rides that passengers ask for themselves, as tables: who may, what is there already, when they leave, and how many.
import t from "tap";
import {
  evolveTransfer,
  type TransferEvent,
  type TransferState,
} from "../../../actors/transport/transfer-state.ts";
import type { Principal } from "../../../schemas/command.ts";
import type { RequestRideBody, RideParty } from "../../../schemas/transport.ts";
import { evening, eventsOf, givenOf, received, secondsLater } from "../../harness/given.ts";
import { idOfGroup, orderOf, referenceOf, transferRules } from "./depot.ts";

const me = idOfGroup(1);
const rules = {
  decide: transferRules.decide,
  evolve: evolveTransfer,
  outgoing: (...told: Parameters<NonNullable<typeof transferRules.outgoing>>) =>
    transferRules.outgoing?.(...told) ?? [],
};
const principal: Principal = { surface: "passenger", tenant: "XN", urn: "urn:passenger-session:x" };
const order = orderOf(1, { onDemand: true, vehicleType: "PRIVATE_CAR" });
const partyOf = (more: Partial<RideParty> = {}): RideParty => ({
  ...{ subCaseId: me, groupId: "G1", reference: referenceOf(1), order },
  ...more,
});
let asked = 0;
const asks = (
  body: RequestRideBody = {},
  more: { party?: RideParty; seconds?: number; closed?: true } = {},
) => {
  const { party = partyOf(), seconds = 0, closed } = more;
  const command = received("transport.request-own-ride", body, {
    ...{ entity: me, principal, id: `ask ${++asked}`, now: secondsLater(seconds) },
  });
  return [command, { caseIsClosed: closed === true, party }] as [typeof command, unknown];
};
const given = (test: Parameters<typeof givenOf>[0], ...events: TransferEvent[]) =>
  givenOf<TransferState, TransferEvent>(test, rules, me)(...events);
const after = (events: TransferEvent[], ...commands: ReturnType<typeof asks>[]) =>
  eventsOf(rules, events, ...commands);
const stateOf = (events: TransferEvent[]) =>
  events.reduce<TransferState | undefined>(evolveTransfer, undefined) as TransferState;
const noted = (events: TransferEvent[], outcome: "booked" | "refused") => {
  const segment = stateOf(events).segments.at(-1);
  const { segmentId = "", attempt = 0 } = segment ?? {};
  const data = {
    transferId: me,
    segmentId,
    attempt,
    outcome,
    vehicles: [{ passengers: 2 }],
    detail: "None left.",
  };
  return eventsOf(
    rules,
    events,
    received("transport.note-seats", data, { entity: me, id: `seats ${++asked}` }),
  );
};
const at = (iso: string) => new Date(iso);

t.test("a ride is sought, once", async (t) => {
  given(t)
    .when(...asks())
    .then(
      { type: "transfer.ordered" },
      {
        type: "segment.planned",
        data: {
          segment: {
            ...{ origin: "passenger", direction: "AIRPORT_TO_HOTEL", vehicleType: "PRIVATE_CAR" },
            scheduledAt: at("2026-11-21T21:30:00.000Z"),
          },
        },
      },
      { type: "segment.sought" },
      { type: "transfer.recorded", data: { action: "transport.request-own-ride" } },
      { type: "transfer.ride-noted" },
    );
  const sought = after([], asks());
  for (const again of [asks(), asks({ direction: "AIRPORT_TO_HOTEL" }), asks({}, { seconds: 60 })])
    given(t, ...sought)
      .when(...again)
      .nothing();
  given(t, ...noted(sought, "booked"))
    .when(...asks())
    .nothing();
  given(t, ...sought)
    .when(...asks({ direction: "AIRPORT_TO_HOTEL", pickupAt: "2026-11-21T21:30:00.000Z" }))
    .nothing();
  given(t, ...sought)
    .when(...asks({ direction: "AIRPORT_TO_HOTEL", pickupAt: "2026-11-21T23:00:00.000Z" }))
    .refused("conflict/state", { state: "pending" });
  // Who has missed it may ask for the next one.
  given(t, ...noted(sought, "booked"))
    .when(...asks({}, { seconds: 3600 }))
    .then(
      { type: "segment.planned", data: { segment: { scheduledAt: at("2026-11-21T22:30:00.000Z") } } },
      { type: "segment.sought" },
      { type: "transfer.recorded" },
    );
});

t.test("which way, and when", async (t) => {
  const planned = (...asking: Parameters<typeof asks>) => {
    const { direction, scheduledAt } = stateOf(after([], asks(...asking))).segments[0] ?? {};
    return `${direction} ${scheduledAt?.toISOString()}`;
  };
  const there = partyOf({ isThere: true });
  const later = "2026-11-22T10:07:30.000Z";
  t.equal(planned(), "AIRPORT_TO_HOTEL 2026-11-21T21:30:00.000Z");
  t.equal(
    planned({}, { party: there }),
    "HOTEL_TO_AIRPORT 2026-11-22T11:00:00.000Z",
    "in time for the flight",
  );
  t.equal(planned({ pickupAt: later }), "AIRPORT_TO_HOTEL 2026-11-22T10:15:00.000Z", "at a whole quarter");
  t.equal(
    planned({ direction: "HOTEL_TO_AIRPORT", pickupAt: later }),
    "HOTEL_TO_AIRPORT 2026-11-22T10:15:00.000Z",
  );
  const { departure: _, ...noFlight } = order;
  given(t)
    .when(...asks({}, { party: partyOf({ isThere: true, order: noFlight }) }))
    .refused("conflict/state");
  for (const pickupAt of ["2026-11-21T20:00:00.000Z", "2026-11-21T21:29:59.000Z", "2026-11-29T21:00:00.000Z"])
    given(t)
      .when(...asks({ pickupAt }))
      .refused("validation/body");
});

t.test("who may not", async (t) => {
  const state = (name: string) => ({ state: name });
  const { order: _, ...roomless } = partyOf({ detail: "The group has no room." });
  for (const [asking, refusal] of [
    [{ party: partyOf({ order: orderOf(1) }) }, state("NOT_ALLOWED")],
    [{ party: roomless }, {}],
    [{ closed: true }, state("CLOSED")],
  ] as const)
    given(t)
      .when(...asks({}, asking))
      .refused("conflict/state", refusal);
});

t.test("a refused one is sought again, so often; and others, so many", async (t) => {
  let story = after([], asks());
  for (let attempt = 2; attempt <= 5; attempt++) {
    story = after(noted(story, "refused"), asks());
    t.match(stateOf(story).segments, [{ attempt, status: "pending" }]);
  }
  story = after(noted(story, "refused"), asks());
  t.equal(stateOf(story).segments.length, 2, "a search of its own");
  for (let n = 0; n < 4; n++) story = after(noted(story, "refused"), asks());
  story = after(noted(story, "refused"), asks());
  t.equal(stateOf(story).segments.length, 3);
  for (let n = 0; n < 4; n++) story = after(noted(story, "refused"), asks());
  given(t, ...noted(story, "refused"))
    .when(...asks())
    .refused("conflict/state", { state: "NOT_ALLOWED" });
  t.equal(evening.toISOString(), stateOf(story).segments[0]?.createdAt.toISOString());
});
