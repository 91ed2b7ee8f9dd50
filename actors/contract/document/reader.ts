/**
 * Owns having documents read: each in a process of its own with a bound on its time and memory, told how far it is.
 * What is in a document is `main.ts`'s.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type {
  DocumentMediaType,
  ReadingOutcome,
  ReadingProgress,
} from "../../../schemas/contract-analysis.ts";
import type { DocumentAnswer, DocumentJob } from "./main.ts";
import { DocumentRefused } from "./refused.ts";

export interface ReadingLimits {
  /** For opening a file, and for the start of the recognition. */
  documentMs: number;
  /** For each picture. */
  pictureMs: number;
  /** Of the process' own, beyond what processes share. */
  documentBytes: number;
  /** The same, of one that recognises text: its language data and a page take 150 MB. */
  pictureBytes: number;
}

export const readingLimits: ReadingLimits = {
  documentMs: 10_000,
  // Some two seconds on a machine that has nothing else to do.
  pictureMs: 30_000,
  documentBytes: 150 * 1024 * 1024,
  pictureBytes: 180 * 1024 * 1024,
};

/** How often its memory is looked at: it grows by some hundred megabytes a second at most. */
const watchMs = 50;
const heapMegabytesMax = 120;

export class DocumentReader {
  readonly #limits: ReadingLimits;
  readonly #children = new Set<ChildProcess>();
  /** Who waits for a turn, by airline; the one whose turn is next first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #turns = new Set<Promise<unknown>>();
  #isTaken = false;
  #stopped = false;

  constructor(limits: ReadingLimits = readingLimits) {
    this.#limits = limits;
  }

  /**
   * Documents take turns, as each may need as much as a service has to spare; so do the airlines, that one which hands in many keeps
   * nobody waiting. Nothing of a document is to be fetched before its turn. @throws Error when it is stopped before
   */
  async inTurn<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    const turn = this.#inTurn(tenant, work);
    this.#turns.add(turn);
    try {
      return await turn;
    } finally {
      this.#turns.delete(turn);
    }
  }

  async #inTurn<Result>(tenant: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#isTaken) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.set(tenant, [...(this.#waiting.get(tenant) ?? []), resolve]);
      await promise;
    }
    this.#isTaken = true;
    try {
      if (this.#stopped) throw new Error("no document is read any more");
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #passOn(): void {
    const [next] = this.#waiting;
    this.#isTaken = next !== undefined;
    if (next === undefined) return;
    const [tenant, [go, ...others]] = next;
    this.#waiting.delete(tenant);
    if (others.length > 0) this.#waiting.set(tenant, others);
    go?.();
  }

  /** A refusal is an outcome, too. @throws Error when the process fails on grounds of its own, or is stopped */
  async read(
    bytes: Uint8Array,
    mediaType: DocumentMediaType,
    onProgress: (progress: ReadingProgress) => void,
  ): Promise<ReadingOutcome> {
    try {
      return await this.#read(bytes, mediaType, onProgress);
    } catch (error) {
      if (!(error instanceof DocumentRefused)) throw error;
      return { refusal: { reason: error.reason, detail: error.message } };
    }
  }

  /** What is being read is given up; whoever has it read asks again after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const child of this.#children) child.kill("SIGKILL");
    await Promise.allSettled(this.#turns);
  }

  async #read(
    bytes: Uint8Array,
    mediaType: DocumentMediaType,
    onProgress: (progress: ReadingProgress) => void,
  ): Promise<ReadingOutcome> {
    const first = await this.#run(
      { kind: mediaType === "application/pdf" ? "pdf" : "picture", bytes },
      onProgress,
    );
    // Another process: together the two parsers would need twice the memory.
    const last =
      first.kind === "pictures"
        ? await this.#run({ kind: "recognise", pages: first.pages, pictures: first.pictures }, onProgress)
        : first;
    if (last.kind === "refused") throw new DocumentRefused(last.reason, last.detail);
    if (last.kind !== "extraction") throw new Error(`a document's process has ended with ${last.kind}`);
    return { extraction: last.extraction, pages: last.pages };
  }

  async #run(job: DocumentJob, onProgress: (progress: ReadingProgress) => void): Promise<DocumentAnswer> {
    if (this.#stopped) throw new Error("no document is read any more");
    // Flags and settings of this process are its own, secrets among them.
    const child = fork(new URL("./main.ts", import.meta.url), [String(process.pid)], {
      execArgv: [`--max-old-space-size=${heapMegabytesMax}`, "--expose-gc"],
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    this.#children.add(child);
    const ended = once(child, "exit");
    try {
      return await this.#answerOf(child, job, onProgress);
    } finally {
      child.kill("SIGKILL");
      await ended;
      this.#children.delete(child);
    }
  }

  #answerOf(
    child: ChildProcess,
    job: DocumentJob,
    onProgress: (progress: ReadingProgress) => void,
  ): Promise<DocumentAnswer> {
    const { documentMs, pictureMs, documentBytes, pictureBytes } = this.#limits;
    const [withinMs, bytesMax] =
      job.kind === "recognise" ? [documentMs + pictureMs, pictureBytes] : [documentMs, documentBytes];
    return new Promise((resolve, reject) => {
      const tooSlow = (): void =>
        settle(() =>
          reject(
            new DocumentRefused("TOO_SLOW", "Reading the document takes longer than any contract does."),
          ),
        );
      const tooMuch = (): void =>
        settle(() =>
          reject(
            new DocumentRefused(
              "TOO_MUCH_MEMORY",
              "Reading the document takes more memory than any contract does.",
            ),
          ),
        );
      let late = setTimeout(tooSlow, withinMs);
      const watch = setInterval(async () => {
        if ((await ownBytesOf(child.pid)) > bytesMax) tooMuch();
      }, watchMs);
      let isSettled = false;
      const settle = (answer: () => void): void => {
        clearTimeout(late);
        clearInterval(watch);
        isSettled = true;
        answer();
      };
      child.on("message", (message: DocumentAnswer) => {
        if (isSettled) return;
        if (message.kind !== "progress") return settle(() => resolve(message));
        clearTimeout(late);
        late = setTimeout(tooSlow, pictureMs);
        onProgress({ pages: message.pages, pagesRead: message.pagesRead });
      });
      child.on("error", (error) => settle(() => reject(error)));
      // Out of heap, or of the recognition's memory, a process aborts.
      child.on("exit", (code, signal) => {
        if (signal === "SIGABRT" || code === 134) return tooMuch();
        settle(() => reject(new Error(`a document's process ended with ${code ?? signal}`)));
      });
      child.send(job, (error) => error && settle(() => reject(error)));
    });
  }
}

/** What nobody else has of it; 0 where the system doesn't say, or the process has ended. There its heap alone is bounded. */
const ownBytesOf = async (pid: number | undefined): Promise<number> => {
  try {
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
};
