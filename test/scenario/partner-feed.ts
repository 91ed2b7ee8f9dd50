// A night that begins with the flight feed: the predictor's word reaches the partner, opens a case without passengers, and the
// airline's push makes that case the one of the flight, also when both come in the same moment.
import type { Test } from "tap";
import type { CaseListItem } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { PendingApproval } from "../../schemas/demand.ts";
import type { OpenDetected } from "../../schemas/flight.ts";
import type { PolicyView } from "../../schemas/policy.ts";
import { startSandbox } from "../contract/vendors/sandbox.ts";
import type { Delivery } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";
import { ago, inHours, type PartnerNight, traveller } from "./partner-night.ts";

const policy = {
  name: "What the feed says at BOS",
  context: { airport: "BOS", airline: "urn:airline:XN" },
  tiers: ["ECONOMY"],
  autoApproveDemand: true,
  incrementalRequiresApproval: false,
  maxAutomaticRoomsPerWave: 50,
  detectionThreshold: 0.7,
  openOnDetection: true,
};

interface KnownFlight {
  _id: string;
  number: string;
  opening?: { state: string; crossing: number };
}

export const partnerFeed = (t: Test, { night, token, detail, read, supervisor }: PartnerNight): void => {
  const { events } = night;
  const [xn, qz] = night.airlines;

  t.test("a disruption that the feed predicts", async (t) => {
    const sandbox = await startSandbox(t, t.testdir(), ["--only", "skywatch"]);
    const { baseUrl, apiKey } = sandbox.vendor("skywatch");
    const admin = await night.operatorToken(xn.urn, "ADMIN");
    const { urn } = (await night.call<PolicyView>("createPolicy", { token: admin, body: policy })).body;
    await night.call("activatePolicy", { token: admin, params: { policyUrn: urn } });
    for (const tenant of ["XN", "QZ"])
      await night.client.command("vendor-adapter.put-vendor", {
        tenant,
        data: { name: "skywatch", dialect: "skywatch", baseUrl, apiKey },
      });

    const departure = inHours(4);
    const predict = async (flight: string, probability: number, state = "PREDICTED", more: object = {}) => {
      const where = { departureAirport: "BOS", arrivalAirport: "MAD", scheduledDeparture: departure };
      const what = { type: "CANCELLED", reason: "WEATHER", probability, state };
      const body = JSON.stringify({ flight, ...where, ...what, ...more });
      const url = `${sandbox.announcement.controlUrl}/predict/skywatch`;
      const answer = await fetch(url, { method: "POST", body });
      t.equal(answer.status, 200);
    };
    const pushOf = (flight: string, name: string) => {
      const body = smallFlight("XN", name, 2);
      const own = { ...body.flight, iataDesignator: flight, originAirport: "BOS" };
      return {
        ...body,
        flight: { ...own, destinationAirport: "MAD", scheduledDeparture: departure },
        nextFlight: { iataDesignator: "XN999", scheduledDeparture: inHours(26) },
      };
    };
    const flightOf = ({ data }: { data: object }) =>
      (data as { flight?: { iataDesignator: string } }).flight?.iataDesignator;
    const caseOf = async (flight: string): Promise<string> => {
      const isIt = (event: { data: object }) => flightOf(event) === flight;
      await events.until(`a case of ${flight}`, () => events.of("case.opened").some(isIt));
      return events.of("case.opened").find(isIt)?.case_urn as string;
    };
    const openCasesOf = async (flight: string): Promise<CaseListItem[]> => {
      const query = { airport: "BOS", status: "OPEN", limit: 200 };
      const page = await night.call<Page<CaseListItem>>("listCases", { token: supervisor, query });
      return page.body.items.filter(({ flight: { number } }) => number === flight);
    };
    const delivered = async (airline: typeof xn, type: string): Promise<Delivery[]> =>
      (await night.deliveries(airline)).filter(({ body }) => body.type === type);

    await t.test("is told of once it is likely enough, and opens a case", async (t) => {
      await predict("XN900", 0.6, "PREDICTED", { eventId: "unlikely" });
      await predict("XN900", 0.85, "PREDICTED", { eventId: "likely" });
      await predict("XN900", 0.85, "PREDICTED", { eventId: "likely" });
      const caseUrn = await caseOf("XN900");
      await night.eventually(
        "the partner hears of both",
        async () => [
          await delivered(xn, "disruption.detected"),
          (await delivered(xn, "case.opened")).filter(({ body }) => body.case_urn === caseUrn),
        ],
        ([detected, opened]) => detected?.length === 1 && opened?.length === 1,
      );
      const [told] = await delivered(xn, "disruption.detected");
      t.match(told?.body, {
        tenant: "urn:airline:XN",
        data: {
          flight: { iataDesignator: "XN900", originAirport: "BOS", destinationAirport: "MAD" },
          disruption: { type: "CANCELLED", reason: "WEATHER" },
          ...{ airport: "BOS", probability: 0.85, threshold: 0.7, certainty: "PREDICTED" },
        },
      });
      t.match(await detail(caseUrn), {
        externalEventId: /^FEED:XN900\/BOS\//,
        ...{ status: "OPEN", airport: "BOS", subCaseCount: 0, passengerGroups: [] },
        prediction: { state: "PREDICTED", probability: 0.85, vendor: "skywatch" },
      });
      t.match(await read("getPartnerCase", { caseUrn }), { subCaseCount: 0, progress: [] });
      const refusal = await night.refused("requestDemand", {
        token: supervisor,
        params: { caseUrn },
        body: { type: "INITIAL", roomsRequested: 2 },
      });
      t.match(refusal, { status: 409, state: "AWAITING_MANIFEST" });

      await predict("XN900", 0.99, "CONFIRMED");
      await events.untilCount("case.amended", 1, { caseUrn });
      t.match(events.of("case.amended", caseUrn)[0]?.data, { change: "DISRUPTION", certainty: "CONFIRMED" });
      t.match(await detail(caseUrn), { prediction: { state: "CONFIRMED", probability: 1 } });
      t.equal(events.of("disruption.detected").filter((event) => flightOf(event) === "XN900").length, 1);

      const body = pushOf("XN900", "after-the-feed");
      const pushes = await Promise.all([night.pushed(xn, body), night.pushed(xn, body)]);
      for (const { body: answer } of pushes) t.match(answer, { caseUrn, subCaseCount: 2 });
      await events.untilCount("subcase.offer-ready", 2, { caseUrn });
      t.match(await detail(caseUrn), { externalEventId: body.externalEventId, subCaseCount: 2 });
      t.equal(events.of("case.opened", caseUrn).length, 1, "told of once");
      t.strictSame(
        events.of("case.amended", caseUrn).map(({ data }) => data.change),
        ["DISRUPTION", "DISRUPTION", "PASSENGERS"],
      );
      t.equal((await night.pushed(xn, body)).body.caseUrn, caseUrn, "and found by its name");

      await predict("XN900", 0, "WITHDRAWN");
      const isItem = ({ data }: { data: Record<string, unknown> }) => data.origin === "flight-feed";
      await events.until("a person decides", () => events.of("review.opened", caseUrn).some(isItem));
      t.equal((await detail(caseUrn)).status, "OPEN");

      await predict("XN900", 0.95);
      await night.eventually(
        "it is the next detection's, too",
        () => night.documents.tenant("XN").collection<KnownFlight>("flights").findOne({ number: "XN900" }),
        (flight) => flight?.opening?.state === "OPENED" && flight.opening.crossing === 2,
      );
      t.equal((await openCasesOf("XN900")).length, 1);
    });

    await t.test("is closed untouched when it is withdrawn", async (t) => {
      await predict("XN901", 0.9);
      const caseUrn = await caseOf("XN901");
      await predict("XN901", 0, "WITHDRAWN");
      await events.untilCount("case.closed", 1, { caseUrn });
      t.match(events.of("case.closed", caseUrn)[0]?.data, { reason: /skywatch has withdrawn/ });
      const actions = () => events.of("audit.recorded", caseUrn).map(({ data }) => data.action);
      await events.until("all of it is answered for", () => actions().includes("case.withdraw-detected"));
      t.ok(actions().includes("case.open-detected"));

      await predict("XN901", 0.95);
      await events.until(
        "another one",
        () => events.of("case.opened").filter((event) => flightOf(event) === "XN901").length === 2,
      );
      const [again] = await openCasesOf("XN901");
      t.not(again?.urn, caseUrn);
    });

    await t.test("may have its passengers by an amendment, and its name by the push", async (t) => {
      await predict("XN902", 0.9);
      const caseUrn = await caseOf("XN902");
      const late = { decidedAt: ago(1), passengers: [traveller("FEED01", "Hopper")] };
      const patched = await night.call("amendManifest", { token, params: { caseUrn }, body: late });
      t.match(patched.body, { caseUrn, passengersAdded: 1, groupsAdded: 1 });
      const body = pushOf("XN902", "after-the-amendment");
      const [one, other] = await Promise.all([night.pushed(xn, body), night.pushed(xn, body)]);
      t.match(one.body, { caseUrn, subCaseCount: 3 });
      t.match(other.body, { caseUrn, subCaseCount: 3 });
      // Rooms for the first were asked for already, or not: who comes later is approved by a person.
      const housed = async () => {
        const { items } = (
          await night.call<Page<PendingApproval>>("listPendingApprovals", { token: supervisor })
        ).body;
        for (const { caseUrn: of, urn: demandUrn } of items)
          if (of === caseUrn)
            await night.call("approveDemand", {
              token: supervisor,
              params: { demandUrn },
              body: { reason: "More" },
            });
        return events.of("subcase.offer-ready", caseUrn);
      };
      await night.eventually("all are housed", housed, ({ length }) => length === 3);
      t.match(await detail(caseUrn), { externalEventId: body.externalEventId, subCaseCount: 3 });
    });

    await t.test("told otherwise once passengers are there is a person's", async (t) => {
      await predict("XN903", 0.9);
      const caseUrn = await caseOf("XN903");
      const late = { decidedAt: ago(1), passengers: [traveller("FEED03", "Noether")] };
      await night.call("amendManifest", { token, params: { caseUrn }, body: late });
      await predict("XN903", 0.95, "PREDICTED", { reason: "CREW" });
      await events.until("the case follows the reason", () =>
        events.of("case.amended", caseUrn).some(({ data }) => data.change === "DISRUPTION"),
      );
      const body = pushOf("XN903", "diverted");
      const pushed = await night.pushed(xn, {
        ...body,
        disruption: { ...body.disruption, type: "DIVERTED" },
      });
      t.match(pushed.body, { caseUrn, subCaseCount: 3 });
      const isItem = ({ data }: { data: Record<string, unknown> }) => data.origin === "flight-feed";
      await events.until("an item", () => events.of("review.opened", caseUrn).some(isItem));
      const { manualReviewItems } = await detail(caseUrn);
      t.match(
        manualReviewItems.find(({ origin }) => origin === "flight-feed"),
        {
          category: "DATA_INCOMPLETE",
          detail: /^The airline says airport MAD instead of BOS, type DIVERTED/,
        },
      );
    });

    await t.test(
      "that a person has closed blocks nothing, and is the push's when it is open again",
      async (t) => {
        await predict("XN904", 0.9);
        const caseUrn = await caseOf("XN904");
        const params = { caseUrn };
        const body = { reason: "No such flight" };
        await night.call("closeCase", { token: supervisor, params, body });
        await night.eventually(
          "the flight hears of it",
          () => night.documents.tenant("XN").collection<KnownFlight>("flights").findOne({ number: "XN904" }),
          (flight) => flight?.opening?.state === "ELSEWHERE",
        );
        await predict("XN904", 0.1);
        await predict("XN904", 0.9);
        const ofFlight = () => events.of("case.opened").filter((event) => flightOf(event) === "XN904");
        await events.until("another one", () => ofFlight().length === 2);

        await predict("XN905", 0.9);
        const reopened = await caseOf("XN905");
        await night.call("closeCase", { token: supervisor, params: { caseUrn: reopened }, body });
        await night.call("reopenCase", { token: admin, params: { caseUrn: reopened }, body });
        const pushed = await night.pushed(xn, pushOf("XN0905", "after-the-reopening"));
        t.match(pushed.body, { caseUrn: reopened, subCaseCount: 2 });
        t.equal((await openCasesOf("XN905")).length + (await openCasesOf("XN0905")).length, 1);
      },
    );

    await t.test("of two flights pushed under one name at once one gets it", async (t) => {
      const flights = ["XN906", "XN907"];
      for (const flight of flights) await predict(flight, 0.9);
      const cases = await Promise.all(flights.map(caseOf));
      const pushed = await Promise.all(flights.map((flight) => night.pushed(xn, pushOf(flight, "one-name"))));
      const [one, other] = pushed.map(({ body }) => body.caseUrn);
      t.equal(one, other);
      t.ok(cases.includes(one as string));
    });

    await t.test("and what the airline pushes in the same moment are one case", async (t) => {
      const flights = Array.from({ length: 12 }, (_, i) => `XN91${i}`);
      // Known, and not likely enough: what follows comes from here alone.
      for (const flight of flights) await predict(flight, 0.1);
      const known = await night.eventually(
        "the flights are known",
        () =>
          night.documents
            .tenant("XN")
            .collection<KnownFlight>("flights")
            .find({ number: { $in: flights } })
            .toArray(),
        (found) => found.length === flights.length,
      );
      const openedByFeed = (flight: string) => {
        const flightId = known.find(({ number }) => number === flight)?._id ?? "";
        const data: OpenDetected = {
          ...{ flightId, crossing: 1, told: 1, airport: "BOS" },
          flight: { number: flight, origin: "BOS", destination: "MAD", scheduledDeparture: departure },
          disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: inHours(-1) },
          prediction: {
            ...{ probability: 0.9, threshold: 0.7, state: "PREDICTED", vendor: "skywatch" },
            ...{ eventId: "race", observedAt: inHours(-1) },
          },
        };
        const entity = flightId.replace(/.{4}$/, "CASE");
        return night.client.command("case.open-detected", { tenant: "XN", entity, data });
      };
      const pushed = await Promise.all(
        flights.map(async (flight, i) => {
          const push = () => night.pushed(xn, pushOf(flight, `with-the-feed-${flight}`));
          // Whoever is sent first is not whoever arrives first.
          const [told] =
            i % 2 === 0
              ? await Promise.all([push(), openedByFeed(flight)])
              : (await Promise.all([openedByFeed(flight), push()])).reverse();
          return (told as Awaited<ReturnType<typeof push>>).body.caseUrn;
        }),
      );
      const found = await Promise.all(flights.map(openCasesOf));
      t.strictSame(
        found.map((cases) => cases.map(({ urn }) => urn)),
        pushed.map((caseUrn) => [caseUrn]),
        "one case for each flight, and it is the one that the push was told of",
      );
      const byFeed = found.flat().filter(({ prediction }) => prediction !== undefined).length;
      t.comment(`the feed was first for ${byFeed} of ${flights.length}`);
    });

    t.strictSame(await delivered(qz, "disruption.detected"), [], "the other airline hears nothing");
  });
};
