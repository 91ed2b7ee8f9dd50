/** Owns handing files of passengers to threads: how many at once, how long and with how much memory each. */
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { Problem, type ProblemRecord } from "../../schemas/problems.ts";
import type { PassengerFile } from "./read.ts";
import { refusedFile } from "./table.ts";

export interface FileToRead {
  /** Handed over: they are empty here afterwards. */
  bytes: Uint8Array<ArrayBuffer>;
  name: string;
  today: Date;
  bookingPassengersMax: number;
}

export type FileRead = { file: PassengerFile } | { refused: ProblemRecord };

/** @throws Problem validation/body, validation/media-type, validation/too-large, upstream/unavailable */
export type ReadPassengerFile = (file: FileToRead) => Promise<PassengerFile>;

export interface ReaderLimits {
  timeMs: number;
  heapMib: number;
  /** Files that wait for their turn; each holds its bytes. */
  waitingMax: number;
}

/** The last of those that wait is answered before a keyed write is taken for dead. */
const defaults: ReaderLimits = { timeMs: 8_000, heapMib: 96, waitingMax: 2 };

/** One after the other: two hostile files at once would cost twice the memory, and an honest one takes a moment. */
export const createPassengerFileReader = (limits: Partial<ReaderLimits> = {}): ReadPassengerFile => {
  const { waitingMax, ...each } = { ...defaults, ...limits };
  const inTurn = pLimit(1);
  return async (file) => {
    if (inTurn.activeCount + inTurn.pendingCount > waitingMax)
      throw new Problem("upstream/unavailable", "Too many files are being read. Send it again in a moment.", {
        failedDomain: "spreadsheets",
        retryAfterSeconds: 5,
      });
    const read = await inTurn(() => readInThread(file, each));
    if ("refused" in read) throw Problem.from(read.refused);
    return read.file;
  };
};

const readInThread = async (
  file: FileToRead,
  { timeMs, heapMib }: Omit<ReaderLimits, "waitingMax">,
): Promise<FileRead> => {
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: file,
    transferList: [file.bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: heapMib, maxYoungGenerationSizeMb: 16 },
    // It needs nothing of what this process knows.
    env: {},
  });
  const { promise, resolve, reject } = Promise.withResolvers<FileRead>();
  const late = setTimeout(
    () => reject(refusedFile("validation/too-large", `takes more than ${timeMs / 1000} s to read`)),
    timeMs,
  );
  worker.once("message", resolve);
  worker.once("error", (error: NodeJS.ErrnoException) =>
    reject(
      error.code === "ERR_WORKER_OUT_OF_MEMORY"
        ? refusedFile("validation/too-large", "takes more memory to read than it may have")
        : error,
    ),
  );
  worker.once("exit", (code) =>
    reject(new Error(`the reader of a file ended with ${code} and without a word`)),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    // The next file waits until what this one took is given back.
    await worker.terminate();
  }
};
