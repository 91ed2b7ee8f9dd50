// `scripts/admin reconcile` at a night under way: what hotels and the payment vendor have on record and we have not is put on record
// while the administrator waits, printed, and on the trail; asked again nothing differs.
import type { Test } from "tap";
import type { AuditEntryView } from "../../../schemas/audit.ts";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import { reconcileSubcommands } from "../../../scripts/administration/reconcile.ts";
import type { Answer, Reach, Values } from "../../../scripts/administration/subcommand.ts";
import { runScript } from "../../harness/administration.ts";
import type { Clients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";

interface Reconciled {
  airline: string;
  vendor: string;
  outcome: string;
  differences: { reference: string; subCaseUrn: string; from?: string; to: string; amount?: object }[];
}

export const reconciledOnDemand = async (t: Test, night: Clients): Promise<void> => {
  const [xn] = night.airlines;
  const { events } = night;
  const reach = { client: async () => night.client } as unknown as Reach;
  const reconcile = async (values: Values = {}) =>
    (await reconcileSubcommands.reconcile?.run({ airline: "XN", ...values }, [], reach)) as Answer;
  const token = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
  const { caseUrn } = (await night.pushed(xn, smallFlight("XN", "reconciled", 3))).body;
  await events.untilCount("subcase.offer-ready", 3, { caseUrn });
  const params = { caseUrn };
  const groups = (await night.call<CaseView>("getCase", { token, params })).body.passengerGroups;
  const ids = groups.map(({ subCaseUrn = "" }) => subCaseUrn.split(":").at(-1) ?? "");
  const hotels = ["stayhub", "roomlink"];
  const ledgers = await Promise.all(hotels.map((name) => night.ledger(name)));
  const roomOf = (id: string) => {
    const rooms = ledgers.flatMap(({ entries }, i) =>
      entries.map((entry) => ({ vendor: hotels[i], ...entry })),
    );
    return rooms.find(({ kind, reference }) => kind === "booking" && reference.startsWith(`${id}.`));
  };
  const [arrived, lost, spender] = ids.map((id) => ({ ...roomOf(id), id }));
  await reconcile();

  await night.desk(arrived?.vendor ?? "", { reference: arrived?.reference ?? "", state: "CHECKED_IN" });
  await night.desk(lost?.vendor ?? "", { reference: lost?.reference ?? "", state: "CANCELLED" });
  const { entries } = await night.ledger("cardworks");
  const card = entries.find(({ reference }) => reference.startsWith(`${spender?.id}.card`));
  await night.spend("cardworks", { cardId: card?.id ?? "", type: "authorization", amountMinor: 800 });

  const told = await runScript("admin", night, ["reconcile", "--airline", "XN", "--json"]);
  t.equal(told.code, 0, told.stderr);
  const vendors = JSON.parse(told.stdout) as Reconciled[];
  t.match(
    new Set(vendors.map(({ vendor }) => vendor)),
    new Set(["stayhub", "roomlink", "cardworks", "ridefleet", "direct"]),
  );
  for (const { vendor, outcome } of vendors) t.equal(outcome, "done", vendor);
  const found = vendors.flatMap(({ differences }) => differences);
  const about = (id = "") => found.filter(({ subCaseUrn }) => subCaseUrn.endsWith(id));
  t.match(about(arrived?.id), [{ reference: arrived?.reference, from: "CONFIRMED", to: "CHECKED_IN" }]);
  t.match(about(lost?.id), [{ reference: lost?.reference, from: "CONFIRMED", to: "CANCELLED" }]);
  t.match(about(spender?.id), [
    { reference: card?.reference, to: "AUTHORIZATION", amount: { amountMinor: 800 } },
  ]);
  t.equal(found.length, 3);
  await events.untilCount("subcase.resolved", 1, { caseUrn });

  const trail = await night.eventually(
    "the trail of what the hotels have told",
    async () => (await night.call<Page<AuditEntryView>>("getCaseAudit", { token, params })).body.items,
    (items) => items.filter(({ action }) => action === "sub-case.record-stay").length === 2,
  );
  const stays = trail.filter(({ action }) => action === "sub-case.record-stay");
  for (const [id, state] of [
    [arrived?.id, "CHECKED_IN"],
    [lost?.id, "CANCELLED"],
  ] as const) {
    const entry = stays.find(({ entityUrn }) => entityUrn.endsWith(id ?? "?"));
    t.match(entry, { before: { room: "CONFIRMED" }, after: { room: state } }, state);
  }

  t.match(await reconcile(), { text: "nothing differed", failed: false });
  await t.rejects(reconcile({ vendor: "sendwell" }), /no vendor sendwell is polled/);
  // As long as it lasts: another airline's first poll may come in the same moment.
  await night.control({ stayhub: { failNext: [{ operation: "reconcile", kind: "error", times: 5 }] } });
  const text = /nothing differed\nXN stayhub: unavailable, the vendor answered 500/;
  t.match(await reconcile({ vendor: "stayhub" }), { text, failed: true });
  await night.control({ stayhub: { failNext: [] } });
  await night.desk(arrived?.vendor ?? "", { reference: arrived?.reference ?? "", state: "CHECKED_OUT" });
  const shown = await reconcile({ vendor: arrived?.vendor ?? "" });
  t.match(shown.text, new RegExp(`XN +${arrived?.vendor} .*${arrived?.id} .* CHECKED_IN +CHECKED_OUT `));
};
