/** Owns the solver's process: one job at a time, the heuristic first and the exact solver within its time. */
import highsLoader, { type Highs } from "highs";
import { allocateStays, type StaysInput } from "../allocation/stays.ts";
import { proveWith } from "./exact.ts";

/** What the process is asked. */
export interface SolverJob {
  input: StaysInput;
  proofMs: number;
}

// The package's types are written for CommonJS: what they call `default.default` is the module's default.
const loadHighs = highsLoader as unknown as () => Promise<Highs>;
const loading = loadHighs();

process.on("message", async ({ input, proofMs }: SolverJob) => {
  const prove = proveWith(await loading, proofMs, () => performance.now());
  process.send?.(allocateStays(input, prove));
});
// Whoever asked has died: there is nobody left to answer.
process.once("disconnect", () => process.exit(0));
// The signals that stop the service reach its whole group; it ends this process itself once no wave is under way.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
