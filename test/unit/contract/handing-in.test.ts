// A document as it is handed in: what it is by its first bytes, whatever it is called, and what the contract actor gets of it.
import t from "tap";
import { createAnalyzeContract } from "../../../gateway/handlers/analyze-contract.ts";
import type { Command } from "../../../schemas/command.ts";
import type { AnalyzeDocument } from "../../../schemas/contract-analysis.ts";
import type { Problem } from "../../../schemas/problems.ts";
import { supervisor } from "../../harness/given.ts";

const staged: string[] = [];
const sent: Command[] = [];
const handle = createAnalyzeContract(
  {
    command: async (_name, command) => {
      sent.push(command);
      return { ok: {} };
    },
    query: () => Promise.reject(new Error("nothing is asked")),
  },
  async (_command, text) => {
    staged.push(text);
    return { stagedId: "S", pieces: 1 };
  },
);
const handedIn = async (name: string, bytes: Buffer): Promise<AnalyzeDocument> => {
  staged.length = 0;
  sent.length = 0;
  const route = { id: "analyzeContract", success: 202, headers: [] };
  const file = { name, bytes, sha256: "ab" };
  const trace = { correlationUrn: "urn:correlation:XN-1", traceparent: "" };
  const principal = supervisor;
  const now = new Date("2026-11-22T10:00:00Z");
  await handle({ route, file, trace, principal, now, body: {}, params: {}, query: {} } as never);
  return sent[0]?.data as unknown as AnalyzeDocument;
};

const pdf = Buffer.from("%PDF-1.7\n");
const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);
const tiff = Buffer.from("II*\0", "latin1");

t.test("what it is", async (t) => {
  const taken: [name: string, bytes: Buffer, mediaType: string][] = [
    ["contract.pdf", pdf, "application/pdf"],
    ["contract", pdf, "application/pdf"],
    ["Hotel & Co. v1/CONTRACT.PDF", pdf, "application/pdf"],
    ["after a printer's preamble.pdf", Buffer.concat([Buffer.alloc(1000, " "), pdf]), "application/pdf"],
    ["scan.png", png, "image/png"],
    ["scan.jpg", jpeg, "image/jpeg"],
    ["scan.JPEG", jpeg, "image/jpeg"],
    ["scan.tif", tiff, "image/tiff"],
    ["scan.tiff", Buffer.from("MM\0*", "latin1"), "image/tiff"],
  ];
  for (const [name, bytes, mediaType] of taken) {
    const { file, document } = await handedIn(name, bytes);
    t.match(file, { mediaType, bytes: bytes.length, sha256: "ab" }, name);
    t.strictSame(document, { stagedId: "S", pieces: 1 });
    t.strictSame(Buffer.from(JSON.parse(staged[0] ?? ""), "base64"), bytes);
  }
  const refused: [name: string, bytes: Buffer][] = [
    ["contract.docx", pdf],
    ["contract.pdf.exe", pdf],
    ["contract.päf", pdf],
    ["contract.", pdf],
    ["contract.pdf", png],
    ["contract.png", jpeg],
    ["contract.pdf", Buffer.from("PK\u0003\u0004")],
    ["contract.pdf", Buffer.alloc(0)],
    ["too late.pdf", Buffer.concat([Buffer.alloc(1024, " "), pdf])],
  ];
  for (const [name, bytes] of refused) {
    // The form is what was sent, and of the right type: no other is asked for.
    const problem: unknown = await handedIn(name, bytes).catch((error) => error);
    t.match(problem, { code: "validation/media-type" }, name);
    t.strictSame((problem as Problem).members, {});
    t.strictSame(staged, [], "nothing of it is kept");
  }
});

t.test("what it is called", async (t) => {
  for (const [name, shown] of [
    ["C:\\contracts\\2026\\Garden Court.pdf", "Garden Court.pdf"],
    ["../../etc/cont\u0000ract\u202e.pdf", "contract.pdf"],
    ["", "document"],
    ["folder/", "document"],
    [`${"a".repeat(119)}🏨🏨`, `${"a".repeat(119)}🏨`],
  ] as const)
    t.equal((await handedIn(name, pdf)).file.name, shown);
});
