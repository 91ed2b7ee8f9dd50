/** Owns what the service says of itself: its keys, its descriptions, whether it lives and whether it is ready. */
import { Problem } from "../../schemas/problems.ts";
import type { KeyRing } from "../auth/key-ring.ts";
import type { CheckedRequest } from "../dispatch.ts";
import type { HttpAnswer } from "../http/exchange.ts";
import type { DocumentedSurface } from "../route.ts";
import type { KeySetFile } from "../routes/platform.ts";
import { answer, type Handler } from "./handlers.ts";

/** What stands behind the gateway, by name, and whether it can be used. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, unknown>;
}

/** Of one surface where the path names its file, else of both: as they are at this moment. */
export const createShowKeySet =
  ({ partner, passenger }: Record<"partner" | "passenger", Pick<KeyRing, "published">>): Handler =>
  async (request) => {
    const { file } = request.params as { file?: KeySetFile };
    const keys = [
      ...(file === "passenger.json" ? [] : partner.published()),
      ...(file === "partner.json" ? [] : passenger.published()),
    ];
    return answer(request, { ok: { keys } });
  };

/** @param describe makes a surface's description, ready to send: asked once, when somebody wants it first */
export const createShowDescription = (
  surfaces: readonly DocumentedSurface[],
  describe: (surface: DocumentedSurface) => Buffer,
): Handler => {
  const made = new Map<DocumentedSurface, Buffer>();
  return async (request) => {
    const surface = surfaces.find((name) => name === String(request.params.surface));
    if (surface === undefined)
      throw new Problem("not-found/resource", `There is a description of ${surfaces.join(", ")}.`);
    const body = made.get(surface) ?? describe(surface);
    made.set(surface, body);
    return fixed(request, body);
  };
};

export const reportLiveness: Handler = async (request) => answer(request, { ok: { status: "live" } });

/** 503 keeps a load balancer away without telling it that the process is broken. */
export const createReportReadiness =
  (readiness: () => Readiness): Handler =>
  async (request) => {
    const state = readiness();
    const failing = Object.keys(state.checks).filter((name) => state.checks[name] === false);
    if (state.ready) return answer(request, { ok: state });
    const told = answer(request, { ok: { ...state, failedDomain: failing.join(", ") } });
    return { ...told, status: 503, headers: [...told.headers, ["Retry-After", "30"]] };
  };

const fixed = ({ route }: CheckedRequest, body: Buffer): HttpAnswer => ({
  status: route.success,
  headers: route.headers,
  body,
});
