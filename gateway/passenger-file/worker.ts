// Reads one file in a thread of its own: what a hostile one costs in time and memory is the thread's, and ends with it.
import { parentPort, workerData } from "node:worker_threads";
import { Problem } from "../../schemas/problems.ts";
import { readPassengerFile } from "./read.ts";
import type { FileRead, FileToRead } from "./reader.ts";

const { bytes, name, ...terms } = workerData as FileToRead;

const read = async (): Promise<FileRead> => {
  try {
    return {
      file: await readPassengerFile(
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
        name,
        terms,
      ),
    };
  } catch (error) {
    if (error instanceof Problem) return { refused: error.record() };
    throw error;
  }
};

parentPort?.postMessage(await read());
