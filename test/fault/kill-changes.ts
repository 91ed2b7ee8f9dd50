// What people change in the middle of a night, at a service that dies at a named point of it: other dates, another hotel, groups merged
// and split, an airport frozen. At the end each group has one room, for the nights that it needs, and has been written to once for
// each change.
import type { Document } from "mongodb";
import type { Test } from "tap";
import type { CaseState } from "../../actors/case/state.ts";
import type { MessageState } from "../../actors/message/state.ts";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import { idOf } from "../../schemas/urn.ts";
import type { WaveView } from "../../schemas/wave.ts";
import { listDeadLetters } from "../../streams/dead-letters.ts";
import { smallFlight, startInstance, type TestInstance } from "../harness/instance.ts";
import { driveInOwnCars } from "../harness/own-cars.ts";
import { eventually } from "../harness/patience.ts";
import { untilQuiet } from "./agreement.ts";
import { eagerSettings, Mortal } from "./kill-chain.ts";

const stayPoints = [
  "after-commit@case.reaccommodate",
  "after-publish@sub-case.amend-stay",
  "after-commit@sub-case.amend-stay#2",
  "before-ack@sub-case.amend-stay",
  "after-publish@*.modify",
  "after-vendor-answer@*.modify#2",
  "before-ack@*.modify",
  "after-commit@sub-case.record-answer",
  "after-publish@voucher.amended",
  "after-vendor-answer@*.send",
  "before-ack@sub-case.record-answer#3",
] as const;
const loadPoints = ["after-vendor-answer@*.load-card", "before-ack@*.load-card#2"] as const;
const overridePoints = [
  "after-commit@wave.override",
  "after-publish@sub-case.override",
  "after-commit@sub-case.override",
  "before-ack@sub-case.override",
  "after-vendor-answer@*.hold",
  "after-vendor-answer@*.book",
  "after-vendor-answer@*.cancel-ride",
  "after-vendor-answer@*.cancel",
  "after-vendor-answer@*.send",
  "after-publish@wave.note-override",
  "after-commit@wave.note-override",
] as const;
const mergePoints = [
  "after-commit@case.merge-groups",
  "after-publish@sub-case.regroup",
  "after-commit@sub-case.regroup#2",
  "before-ack@sub-case.regroup",
  "after-publish@case.amended",
] as const;
const splitPoints = [
  "after-commit@case.split-group",
  "after-publish@sub-case.open-many",
  "after-commit@sub-case.open-many",
  "before-ack@sub-case.open-many",
  "after-commit@sub-case.regroup",
] as const;
const freezePoints = [
  "after-commit@case.freeze-demand",
  "after-publish@case.spread-freeze",
  "after-commit@case.apply-freeze",
  "before-ack@case.spread-freeze",
  "after-publish@demand.rejected",
] as const;

const withinMs = 60_000;
/** Of each kind: one change may take the service through many deaths, since each life takes up what the last one left. */
const changedCases = 5;
const dayMs = 86_400_000;

/** `notices`: the templates of what carriers have taken for it. */
type SubCase = SubCaseState & { _id: string; notices: string[] };

/** The instance with its cases, and what people ask of it. */
class ChangingNight {
  readonly it: TestInstance;
  readonly #t: Test;
  readonly #token: string;

  constructor(t: Test, it: TestInstance, token: string) {
    this.#t = t;
    this.it = it;
    this.#token = token;
  }

  /** A `fetch`, for there are verbs here that the passengers have not. */
  async ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(new URL(path, this.it.instance.baseUrl), {
      method,
      headers: {
        Authorization: `Bearer ${this.#token}`,
        "Content-Type": "application/json",
        Connection: "close",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  }

  async subCases(caseUrn: string): Promise<SubCase[]> {
    const found = await this.it.documents
      .tenant("XN")
      .collection<Document>("subCases")
      .find({ caseId: idOf(caseUrn) })
      .sort({ _id: 1 })
      .toArray();
    const messages = (await this.it.documents
      .tenant("XN")
      .collection<Document>("messages")
      .find({ caseId: idOf(caseUrn), sentAt: { $exists: true } })
      .toArray()) as unknown as MessageState[];
    return found.map((document) => {
      const own = messages.filter(({ subCaseId }) => subCaseId === String(document._id));
      return { ...document, notices: own.map(({ template }) => template) } as unknown as SubCase;
    });
  }

  async case(caseUrn: string): Promise<CaseState> {
    const found = await this.it.documents
      .tenant("XN")
      .collection<Document>("cases")
      .findOne({ _id: idOf(caseUrn) as never });
    return found as unknown as CaseState;
  }

  async push(name: string, bookings: number, airport = "JFK"): Promise<string> {
    const body = smallFlight("XN", name, bookings);
    const flight = { ...body.flight, originAirport: airport };
    return (await this.it.push(this.it.airlines[0], { ...body, flight })).caseUrn;
  }

  /** A policy of an airport under which a person approves. */
  async approvedByHand(airport: string): Promise<void> {
    const made = await this.ask("POST", "/v1/policies", {
      name: airport,
      context: { airport },
      tiers: ["ECONOMY"],
      autoApproveDemand: false,
    });
    const { urn } = made.body as { urn: string };
    const active = await this.ask("POST", `/v1/policies/${encodeURIComponent(urn)}/activate`, {});
    this.#t.equal(active.status, 200, `a policy at ${airport}`);
  }

  /**
   * The change is made to case after case, and the service dies at point after point on its way, often of one change.
   * @param look what is wrong with the case yet; undefined: all is as it should be
   */
  async through(
    points: readonly string[],
    cases: readonly string[],
    act: (caseUrn: string) => Promise<{ status: number }>,
    look: (caseUrn: string) => Promise<unknown>,
  ): Promise<void> {
    const mortal = new Mortal(this.#t, this.it, points);
    await mortal.next();
    for (const caseUrn of cases) {
      const { point } = mortal;
      const { status } = await mortal.insist(() => act(caseUrn));
      this.#t.ok(status < 300 || status === 409, `taken, or known already: ${status}`);
      if (point !== "" && mortal.point === point && (await mortal.diesSoon())) await mortal.next();
    }
    while (mortal.point !== "") await mortal.next();
    this.#t.ok(mortal.deaths >= points.length - 1, `${mortal.deaths} deaths at ${points.length} points`);
    for (const caseUrn of cases)
      await eventually(`${caseUrn} is as it should be`, () => look(caseUrn), withinMs);
  }
}

/** A hotel that cannot change the dates has given way to another one, which is written of, too. @returns what is wrong yet */
const hasStays =
  (night: ChangingNight, nights: number, changes: number) =>
  async (caseUrn: string): Promise<unknown> => {
    const wrong = (await night.subCases(caseUrn)).filter(
      ({ status, assignment, call, notices }) =>
        status !== "OFFER_READY" ||
        call !== undefined ||
        assignment?.stay.nights !== nights ||
        notices.length !== 1 + changes,
    );
    return wrong.length === 0
      ? undefined
      : wrong.map(({ _id, status, call, assignment, notices }) => ({
          _id,
          status,
          call: call?.step,
          stay: assignment?.stay,
          notices,
        }));
  };

const otherDates = async (night: ChangingNight, cases: readonly string[]): Promise<void> => {
  const departures = new Map<string, number>();
  for (const caseUrn of cases)
    departures.set(caseUrn, (await night.case(caseUrn)).nextFlight?.scheduledDeparture.getTime() ?? 0);
  const fly = (number: string, days: number) => (caseUrn: string) =>
    night.ask("PATCH", `/v1/cases/${encodeURIComponent(caseUrn)}/reaccommodate`, {
      nextFlight: {
        number,
        scheduledDeparture: new Date((departures.get(caseUrn) ?? 0) + days * dayMs).toISOString(),
      },
      reason: "The next flight has changed",
    });
  await night.through([...stayPoints, ...loadPoints], cases, fly("XN486", 1), hasStays(night, 2, 1));
  await night.through(stayPoints, cases, fly("XN488", 0), hasStays(night, 1, 2));
};

const otherHotels = async (night: ChangingNight, cases: readonly string[]): Promise<void> => {
  const chosen = new Map<string, { waveUrn: string; groupId: string; hotelUrn: string }>();
  for (const caseUrn of cases) {
    const { waveId = "" } = await night.case(caseUrn);
    const waveUrn = `urn:wave:${waveId}`;
    const wave = (await night.ask("GET", `/v1/allocation/wave/${encodeURIComponent(waveUrn)}`))
      .body as WaveView;
    const [moving] = wave.allocations;
    const other = wave.rankingInputs.find(
      ({ candidate }) => candidate.hotelUrn !== moving?.hotelUrn && candidate.roomsLeft > 20,
    );
    chosen.set(caseUrn, {
      waveUrn,
      groupId: moving?.groupId ?? "",
      hotelUrn: other?.candidate.hotelUrn ?? "",
    });
  }
  await night.through(
    overridePoints,
    cases,
    (caseUrn) => {
      const { waveUrn = "", ...body } = chosen.get(caseUrn) ?? {};
      const path = `/v1/allocation/wave/${encodeURIComponent(waveUrn)}/override`;
      return night.ask("POST", path, { ...body, reason: "Nearer" });
    },
    async (caseUrn) => {
      const { groupId, hotelUrn } = chosen.get(caseUrn) ?? {};
      const group = (await night.subCases(caseUrn)).find((one) => one.groupId === groupId);
      const isThere = group?.reservation?.hotelUrn === hotelUrn && group?.status === "OFFER_READY";
      return isThere ? undefined : { status: group?.status, call: group?.call?.step };
    },
  );
};

/** Two groups become one, then two again, and are housed. */
const otherGroups = async (night: ChangingNight, cases: readonly string[]): Promise<void> => {
  const path = (caseUrn: string, rest: string) => `/v1/cases/${encodeURIComponent(caseUrn)}/${rest}`;
  const before = new Map<string, SubCase[]>();
  for (const caseUrn of cases) before.set(caseUrn, await night.subCases(caseUrn));
  const reason = "They asked for it";
  const shaped = async (caseUrn: string, sizes: string): Promise<unknown> => {
    const standing = await night.subCases(caseUrn);
    const now = standing
      .map(({ passengers }) => passengers.length)
      .sort()
      .join(" ");
    return now === sizes ? undefined : now;
  };
  const sizesOf = (caseUrn: string) => (before.get(caseUrn) ?? []).map(({ passengers }) => passengers.length);
  const total = (caseUrn: string) => sizesOf(caseUrn).reduce((sum, size) => sum + size, 0);
  await night.through(
    mergePoints,
    cases,
    (caseUrn) => {
      const groupIds = (before.get(caseUrn) ?? []).map(({ groupId }) => groupId);
      return night.ask("POST", path(caseUrn, "groups:merge"), { groupIds, reason });
    },
    (caseUrn) => shaped(caseUrn, `0 ${total(caseUrn)}`),
  );
  await night.through(
    splitPoints,
    cases,
    (caseUrn) => {
      const [first, second] = before.get(caseUrn) ?? [];
      const into = [first, second].map((group) => group?.passengers.map(({ urn }) => urn) ?? []);
      return night.ask("POST", path(caseUrn, `groups/${first?.groupId}/split`), { into, reason });
    },
    (caseUrn) => shaped(caseUrn, [0, ...sizesOf(caseUrn)].sort().join(" ")),
  );
  for (const caseUrn of cases) {
    for (const { demandId, state } of (await night.case(caseUrn)).demands) {
      if (state !== "REQUESTED") continue;
      const demandUrn = encodeURIComponent(`urn:demand:${demandId}`);
      await night.ask("POST", `/v1/demand/${demandUrn}/approve`, { reason });
    }
    await night.it.events.untilCount("subcase.offer-ready", 2, { caseUrn, withinMs });
  }
};

const frozen = async (night: ChangingNight, airport: string): Promise<void> => {
  for (const [i, point] of freezePoints.entries()) {
    const caseUrn = await night.push(`F${i}`, 1, airport);
    await night.it.events.untilCount("demand.requested", 1, { caseUrn, withinMs });
    await night.through(
      [point],
      [caseUrn],
      () => night.ask("POST", "/v1/demand/freezes", { airport, reason: "Snow" }),
      async () => {
        const { demands, progress } = await night.case(caseUrn);
        const told = night.it.events.of("review.opened", caseUrn).length;
        return demands[0]?.frozen && progress === "H" && told === 1 ? undefined : { demands, progress, told };
      },
    );
    const { body } = await night.ask("GET", `/v1/demand/freezes?airport=${airport}`);
    const [{ urn } = { urn: "" }] = (body as { items: { urn: string }[] }).items;
    await night.ask("DELETE", `/v1/demand/freezes/${encodeURIComponent(urn)}`);
  }
};

/** One room for the nights that are needed, one card, a ride each way, and a message for each notice; of who needs none nothing. */
const assertHoused = async (t: Test, night: ChangingNight, cases: readonly string[]): Promise<void> => {
  const names = ["stayhub", "roomlink", "cardworks", "ridefleet", "sendwell"];
  const ledgers = await Promise.all(names.map((name) => night.it.ledger(name)));
  const entries = ledgers.flatMap((ledger) => ledger.entries);
  for (const caseUrn of cases) {
    for (const { _id, status, assignment, notices } of await night.subCases(caseUrn)) {
      const own = entries.filter(({ reference }) => reference.startsWith(`${_id}.`));
      const count = (kind: string, state: string) =>
        own.filter((entry) => entry.kind === kind && entry.state === state).length;
      const kept = status === "OFFER_READY" ? 1 : 0;
      const bookings = own.filter(({ kind, state }) => kind === "booking" && state === "BOOKED");
      t.strictSame(
        {
          bookings: bookings.map(({ details }) => details.checkOut),
          cards: count("card", "ACTIVE"),
          rides: count("ride", "BOOKED"),
          held: count("hold", "HELD"),
          messages: own.filter(({ kind }) => kind === "message").length,
        },
        {
          bookings: kept === 1 ? [assignment?.stay.checkOut] : [],
          cards: (assignment?.terms.incidentalsMinor ?? 0) > 0 ? kept : 0,
          rides: 2 * kept,
          held: 0,
          messages: notices.length,
        },
        `${_id} is ${status}`,
      );
    }
  }
};

export const runKillChanges = async (t: Test): Promise<void> => {
  const it = await startInstance(t, { settings: eagerSettings });
  const night = new ChangingNight(t, it, await it.operatorToken(it.airlines[0].urn, "ADMIN"));
  for (const airport of ["GVA", "VIE"]) await night.approvedByHand(airport);
  await driveInOwnCars(it, it.airlines[0]);
  const pushed = async (name: string, count: number, airport?: string): Promise<string[]> => {
    const cases: string[] = [];
    for (let i = 0; i < count; i++) cases.push(await night.push(`${name}${i}`, 2, airport));
    return cases;
  };
  const staying = await pushed("S", changedCases);
  const moving = await pushed("M", changedCases + 3);
  const waiting = await pushed("W", changedCases, "GVA");
  for (const caseUrn of [...staying, ...moving])
    await it.events.untilCount("subcase.offer-ready", 2, { caseUrn, withinMs });
  for (const caseUrn of waiting) await it.events.untilCount("demand.requested", 1, { caseUrn, withinMs });
  await otherDates(night, staying);
  await otherHotels(night, moving);
  await otherGroups(night, waiting);
  await frozen(night, "VIE");
  await untilQuiet(it, "XN");
  t.strictSame(await listDeadLetters(it.streams, { tenant: "XN", limit: 5 }), [], "no dead letters");
  await assertHoused(t, night, [...staying, ...moving, ...waiting]);
};
