// What the environment may tell a run of the tests: a document server of its own, and the seeds and sizes of long runs.

const whole = (name: string, byDefault: number): number => {
  const value = Number(process.env[name] ?? byDefault);
  if (!Number.isSafeInteger(value)) throw new TypeError(`${name} must be a whole number`);
  return value;
};

/** MONGODB_URL; undefined: tests start embedded servers of their own. */
export const mongodbUrl = process.env.MONGODB_URL || undefined;

/** NODE_COMPILE_CACHE, for scripts that are started with nothing else of the environment. */
export const compileCache = process.env.NODE_COMPILE_CACHE || undefined;

/** CRASH_ROUNDS and CRASH_WRITERS make the document server's crash bigger; CRASH_SEED picks when the kills fall. */
export const crash = {
  rounds: whole("CRASH_ROUNDS", 3),
  writers: whole("CRASH_WRITERS", 16),
  seed: whole("CRASH_SEED", 1),
};

/** A failure of a fuzz prints its seed: FUZZ_SEED replays it; FUZZ_RUNS (queries) and FUZZ_REQUESTS (of each route) make it longer. */
export const fuzz = {
  seed: whole("FUZZ_SEED", 20_240_611),
  runs: whole("FUZZ_RUNS", 40),
  requests: whole("FUZZ_REQUESTS", 15),
};

/** Hostile prompts that a model obeys: PROMPTS is how many, PROMPT_SEED replays a run of them. */
export const prompts = { count: whole("PROMPTS", 12), seed: whole("PROMPT_SEED", 1) };

/** FULL_SIZE=1: scenarios at full numbers, with deaths that the suite leaves to the soak. */
export const isFullSize = process.env.FULL_SIZE === "1";

/** How long the soak's outages last, and how many bookings their flights have. */
export const outage = { groups: whole("OUTAGE_GROUPS", 40), awayMs: whole("OUTAGE_AWAY_MS", 30_000) };

/** In which order commands are repeated: REPEAT_SEED replays it. */
export const repetition = { seed: whole("REPEAT_SEED", 1) };
