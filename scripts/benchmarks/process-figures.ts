/** Owns reading what Linux counts of a process: CPU time, memory, system calls. */
import { readFileSync } from "node:fs";

/** The kernel's USER_HZ, the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

const proc = (pid: number, file: string): string => readFileSync(`/proc/${pid}/${file}`, "utf8");

const kilobytes = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);

/** User and system time of the process since its start, all threads. */
export const cpuSeconds = (pid: number): number => {
  // The command's name stands in brackets and may hold blanks.
  const fields = proc(pid, "stat").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
};

/** The process and those that it started, which is how the sandbox runs its vendors. */
export const cpuSecondsWithChildren = (pid: number): number => {
  const children = proc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return [pid, ...children].reduce((sum, one) => sum + cpuSeconds(one), 0);
};

export interface MemoryFigures {
  rssBytes: number;
  /** Resident set without the pages of files (binaries, shared libraries). */
  anonymousBytes: number;
}

export const memoryOf = (pid: number): MemoryFigures => {
  const status = proc(pid, "status");
  return {
    rssBytes: kilobytes(status, "VmRSS") * 1024,
    anonymousBytes: kilobytes(status, "RssAnon") * 1024,
  };
};

/** System calls that write, sockets included. */
export const writeCalls = (pid: number): number => Number(/^syscw: (\d+)/m.exec(proc(pid, "io"))?.[1] ?? 0);

/** Processes that wanted to run, averaged over the last minute: benchmarks tell it beside their figures. */
export const loadAverage = (): number => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
