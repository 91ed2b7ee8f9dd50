// Messages that a partner has sent: from a template alone, to one passenger, so often; and what it learns of the passenger, which is nothing.
import type { Test } from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import type { NotificationRecord } from "../../schemas/notification.ts";
import type { PassengerNotified } from "../../schemas/partner-notify.ts";
import { idOf } from "../../schemas/urn.ts";
import { ago, type PartnerNight, traveller } from "./partner-night.ts";

export const partnerNotes = (
  t: Test,
  { night, token, supervisor, push, detail, tonight }: PartnerNight,
): void => {
  const { events } = night;
  const asked = (passengerUrn: string, body: object = {}, more: object = {}) => ({
    ...{ token, params: { passengerUrn }, body: { templateId: "welcome", ...body } },
    ...more,
  });
  const notify = async (passengerUrn: string, body: object = {}): Promise<PassengerNotified> =>
    (await night.call<PassengerNotified>("notifyPassenger", asked(passengerUrn, body))).body;
  const logOf = async (caseUrn: string): Promise<NotificationRecord[]> =>
    (
      await night.call<Page<NotificationRecord>>("listNotifications", {
        token: supervisor,
        params: { caseUrn },
      })
    ).body.items.filter(({ requestedBy }) => requestedBy?.startsWith("urn:partner:"));

  t.test("a partner has a passenger written to, and is told no address", async (t) => {
    const [first] = (await detail(tonight)).passengerGroups;
    const [{ urn: passengerUrn } = { urn: "" }] = first?.passengers ?? [];
    const key = { headers: { "Idempotency-Key": "notify-1" } };
    const sent = await night.call<PassengerNotified>("notifyPassenger", asked(passengerUrn, {}, key));
    t.match([sent.status, sent.body], [202, { status: "QUEUED", caseUrn: tonight, passengerUrn }]);
    t.notMatch(JSON.stringify(sent.body), /@|•|phone|recipient/);
    const again = await night.call<PassengerNotified>("notifyPassenger", asked(passengerUrn, {}, key));
    t.strictSame(again.body, sent.body, "the same key is the same message");
    t.match(await notify(passengerUrn), { status: "NOT_SENT", reasonCode: "SENT_JUST_NOW" });
    const [logged, ...rest] = await logOf(tonight);
    t.match(logged, { templateId: "welcome", passengerUrn, requestedBy: /^urn:partner:XN-/ });
    t.strictSame(rest, []);
    const trail = await night.eventually(
      "it stands in the trail",
      () =>
        night.call<Page<AuditEntryView>>("getCaseAudit", {
          ...{ token: supervisor, params: { caseUrn: tonight } },
          query: { limit: 200 },
        }),
      ({ body }) => body.items.some(({ action }) => action === "message.notify-passenger"),
    );
    t.notMatch(
      JSON.stringify(trail.body.items.filter(({ action }) => action === "message.notify-passenger")),
      /@example/,
    );
  });

  t.test("no word of a partner's is taken, and nothing is told that is not so", async (t) => {
    const waiting = await push("written", 3, "LHR");
    await events.untilCount("review.opened", 1, { caseUrn: waiting });
    const groups = (await detail(waiting)).passengerGroups;
    const [ada = "", bob = "", eve = ""] = groups.map(({ passengers }) => passengers[0]?.urn ?? "");
    const params = { passengerUrn: ada };
    for (const [body, pointer] of [
      [{ templateId: "welcome", text: "Call me" }, "/text"],
      [{ templateId: "welcome", reason: "Call me" }, "/reason"],
      [{ templateId: "Dear passenger" }, "/templateId"],
      [{ templateId: "magic-link" }, "/templateId"],
      [{}, "/templateId"],
    ] as const) {
      const problem = await night.refused("notifyPassenger", { token, params, body });
      t.match(problem, { status: 422, errors: [{ pointer }] }, pointer);
    }
    t.match(await notify(ada, { templateId: "voucher-issued" }), {
      status: "NOT_SENT",
      reasonCode: "NOTHING_TO_TELL",
    });
    t.match(await notify(ada, { channels: ["SMS"] }), { status: "NOT_SENT", reasonCode: "NO_CONTACT" });
    const nobody = `${ada.slice(0, -4)}ZZZZ`;
    t.match(await night.refused("notifyPassenger", asked(nobody)), { status: 404 });

    // One went out above: of four in all two may go to one passenger.
    t.match(await notify(bob), { status: "QUEUED" });
    t.match(await notify(bob, { channels: ["EMAIL"] }), { status: "QUEUED" });
    const over = await night.sent("notifyPassenger", asked(bob, { channels: ["SMS", "EMAIL"] }));
    t.match([over.status, over.headers], [429, { "retry-after": /^[1-9]\d*$/ }], "to one passenger");
    const last = await Promise.all([ada, eve].map((urn) => night.sent("notifyPassenger", asked(urn))));
    t.strictSame(
      last.map(({ status }) => status).sort(),
      [202, 429],
      "and of one partner, at the same moment too",
    );
  });

  t.test("closed cases are written about no more, and drills are not there", async (t) => {
    const admin = await night.operatorToken(night.airlines[0].urn, "ADMIN");
    const closed = await push("over", 1, "LHR");
    await events.untilCount("review.opened", 1, { caseUrn: closed });
    const drill = await night.call<{ caseUrn: string }>("openCaseManually", {
      token: admin,
      body: {
        ...{ externalEventId: "XN-drill-notes", kind: "DRILL" },
        passengerGroups: [{ passengers: [traveller("DRILL7", "Rehearsal")] }],
        flight: { number: "XN9", origin: "JFK", destination: "LIS", scheduledDeparture: ago(-60) },
      },
    });
    const played = night.documents.tenant("XN").collection("subCases");
    const actor = await night.eventually(
      "the drill's people are there",
      () => played.findOne({ caseId: idOf(drill.body.caseUrn) }),
      (group) => group !== null,
    );
    t.match(await night.refused("notifyPassenger", asked(actor?.passengers[0].urn)), { status: 404 });
    const [stranded] = (await detail(closed)).passengerGroups[0]?.passengers ?? [];
    const body = { reason: "Everybody has left" };
    await night.call("closeCase", { token: supervisor, params: { caseUrn: closed }, body });
    const refusal = await night.refused("notifyPassenger", asked(stranded?.urn ?? ""));
    t.match(refusal, { status: 409, state: "CLOSED" });
  });
};
