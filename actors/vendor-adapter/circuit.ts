/** Owns the circuit breaker before a vendor: one that keeps failing is not asked for a while, and everybody is told so at once. */
import CircuitBreaker from "opossum";
import type { Logger } from "pino";
import type { CallContext, Unavailable } from "./ports.ts";

/** Contract, "Errors": a caller who meets an open circuit comes again after 30 s. */
export const circuitOpenMs = 30_000;

export interface CircuitSettings {
  /** How long a vendor is let alone before one call tries it. */
  openMs: number;
  /** So many calls must have been made within `windowMs` before their failures say anything. */
  callsMin: number;
  windowMs: number;
}

const defaults: CircuitSettings = { openMs: circuitOpenMs, callsMin: 20, windowMs: 10_000 };
/** In per cent, of the calls within the window. */
const failuresMax = 50;

type Outcome = { outcome: string };
type Method = (request: unknown, context: CallContext) => Promise<Outcome>;

/** Carries an outcome that counts as the vendor's failure through the breaker, which knows errors only. */
class VendorFailed extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(outcome.outcome);
    this.outcome = outcome;
  }
}

/** Not done, surely, or not known whether: what an outage looks like from here. A vendor's no is an answer. */
const isFailure = ({ outcome }: Outcome): boolean => outcome === "unavailable" || outcome === "in-doubt";

/**
 * The same port behind two circuits: its search, and all else. A vendor whose search hangs may still take cancellations. While a
 * circuit is open each call ends at once as `unavailable`; after that one call tries the vendor, and its end decides.
 *
 * Counted per process: what one process has learnt from twenty calls another learns from its own.
 */
export const behindCircuit = <Port extends object>(
  vendor: string,
  port: Port,
  log: Pick<Logger, "warn" | "info">,
  settings: CircuitSettings = defaults,
): { port: Port; circuits: Record<"search" | "desk", Circuit>; shutdown(): void } => {
  const circuits = {
    search: circuitOf(vendor, "search", log, settings),
    desk: circuitOf(vendor, "desk", log, settings),
  };
  const guarded = new Map<PropertyKey, Method>();
  const guardedOf = (name: PropertyKey, method: Method): Method => {
    const known = guarded.get(name);
    if (known !== undefined) return known;
    const circuit = circuits[name === "search" ? "search" : "desk"];
    const made: Method = (request, context) =>
      through(circuit, () => method.call(port, request, context), vendor, settings);
    guarded.set(name, made);
    return made;
  };
  return {
    port: new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? guardedOf(name, value as Method) : value;
      },
    }),
    circuits,
    shutdown: () => {
      for (const circuit of Object.values(circuits)) circuit.shutdown();
    },
  };
};

type Circuit = CircuitBreaker<[() => Promise<Outcome>], Outcome>;

const circuitOf = (
  vendor: string,
  part: string,
  log: Pick<Logger, "warn" | "info">,
  { openMs, callsMin, windowMs }: CircuitSettings,
): Circuit => {
  const circuit: Circuit = new CircuitBreaker(asked, {
    name: `${vendor}.${part}`,
    // How long a call may take is the adapter's and the caller's business; how many run at once the consumer's.
    timeout: false,
    resetTimeout: openMs,
    volumeThreshold: callsMin,
    rollingCountTimeout: windowMs,
    errorThresholdPercentage: failuresMax,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    errorFilter: (error) => !(error instanceof VendorFailed),
  });
  circuit.on("open", () => log.warn({ vendor, part, openMs }, "a vendor keeps failing: its circuit is open"));
  circuit.on("close", () => log.info({ vendor, part }, "a vendor answers again: its circuit is closed"));
  return circuit;
};

const asked = async (ask: () => Promise<Outcome>): Promise<Outcome> => {
  const outcome = await ask();
  if (isFailure(outcome)) throw new VendorFailed(outcome);
  return outcome;
};

const through = async (
  circuit: Circuit,
  ask: () => Promise<Outcome>,
  vendor: string,
  { openMs }: CircuitSettings,
): Promise<Outcome> => {
  try {
    return await circuit.fire(ask);
  } catch (error) {
    if (error instanceof VendorFailed) return error.outcome;
    const { code } = error as { code?: string };
    if (code !== "EOPENBREAKER" && code !== "ESHUTDOWN") throw error;
    const open: Unavailable = {
      outcome: "unavailable",
      detail: `${vendor} keeps failing and is not asked for ${Math.ceil(openMs / 1000)} s.`,
      retryAfterMs: openMs,
    };
    return open;
  }
};
