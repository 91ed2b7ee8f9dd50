// The saga of a group as tables: every step under every outcome, what goes on without, hotel to hotel.
import t from "tap";
import { retryDelayMs } from "../../../actors/runtime/vendor-call.ts";
import { type SubCaseEvent, type SubCaseState, technicalEvents } from "../../../actors/sub-case/state.ts";
import type { VendorVerb } from "../../../schemas/vendor-call.ts";
import { evening, eventsOf, folded, givenOf, received, secondsLater } from "../../harness/given.ts";
import {
  accept,
  announced,
  answer,
  assign,
  calls,
  completed,
  done,
  forward,
  opened,
  progressed,
  ready,
  reissue,
  review,
  rules,
  stage,
  started,
  stateOf,
  stepsOf,
  story,
  subCaseId,
  typesOf,
} from "./group-story.ts";

t.test("a wave's choice", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(opened())
    .when(assign())
    .then(
      { type: "subcase.assigned" },
      { type: "subcase.processing" },
      {
        type: "subcase.step-started",
        data: { record: { name: "hold" }, call: { verb: "hold", tries: 1, dueAt: secondsLater(30) } },
      },
    )
    .leads({ status: "PROCESSING", candidate: 0 })
    .sends(announced("subcase.processing", "PROCESSING"), started, calls("stayhub", "hold", "room.1.1"));
  given(opened())
    .when(assign({ book: false }))
    .then({ type: "subcase.assigned" })
    .leads({ status: "PENDING" })
    .sends();
  given(...story())
    .when(assign({ waveId: "XN-OTHER" }))
    .nothing();
  given(...eventsOf(rules, [opened()], assign({ book: false })))
    .when(assign())
    .nothing();
  given().when(assign()).notYet();
  given(opened())
    .when(received("sub-case.mark-not-required"))
    .then({ type: "subcase.not-required" })
    .leads({ status: "NOT_REQUIRED" });
  given(...story())
    .when(received("sub-case.mark-not-required"))
    .nothing();
  const elsewhere = { ...accept, principal: { ...accept.principal, airport: "LAX" } };
  given(...ready)
    .when(elsewhere)
    .refused("auth/foreign-airport");
});

t.test("all goes well", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...story())
    .when(answer("hold"))
    .then(
      { type: "subcase.step-completed", data: { step: "hold" } },
      { type: "subcase.step-started", data: { record: { name: "book" } } },
    )
    .leads({
      reservation: { status: "PENDING", holdId: "H1", rooms: 1, totalMinor: 12_000, vendor: "stayhub" },
    })
    .sends(completed("DONE"), started, calls("stayhub", "book", "room.1.1"));
  given(...story(answer("hold")))
    .when(answer("book"))
    .then(
      { type: "subcase.step-completed", data: { step: "book" } },
      { type: "subcase.step-started", data: { record: { name: "voucher" } } },
      { type: "subcase.step-completed", data: { step: "voucher" } },
      { type: "subcase.step-started", data: { record: { name: "card" } } },
    )
    .leads({
      reservation: { status: "CONFIRMED", bookingId: "B1", confirmationNumber: "C-77", totalMinor: 12_500 },
      voucher: { status: "ISSUED" },
    })
    .sends(
      completed("DONE"),
      stage("B"),
      started,
      completed("DONE"),
      started,
      calls("cardworks", "issue-card", "card.1"),
    );
  given(...story(...done("hold", "book")))
    .when(answer("issue-card"))
    .then({ type: "subcase.step-completed" }, { type: "subcase.step-started" })
    .leads({ card: { cardId: "K1", last4: "4242", status: "ACTIVE", balanceMinor: 5_000, currency: "USD" } })
    .sends(
      completed("DONE"),
      {
        to: "public",
        type: "wallet.card-issued",
        data: { last4: "4242", balance: { amountMinor: 5_000, currency: "USD" } },
      },
      started,
      calls("ridefleet", "book-ride", "ride.1"),
    );
  given(...story(...done("hold", "book", "issue-card")))
    .when(answer("book-ride"))
    .then({ type: "subcase.step-completed" }, { type: "subcase.step-started" })
    .leads({ ride: { rideId: "R1", status: "booked", pickupAt: new Date("2026-11-21T21:40:00Z") } });
  given(...story(...done("hold", "book", "issue-card", "book-ride")))
    .when(answer("send"))
    .then(
      { type: "subcase.step-completed", data: { step: "notify" } },
      { type: "subcase.offer-ready", data: { at: evening } },
    )
    .leads({
      status: "OFFER_READY",
      offer: { state: "READY", readyAt: evening },
    })
    .sends(completed("DONE"), announced("subcase.offer-ready", "OFFER_READY"), {
      to: "public",
      type: "voucher.issued",
      data: { hotelUrn: "urn:hotel:astor", rooms: 1, checkIn: "2026-11-21" },
    });
  t.notOk("call" in stateOf(ready), "and nothing is waited for");
  t.strictSame(stepsOf(ready), [
    "hold DONE",
    "book DONE",
    "voucher DONE",
    "card DONE",
    "transport DONE",
    "notify DONE",
  ]);
  const ids = stateOf(ready).steps.map(({ stepId }) => stepId);
  t.equal(new Set(ids).size, ids.length, "each step has an id of its own");
  const told = JSON.stringify(rules.outgoing(ready.at(-1) as SubCaseEvent, stateOf(ready)));
  t.notMatch(told, /example\.com|2025550143|cardId/, "partners hear no contact and no card");
});

/** Each of the saga's calls: its verb, what was done before, what is lost with it, its vendor, and how far the saga is. */
const points: [VendorVerb, VendorVerb[], string, string, number][] = [
  ["hold", [], "room", "stayhub", 0],
  ["book", ["hold"], "room", "stayhub", 2 / 8],
  ["issue-card", ["hold", "book"], "PAYMENT_FAILED", "cardworks", 4 / 8],
  ["book-ride", ["hold", "book", "issue-card"], "PARTIAL_FULFILLMENT", "ridefleet", 5 / 8],
  ["send", ["hold", "book", "issue-card", "book-ride"], "PARTIAL_FULFILLMENT", "sendwell", 6 / 8],
];

t.test("every step under every outcome", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const [verb, before, lost, vendor, far] of points) {
    const here = story(...done(...before));
    const refused = given(...here).when(answer(verb, "refused"));
    if (lost === "room") {
      refused.then(
        { type: "subcase.step-failed", data: { result: "REFUSED" } },
        {
          type: "subcase.hotel-refused",
          data: { hotelUrn: "urn:hotel:astor", reason: "SOLD_OUT", providerError: `${verb} is refused.` },
        },
        {
          type: "subcase.step-started",
          data: { record: { name: "hold" }, call: { reference: `${subCaseId}.room.1.2` } },
        },
      );
      refused.leads({
        candidate: 1,
        status: "PROCESSING",
        attemptedHotels: [{ hotelUrn: "urn:hotel:astor" }],
      });
      t.notOk(
        "reservation" in stateOf(eventsOf(rules, here, answer(verb, "refused"))),
        `${verb}: no room is kept`,
      );
    } else {
      const next = verb === "send" ? "subcase.offer-ready" : "subcase.step-started";
      refused.then({ type: "subcase.step-failed", data: { result: "REFUSED" } }, { type: next });
      const [first, second] = [
        completed("REFUSED"),
        review(lost, verb === "issue-card" ? "card" : verb === "send" ? "notify" : "transport", {
          occurrence: "round 1",
        }),
      ];
      const rest =
        next === "subcase.offer-ready" ? [{ to: "public" }, { to: "public" }] : [started, { to: "command" }];
      refused.sends(first, second, ...(rest as never[]));
      const home = eventsOf(
        rules,
        here,
        answer(verb, "refused"),
        ...done(...forward.slice(forward.indexOf(verb as never) + 1)),
      );
      t.equal(stateOf(home).status, "OFFER_READY", `without ${verb} the offer stands`);
      t.equal(stateOf(home).reservation?.status, "CONFIRMED");
    }

    const waitMs = (tries: number) => retryDelayMs(stateOf(here).call?.reference ?? "", tries);
    given(...here)
      .when(answer(verb, "unavailable"))
      .then({
        type: "subcase.call-postponed",
        data: { call: { tries: 1, doubt: false, postponed: true, dueAt: secondsLater(waitMs(1) / 1000) } },
      })
      .sends(progressed(far, `${vendor} could not take it; asked once, and will be asked again`));
    const thrice = [answer(verb, "unavailable"), reissue(1), answer(verb, "unavailable"), reissue(3)];
    const given3 = eventsOf(rules, here, ...thrice, answer(verb, "unavailable"));
    t.ok(typesOf(given3).includes("subcase.step-failed"), `${verb}: three times unavailable is a refusal`);
    t.notOk(
      typesOf(eventsOf(rules, here, ...thrice)).includes("subcase.step-failed"),
      `${verb}: twice isn't`,
    );

    given(...here)
      .when(answer(verb, "in-doubt"))
      .then({ type: "subcase.call-postponed", data: { call: { doubt: true, postponed: true } } })
      .sends(progressed(far, `${vendor} does not say whether it was done; asked once`));
    const doubtful = eventsOf(rules, here, answer(verb, "in-doubt"));
    const long = Array.from({ length: 12 }, (_, i) => [
      reissue(100 * (i + 1)),
      answer(verb, i % 2 ? "unavailable" : "in-doubt", { now: secondsLater(100 * (i + 1)) }),
    ]);
    const after = stateOf(eventsOf(rules, doubtful, ...long.flat()));
    t.match(after.call, { verb, doubt: true }, `${verb}: what is in doubt is never given up`);
    t.same(after.call?.dueAt, secondsLater(1200 + waitMs(13) / 1000), "about once a minute at last");
    given(...doubtful)
      .when(reissue(1))
      .then({ type: "subcase.call-reissued", data: { call: { doubt: true, tries: 2 } } })
      .sends(
        { to: "command", data: { doubt: true } as never },
        progressed(far, `${vendor} has not answered; asked twice`),
      );
    t.equal(
      stateOf(eventsOf(rules, doubtful, answer(verb, "done"))).call?.verb === verb,
      false,
      `${verb}: done ends the doubt`,
    );
  }
});

t.test("a call without an answer", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const [verb, before, , vendor, far] of points) {
    const here = story(...done(...before));
    given(...here)
      .when(reissue(29))
      .nothing();
    given(...here)
      .when(reissue(30))
      .then({
        type: "subcase.call-reissued",
        data: { call: { tries: 2, doubt: true, postponed: false, dueAt: secondsLater(90) } },
      })
      .sends(
        { to: "command", data: { doubt: true } as never },
        progressed(far, `${vendor} has not answered; asked twice`),
      );
    const again = eventsOf(rules, here, reissue(30));
    for (const late of ["refused", "unavailable", "in-doubt"] as const)
      given(...again)
        .when(answer(verb, late, { tries: 1 }))
        .nothing();
    t.ok(
      rules.decide(folded(rules, again), answer(verb, "done", { tries: 1 })).length > 0,
      "a late success counts",
    );
    const postponed = eventsOf(rules, here, answer(verb, "unavailable"));
    given(...postponed)
      .when(reissue(0))
      .nothing();
    given(...postponed)
      .when(reissue(1))
      .then({ type: "subcase.call-reissued", data: { call: { tries: 2, doubt: false, postponed: false } } })
      .sends(
        { to: "command", data: { doubt: false } as never },
        progressed(far, `${vendor} has not answered; asked twice`),
      );
  }
  given(...ready)
    .when(reissue(999))
    .nothing();
  t.ok(technicalEvents.has("subcase.call-reissued") && technicalEvents.has("subcase.call-postponed"));
});

t.test("from hotel to hotel", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const third = story(
    answer("hold", "refused"),
    answer("hold", "done", { reference: "room.1.2" }),
    answer("book", "refused", { reference: "room.1.2" }),
  );
  t.match(stateOf(third), {
    candidate: 2,
    attemptedHotels: [{ hotelUrn: "urn:hotel:astor" }, { hotelUrn: "urn:hotel:biltmore" }],
  });
  given(...third)
    .when(answer("hold", "refused", { reference: "room.1.3", code: "INVALID_REQUEST" }))
    .then(
      { type: "subcase.step-failed" },
      { type: "subcase.hotel-refused" },
      { type: "subcase.failed", data: { at: evening } },
    )
    .leads({ status: "FAILED", offer: { state: "PENDING" } })
    .sends(
      completed("REFUSED"),
      announced("subcase.failed", "FAILED"),
      stage("F"),
      review("BOOKING_FAILED", "booking", { detail: "Every hotel tried refused: 3 of them." }),
    );
  const failed = eventsOf(
    rules,
    third,
    answer("hold", "refused", { reference: "room.1.3", code: "INVALID_REQUEST" }),
  );
  t.notOk("call" in stateOf(failed));
  given(...failed)
    .when(accept)
    .refused("conflict/state");
  const lucky = eventsOf(
    rules,
    third,
    answer("hold", "done", { reference: "room.1.3" }),
    answer("book", "done", { reference: "room.1.3" }),
  );
  t.match(stateOf(lucky).reservation, {
    hotelUrn: "urn:hotel:carlton",
    reference: `${subCaseId}.room.1.3`,
    status: "CONFIRMED",
  });
});

t.test("what nobody can do is left out", async (t) => {
  const terms = (vendors: object, more: object = {}) => assign({}, { vendors, ...more });
  const [all] = [{ payment: "cardworks", transport: "ridefleet", message: "sendwell" }];
  const silent = { passengers: [{ urn: "urn:passenger:XN-X", specialRequirements: [], contact: {} }] };
  const email = {
    passengers: [{ ...silent.passengers[0], contact: { email: "a@example.com" } }],
  } as Partial<SubCaseState>;
  const phone = {
    passengers: [{ ...silent.passengers[0], contact: { phone: "+12025550143" } }],
  } as Partial<SubCaseState>;
  const table: [string, ReturnType<typeof assign>, Partial<SubCaseState>, VendorVerb[]][] = [
    ["no vendor but hotels", terms({}), {}, ["hold", "book"]],
    ["no card vendor", terms({ ...all, payment: undefined }), {}, ["hold", "book", "book-ride", "send"]],
    ["no incidentals", terms(all, { incidentalsMinor: 0 }), {}, ["hold", "book", "book-ride", "send"]],
    ["no ride vendor", terms({ ...all, transport: undefined }), {}, ["hold", "book", "issue-card", "send"]],
    ["nobody to write to", terms(all), silent, ["hold", "book", "issue-card", "book-ride"]],
    ["only an address", terms(all), email, ["hold", "book", "issue-card", "book-ride", "send"]],
    ["a mail server alone", terms({ email: "smtp" }), email, ["hold", "book", "send"]],
    ["a mail server, and telephones alone", terms({ email: "smtp" }), phone, ["hold", "book"]],
  ];
  for (const [what, command, group, verbs] of table) {
    const events = eventsOf<SubCaseState, SubCaseEvent>(rules, [opened(group)], command, ...done(...verbs));
    t.equal(stateOf(events).status, "OFFER_READY", what);
  }
  const request = (events: SubCaseEvent[]) => stateOf(events).call?.request;
  t.match(request(story()), { rooms: 1, needs: ["WHEELCHAIR"], checkIn: "2026-11-21" });
  t.match(request(story(answer("hold"))), {
    holdId: "H1",
    leadGuest: { givenName: "Ada" },
    guests: [{ givenName: "Byron" }],
    payment: { method: "GUARANTEE" },
  });
  t.match(request(story(...done("hold", "book"))), {
    balance: { amountMinor: 5_000, currency: "USD" },
    label: "Xenon XN482",
  });
  t.match(request(story(...done("hold", "book", "issue-card"))), {
    vendor: "ridefleet",
    groupId: "K7QX2M",
    hotelUrn: "urn:hotel:astor",
    passengers: 2,
    needs: ["WHEELCHAIR"],
    minutesBeforePickup: 180,
    seats: { SHUTTLE: 24 },
  });
  const notice = request(story(...done("hold", "book", "issue-card", "book-ride")));
  t.match(notice, {
    template: "offer-ready",
    groupId: "K7QX2M",
    facts: { flight: "XN482", hotel: "astor", code: /./, vehicleType: "SHUTTLE" },
  });
  t.notMatch(
    JSON.stringify(notice),
    /2025550143|example\.com/,
    "who is written to stays in the group's document",
  );
});
