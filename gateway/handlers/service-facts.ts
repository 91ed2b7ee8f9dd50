/** Owns what the service says of itself: its keys, its descriptions, whether it lives and whether it is ready. */
import { Problem } from "../../schemas/problems.ts";
import type { CheckedRequest } from "../dispatch.ts";
import type { HttpAnswer } from "../http/exchange.ts";
import { answer, type Handler } from "./handlers.ts";

/** What stands behind the gateway, by name, and whether it can be used. */
export interface Readiness {
  ready: boolean;
  checks: Record<string, unknown>;
}

export const createShowKeySet = (keySet: { keys: unknown[] }): Handler => {
  const body = Buffer.from(JSON.stringify(keySet));
  return async (request) => fixed(request, body);
};

/** @param documents ready to send, by surface */
export const createShowDescription =
  (documents: ReadonlyMap<string, Buffer>): Handler =>
  async (request) => {
    const body = documents.get(String(request.params.surface));
    if (body === undefined)
      throw new Problem(
        "not-found/resource",
        `There is a description of ${[...documents.keys()].join(", ")}.`,
      );
    return fixed(request, body);
  };

export const reportLiveness: Handler = async (request) => answer(request, { ok: { status: "live" } });

/** 503 keeps a load balancer away without telling it that the process is broken. */
export const createReportReadiness =
  (readiness: () => Readiness): Handler =>
  async (request) => {
    const state = readiness();
    return { ...answer(request, { ok: state }), status: state.ready ? 200 : 503 };
  };

const fixed = ({ route }: CheckedRequest, body: Buffer): HttpAnswer => ({
  status: route.success,
  headers: route.headers,
  body,
});
