/** Owns the process in which one document is read: whatever is in it, only this process can suffer by it. */
import { Worker } from "node:worker_threads";
import {
  type DocumentRefusal,
  type Extraction,
  scanMegapixelsMax,
} from "../../../schemas/contract-analysis.ts";
import { extract } from "./extract.ts";
import type { Picture } from "./page-pictures.ts";
import type { PageText } from "./page-text.ts";
import { DocumentRefused } from "./refused.ts";

/** What the process is asked: to open a file, or to recognise what another one has found in it. */
export type DocumentJob =
  | { kind: "pdf"; bytes: Uint8Array }
  | { kind: "picture"; bytes: Uint8Array }
  | { kind: "recognise"; pages: PageText[]; pictures: Picture[] };

export type DocumentAnswer =
  | { kind: "progress"; pages: number; pagesRead: number }
  | { kind: "pictures"; pages: PageText[]; pictures: Picture[] }
  | { kind: "extraction"; extraction: Extraction; pages: number }
  | { kind: "refused"; reason: DocumentRefusal; detail: string };

const answer = (message: DocumentAnswer): void => void process.send?.(message);

const read = async (job: DocumentJob): Promise<void> => {
  switch (job.kind) {
    case "pdf": {
      const { readPdf } = await import("./pdf.ts");
      const { pages, pictures } = await readPdf(job.bytes);
      return pictures.length > 0 ? answer({ kind: "pictures", pages, pictures }) : conclude(pages);
    }
    case "picture": {
      const { picturesOfFile } = await import("./picture-file.ts");
      return answer({ kind: "pictures", pages: [], pictures: await picturesOfFile(job.bytes) });
    }
    case "recognise":
      return recognise(job.pages, job.pictures);
    default:
      return job satisfies never;
  }
};

const recognise = async (pages: PageText[], pictures: readonly Picture[]): Promise<void> => {
  const { createRecognition, recognisedPages } = await import("./recognition.ts");
  const pagesOf = (some: readonly Picture[]): number =>
    pages.length + new Set(some.map(({ page }) => page)).size;
  let done = 0;
  const recognised = recognisedPages(pictures, await createRecognition(), () => {
    done += 1;
    answer({ kind: "progress", pages: pagesOf(pictures), pagesRead: pagesOf(pictures.slice(0, done)) });
  });
  conclude([...pages, ...recognised].sort((a, b) => a.page - b.page));
};

const conclude = (pages: PageText[]): void => {
  const words = pages.reduce((sum, page) => sum + page.words.length, 0);
  if (words === 0)
    throw new DocumentRefused(
      "NO_TEXT",
      `There is no text in the document that could be read; of scans in a PDF those of up to ${scanMegapixelsMax} million dots are.`,
    );
  answer({ kind: "extraction", extraction: extract(pages), pages: pages.length });
};

process.once("message", async (job: DocumentJob) => {
  try {
    await read(job);
  } catch (error) {
    if (!(error instanceof DocumentRefused)) throw error;
    answer({ kind: "refused", reason: error.reason, detail: error.message });
  }
});
// Once whoever asked has died nobody bounds this process any more, and a parser keeps its thread for as long as it likes:
// another thread looks.
const [, , asker] = process.argv;
new Worker(`setInterval(() => process.ppid === ${asker} || process.kill(process.pid, "SIGKILL"), 250)`, {
  eval: true,
});
// The signals that stop the service reach its whole group; it ends this process itself.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
