// Passengers who come in a spreadsheet on the night of a partner's push: added, known, joined, refused, sent again, and what the trail keeps.
import { createHash } from "node:crypto";
import type { Test } from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import type { PendingApproval } from "../../schemas/demand.ts";
import type { PassengersTaken } from "../../schemas/passenger-file.ts";
import { isFullSize } from "../harness/environment.ts";
import { fileForm } from "../harness/forms.ts";
import { workbookOf } from "../harness/workbooks.ts";
import type { PartnerNight } from "./partner-night.ts";

export const passengerSheets = (
  t: Test,
  { night, supervisor, push, detail, tonight }: PartnerNight,
): void => {
  const [xn] = night.airlines;
  const send = (caseUrn: string, content: string | Buffer, fields = {}, headers = {}) => {
    const form = fileForm(content, Buffer.isBuffer(content) ? "night.xlsx" : "night.csv", fields);
    const call = { token: supervisor, params: { caseUrn }, raw: form.raw };
    return night.call<PassengersTaken>("addPassengers", {
      ...call,
      headers: { ...form.headers, ...headers },
    });
  };

  t.test("a workbook's new bookings are housed, who is known stays as they are", async (t) => {
    const before = await detail(tonight);
    const [known] = before.passengerGroups[0]?.passengers ?? [];
    const rows = [
      [
        "Localizador",
        "Apellidos",
        "Nombre",
        "Cabina",
        "Correo electrónico",
        "Teléfono",
        "Necesidades especiales",
      ],
      ["SHEETA", "Núñez", "Inés", "Turista", "ines@example.com", "+34 612 345 678", "silla de ruedas"],
      ["SHEETA", "Núñez", "Luz", "Turista", "", "", ""],
      ["SHEETB", "O'Neil", "Ada", "Y", "ada@example.com", "", ""],
      [known?.pnr ?? "", known?.lastName ?? "", known?.firstName ?? "", "Y", "", "", ""],
    ];
    const book = workbookOf(rows);
    const key = { "Idempotency-Key": "the sheet of tonight" };
    const { body } = await send(tonight, book, {}, key);
    t.match(body, {
      format: "xlsx",
      rows: 4,
      passengersAdded: 3,
      passengersKnown: 1,
      groupsAdded: 2,
      errors: [],
    });
    t.equal(body.subCaseCount, before.subCaseCount + 2);
    t.strictSame((await send(tonight, book, {}, key)).body, body, "sent again it is the same");
    t.match((await send(tonight, book)).body, { passengersAdded: 0, passengersKnown: 4, groupsAdded: 0 });
    const housed = async () => {
      // This policy wants each demand approved that is asked for later.
      const pending = await night.call<Page<PendingApproval>>("listPendingApprovals", { token: supervisor });
      for (const { urn, caseUrn } of pending.body.items)
        if (caseUrn === tonight)
          await night.call("approveDemand", {
            token: supervisor,
            params: { demandUrn: urn },
            body: { reason: "They are here" },
          });
      const { passengerGroups } = await detail(tonight);
      return passengerGroups.filter(({ passengers }) => /^SHEET/.test(passengers[0]?.pnr ?? ""));
    };
    const groups = await night.eventually("the new groups have their offers", housed, (found) =>
      found.every(({ operationalStatus }, i) => i < 2 && operationalStatus === "OFFER_READY"),
    );
    t.equal(groups.length, 2);
    t.match(groups.find(({ passengers }) => passengers.length === 2)?.passengers, [
      {
        pnr: "SHEETA",
        lastName: "Núñez",
        firstName: "Inés",
        cabinClass: "ECONOMY",
        specialRequirements: ["WHEELCHAIR"],
      },
      { firstName: "Luz" },
    ]);
    const params = { caseUrn: tonight };
    const { items } = (
      await night.call<Page<AuditEntryView>>("getCaseAudit", {
        token: supervisor,
        params,
        query: { limit: 200 },
      })
    ).body;
    const entries = items.filter(({ action }) => action === "case.add-passengers");
    t.equal(entries.length, 2, "what was answered from memory is one");
    const file = {
      sha256: createHash("sha256").update(book).digest("hex"),
      format: "xlsx",
      bytes: book.length,
      rows: 4,
    };
    t.match(entries.at(-1)?.after, { file: { ...file, rowsRefused: 0 } });
    t.notMatch(JSON.stringify(entries), /Núñez|ines@|345 678|612345678/, "and nobody's details");
  });

  t.test("with a wrong row nobody comes, or all others do", async (t) => {
    const caseUrn = await push("sheeted", 2);
    await night.events.untilCount("subcase.offer-ready", 2, { caseUrn });
    const text = "PNR;Nachname;Kabine;E-Mail\nSHEETC;Müller;Economy;x@example.com\nSHEETD;Meier;Dach;y@\n";
    const form = fileForm(text);
    const call = { token: supervisor, params: { caseUrn }, ...form };
    t.match(await night.refused("addPassengers", call), {
      status: 422,
      errors: [
        { row: 3, column: "Kabine", pointer: "/file/3/cabinClass" },
        { row: 3, column: "E-Mail", pointer: "/file/3/email", detail: "is no e-mail address" },
      ],
    });
    t.equal((await detail(caseUrn)).subCaseCount, 2);
    const { body } = await send(caseUrn, text, { mode: "report" });
    t.match(body, { rows: 2, rowsRefused: 1, passengersAdded: 1, groupsAdded: 1, errorCount: 2 });
    t.equal((await detail(caseUrn)).subCaseCount, 3);
    const elsewhere = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "OPO");
    t.match(
      await night.refused("addPassengers", {
        ...call,
        ...fileForm(text, "a.csv", { mode: "report" }),
        token: elsewhere,
      }),
      {
        status: 403,
        type: /auth\/foreign-airport$/,
      },
    );
    await night.call("closeCase", { token: supervisor, params: { caseUrn }, body: { reason: "Done" } });
    t.match(
      await night.refused("addPassengers", { ...call, ...fileForm(text, "a.csv", { mode: "report" }) }),
      {
        status: 409,
        state: "CLOSED",
      },
    );
  });

  t.test("as many as a file may have", async (t) => {
    const count = isFullSize ? 5000 : 1000;
    const caseUrn = await push("crowded", 1);
    const rows = Array.from(
      { length: count },
      (_, i) => `S${String(i >> 1).padStart(5, "0")},Hopper,${"AB"[i % 2]},Y,g${i}@example.com`,
    );
    const begun = performance.now();
    const { body } = await send(caseUrn, ["PNR,Surname,First name,Class,E-mail", ...rows].join("\r\n"));
    t.comment(`${count} rows: ${Math.round(performance.now() - begun)} ms`);
    t.match(body, { rows: count, passengersAdded: count, groupsAdded: count / 2 });
  });
};
