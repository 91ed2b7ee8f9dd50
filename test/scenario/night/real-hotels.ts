// A night at hotels that are sold by Hotelbeds and Rapid alone: configured by an administrator, searched, held, booked, and what their
// hotels cancel is found by reconciliation, with one by its list, with the other reference by reference.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { systemClock } from "../../../actors/runtime/clock.ts";
import { Hotelbeds } from "../../../actors/vendor-adapter/adapters/hotelbeds.ts";
import type { AuditEntryView } from "../../../schemas/audit.ts";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import { reconcileSubcommands } from "../../../scripts/administration/reconcile.ts";
import type { Answer, Reach } from "../../../scripts/administration/subcommand.ts";
import { vendorSubcommands } from "../../../scripts/administration/vendors.ts";
import { bookRoom, type Sandbox, startSandbox } from "../../contract/vendors/sandbox.ts";
import type { Clients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";
import { eventually } from "../../harness/patience.ts";

const names = ["hotelbeds", "rapid"] as const;

export const realHotels = async (t: Test, night: Clients): Promise<void> => {
  const [xn] = night.airlines;
  const { events } = night;
  const dir = t.testdir();
  const sandbox = await startSandbox(t, dir, ["--only", names.join(",")]);
  const reach = { client: async () => night.client } as unknown as Reach;
  const token = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
  const keyFile = (name: string, secret = ""): string => {
    writeFileSync(join(dir, name), secret);
    return join(dir, name);
  };
  for (const name of names) {
    const { baseUrl, apiKey, apiSecret, account = {} } = sandbox.vendor(name);
    await vendorSubcommands["vendor put"]?.run(
      {
        ...{ airline: "XN", name, dialect: name, "base-url": baseUrl },
        ...{ "api-key-file": keyFile("key", apiKey), "api-secret-file": keyFile("secret", apiSecret) },
        account: Object.entries(account).map(([setting, value]) => `${setting}=${value}`),
      },
      [],
      reach,
    );
  }
  const silent = { failNext: [{ operation: "search", kind: "error", times: 50 }] };
  await night.control({ stayhub: silent, roomlink: silent });

  for (const only of names) {
    await sandbox.control({ hotelbeds: silent, rapid: silent, [only]: { failNext: [] } });
    const { caseUrn } = (await night.pushed(xn, smallFlight("XN", only, 3))).body;
    await events.untilCount("subcase.offer-ready", 3, { caseUrn });
    const seen = async () => (await night.call<CaseView>("getCase", { token, params: { caseUrn } })).body;
    const { reservations } = await seen();
    t.equal(reservations.length, 3);
    for (const { vendor, status, totalMinor, cancellation } of reservations) {
      t.match({ vendor, status }, { vendor: only, status: "CONFIRMED" });
      t.equal(cancellation?.at(-1)?.price.amountMinor, totalMinor, "in the end a night costs all of itself");
    }
    const { entries } = await sandbox.ledger(only);
    const bookings = entries.filter(({ kind }) => kind === "booking");
    t.same(new Set(bookings.map(({ state }) => state)), new Set(["BOOKED"]));
    t.equal(bookings.length, 3, "each once");
    const [lost, kept] = bookings;
    const twin = only === "hotelbeds" ? await bookedTwice(sandbox, String(kept?.reference)) : undefined;
    const body = JSON.stringify({ reference: lost?.reference, state: "CANCELLED" });
    await fetch(`${sandbox.announcement.controlUrl}/stay/${only}`, { method: "POST", body });
    const told = (await reconcileSubcommands.reconcile?.run({ airline: "XN" }, [], reach)) as Answer;
    const vendors = told.json as { vendor: string; differences: object[] }[];
    const differing = vendors.filter(({ differences }) => differences.length > 0);
    t.match(differing, [
      { vendor: only, differences: [{ reference: lost?.reference, from: "CONFIRMED", to: "CANCELLED" }] },
    ]);
    t.equal(differing[0]?.differences.length, 1);
    t.same((await seen()).reservations.filter(({ status }) => status === "CANCELLED").length, 1);
    if (twin === undefined) continue;
    const stateOf = async (id: unknown) =>
      (await sandbox.ledger(only)).entries.find((entry) => entry.id === id)?.state;
    await eventually("what the group does not know of is given back", async () => {
      const state = await stateOf(twin);
      return state === "CANCELLED" ? undefined : state;
    });
    t.equal(await stateOf(kept?.id), "BOOKED", "its own room stands");
    await eventually("the trail says so", async () => {
      const trail = await night.call<Page<AuditEntryView>>("getCaseAudit", { token, params: { caseUrn } });
      const noted = trail.body.items.filter(({ action }) => action === "sub-case.note-oddity");
      const [entry] = noted;
      const { room, bookingId, oddity } = (entry?.after ?? {}) as Record<string, unknown>;
      const isSo = noted.length === 1 && room === "CONFIRMED" && bookingId === twin && oddity === "TWIN";
      return isSo ? undefined : noted;
    });
  }
};

/** As a booking that was given up long ago, and made after all: in capitals the reference is another one to the vendor. */
const bookedTwice = (sandbox: Sandbox, reference: string): Promise<string> => {
  const port = new Hotelbeds("hotelbeds", { ...sandbox.vendor("hotelbeds"), timeoutMs: 20_000 }, systemClock);
  return bookRoom(
    port,
    reference.replace(/\..*/, (attempt) => attempt.toUpperCase()),
  );
};
