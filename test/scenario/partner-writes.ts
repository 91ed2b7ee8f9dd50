// Passengers who come late and corrected next flights, in any order, twice and in megabytes, and priority within its bounds.
import type { Test } from "tap";
import type { Page } from "../../schemas/command.ts";
import type { PendingApproval } from "../../schemas/demand.ts";
import type { ManifestAmended, ManifestPatchBody } from "../../schemas/partner-manifest.ts";
import type { PriorityGranted } from "../../schemas/partner-priority.ts";
import { idOf } from "../../schemas/urn.ts";
import { isFullSize } from "../harness/environment.ts";
import { ago, inHours, type PartnerNight, traveller } from "./partner-night.ts";

export const partnerWrites = (
  t: Test,
  { night, token, supervisor, push, detail, housed, tonight, services }: PartnerNight,
): void => {
  const [xn] = night.airlines;
  const { events } = night;
  const patch = async (caseUrn: string, body: ManifestPatchBody): Promise<ManifestAmended> =>
    (await night.call<ManifestAmended>("amendManifest", { token, params: { caseUrn }, body })).body;

  const pendingOf = async (caseUrn: string): Promise<string[]> =>
    (
      await night.call<Page<PendingApproval>>("listPendingApprovals", { token: supervisor })
    ).body.items.flatMap((demand) => (demand.caseUrn === caseUrn ? demand.urn : []));
  const approve = (demandUrn: string) =>
    night.call("approveDemand", { token: supervisor, params: { demandUrn }, body: { reason: "More" } });

  t.test(
    "passengers who come while the case is being provisioned, twice and in any order, are all owned",
    async (t) => {
      const caseUrn = await push("growing", 16);
      const late = Array.from({ length: 12 }, (_, i) =>
        traveller(`LT${String(i).padStart(4, "0")}`, "Løvås-李"),
      );
      const parts = [late.slice(0, 6), late.slice(4, 12), late.slice(0, 6)];
      const told = await Promise.all(
        parts.map((passengers, i) => patch(caseUrn, { decidedAt: ago(i + 1), passengers })),
      );
      t.equal(
        told.reduce((sum, { passengersAdded }) => sum + passengersAdded, 0),
        12,
        "each is added once",
      );
      // Of those who came behind the planning the rooms have to be approved: this policy wants that of all that is asked for later.
      for (const demandUrn of await pendingOf(caseUrn)) await approve(demandUrn);
      await events.untilCount("subcase.offer-ready", 28, { caseUrn });
      const view = await detail(caseUrn);
      t.equal(view.passengerGroups.length, 28);
      t.equal(view.subCaseCount, 28);
      t.equal(
        view.passengerGroups.filter(({ passengers }) => passengers[0]?.lastName === "Løvås-李").length,
        12,
      );
    },
  );

  t.test(
    "who is added to a booking that waits joins it, to one that has its room is housed apart",
    async (t) => {
      const waiting = await push("held", 3, "LHR");
      await events.untilCount("review.opened", 1, { caseUrn: waiting });
      const [group] = (await detail(waiting)).passengerGroups;
      const [member] = group?.passengers ?? [];
      const child = {
        ...traveller(member?.pnr ?? "", member?.lastName ?? "", "Junior"),
        passengerType: "CHILD",
      };
      const joined = await patch(waiting, { decidedAt: ago(1), passengers: [child] });
      t.match(joined, { passengersAdded: 1, groupsAdded: 0, groupsJoined: 1, subCaseCount: 3 });
      await night.eventually(
        "the child is with its family",
        () => detail(waiting),
        ({ passengerGroups }) =>
          passengerGroups.find(({ groupId }) => groupId === group?.groupId)?.passengers.length ===
          (group?.passengers.length ?? 0) + 1,
      );
      const again = await patch(waiting, { decidedAt: ago(1), passengers: [child] });
      t.match(again, { passengersAdded: 0, passengersKnown: 1, groupsJoined: 0 });

      const room = (await detail(tonight)).passengerGroups[0]?.passengers[0];
      const apart = await patch(tonight, {
        decidedAt: ago(1),
        passengers: [traveller(room?.pnr ?? "", room?.lastName ?? "", "Junior")],
      });
      t.match(apart, { passengersAdded: 1, groupsAdded: 1, groupsJoined: 0, subCaseCount: 4 });
      for (const demandUrn of await pendingOf(tonight)) await approve(demandUrn);
      t.equal((await housed(tonight, 4)).length, 4);
      const amended = await night.deliveries(xn, tonight);
      t.ok(amended.length > 0);
    },
  );

  t.test("of next flights that come in the wrong order the one decided last stands", async (t) => {
    const caseUrn = await push("flights", 2);
    const flight = (n: number, hours: number) => ({
      iataDesignator: `XN${n}`,
      scheduledDeparture: inHours(hours),
    });
    const early = { decidedAt: new Date().toISOString(), nextFlight: flight(700, 40) };
    const first = await patch(caseUrn, early);
    t.match(
      first.nextFlight,
      /^(DEFERRED|APPLIED)$/,
      "while it is being provisioned or allocated, or right after",
    );
    t.equal(
      (await patch(caseUrn, { ...early, nextFlight: flight(701, 41), decidedAt: ago(30) })).nextFlight,
      "SUPERSEDED",
    );
    await events.untilCount("subcase.offer-ready", 2, { caseUrn });
    const settled = await night.eventually(
      "the correction is applied",
      () => detail(caseUrn),
      ({ nextFlight }) => nextFlight?.number === "XN700",
    );
    t.equal(settled.nextFlight?.scheduledDeparture, early.nextFlight.scheduledDeparture);
    t.equal((await patch(caseUrn, early)).nextFlight, "UNCHANGED");
    for (const [body, pointer] of [
      [{ decidedAt: inHours(2), nextFlight: flight(702, 42) }, "/decidedAt"],
      [{ decidedAt: ago(1) }, "/passengers"],
    ] as const) {
      const refusal = await night.refused("amendManifest", { token, params: { caseUrn }, body });
      t.match(refusal, { status: 422, errors: [{ pointer }] });
    }
  });

  t.test("thousands of passengers in megabytes hold nobody else up", async (t) => {
    const caseUrn = await push("huge", 1, "LHR");
    await events.untilCount("review.opened", 1, { caseUrn });
    const groups = isFullSize ? 5000 : 1200;
    const passengers = Array.from({ length: groups * 2 }, (_, i) => ({
      ...traveller(`H${String(i % groups).padStart(5, "0")}`, `Ærøskøbing-${"ß".repeat(60)}`, `Šárka ${i}`),
      loyaltyTier: "x".repeat(40),
      specialRequirements: Array.from({ length: 8 }, (_, n) => `NEED_${n}_${"y".repeat(20)}`),
    }));
    const body = { decidedAt: ago(1), passengers };
    const megabytes = Buffer.byteLength(JSON.stringify(body)) / 1024 / 1024;
    let isDone = false;
    const waits: number[] = [];
    const watch = (async () => {
      while (!isDone) {
        const from = performance.now();
        await night.call("reportLiveness", {});
        waits.push(performance.now() - from);
      }
    })();
    const from = performance.now();
    const told = await patch(caseUrn, body).finally(() => {
      isDone = true;
    });
    const tookMs = performance.now() - from;
    await watch;
    t.match(told, { passengersAdded: groups * 2, groupsAdded: groups });
    t.comment(
      `${megabytes.toFixed(1)} MB in ${Math.round(tookMs)} ms; others waited ${Math.round(Math.max(...waits))} ms at most`,
    );
    const subCases = night.documents.tenant("XN").collection("subCases");
    await night.eventually(
      "all of them are owned",
      () => subCases.find({ caseId: idOf(caseUrn) }, { projection: { _id: 1 } }).toArray(),
      ({ length }) => length === groups + 1,
    );
  });

  t.test("priority goes to few, without a room, and the operators see it", async (t) => {
    const caseUrn = await push("hurried", 20, "LHR");
    await events.untilCount("review.opened", 1, { caseUrn });
    const [first, second] = (await detail(caseUrn)).passengerGroups;
    const ask = (body: object, params = { caseUrn }) => ({ token, params, body });
    const passengerUrns = [first?.passengers[0]?.urn];
    const granted = await night.call<PriorityGranted>(
      "requestPriority",
      ask({ passengerUrns, reason: "MEDICAL" }),
    );
    t.match(granted.body, { groups: [{ groupId: first?.groupId }], groupsLeft: 0 });
    const seen = await night.eventually(
      "its items are one level up",
      () => detail(caseUrn),
      ({ manualReviewItems }) => manualReviewItems.some(({ priority }) => priority === "MEDIUM"),
    );
    const partnerUrn = seen.passengerGroups.find(({ groupId }) => groupId === first?.groupId)?.priority;
    t.match(partnerUrn, { reason: "MEDICAL", requestedBy: /^urn:partner:XN-/ });
    t.equal(seen.passengerGroups.filter(({ priority }) => priority !== undefined).length, 1);
    const repeat = ask({ groupIds: [first?.groupId], reason: "VIP" });
    t.match((await night.call("requestPriority", repeat)).body, { groupsLeft: 0 }, "again is nothing more");
    const more = await night.refused("requestPriority", ask({ groupIds: [second?.groupId], reason: "VIP" }));
    t.match(more, { status: 409, state: "PRIORITY_USED_UP" });
    const unknown = await night.refused("requestPriority", ask({ groupIds: ["nobody"], reason: "VIP" }));
    t.match(unknown, { status: 422, errors: [{ pointer: "/groupIds/0" }] });
    t.match(await night.refused("requestPriority", ask({ reason: "VIP" })), { status: 422 });
    t.match(await night.refused("requestPriority", ask({ groupIds: ["G"], reason: "because" })), {
      status: 422,
    });
    const withRoom = services[0]?.groupId;
    const late = await night.refused(
      "requestPriority",
      ask({ groupIds: [withRoom], reason: "VIP" }, { caseUrn: tonight }),
    );
    t.match(late, { status: 409 });
    const others = await Promise.all(
      ["hurried-b", "hurried-c", "hurried-d"].map(async (name) => {
        const other = await push(name, 1, "LHR");
        await events.untilCount("review.opened", 1, { caseUrn: other });
        const groupIds = (await detail(other)).passengerGroups.map(({ groupId }) => groupId);
        return ask({ groupIds, reason: "VIP" }, { caseUrn: other });
      }),
    );
    const told = await Promise.all(others.map((other) => night.sent("requestPriority", other)));
    t.strictSame(
      told.map(({ status }) => status).sort(),
      [200, 200, 429],
      "at the same moment, too, no more than the day's requests",
    );
    t.match(told.find(({ status }) => status === 429)?.headers, { "retry-after": /^[1-9]\d*$/ });
  });
};
