/** Owns the way of a request: the checks in their order, one screen. Each refuses by throwing a Problem; only `respond` writes. */
import type { Logger } from "pino";
import type { Trace } from "../schemas/command.ts";
import { Problem } from "../schemas/problems.ts";
import type { ClosedCases } from "../streams/closed-cases.ts";
import type { TenantDirectory } from "../streams/tenant-directory.ts";
import { airlineOfHost, authenticate, authorize, type Verifiers } from "./checks/authenticate.ts";
import { requireOpenCase } from "./checks/case-standing.ts";
import { readConditions } from "./checks/conditions.ts";
import { readJson } from "./checks/read-json.ts";
import type { CompiledRoute } from "./compile-route.ts";
import type { CheckedRequest } from "./dispatch.ts";
import type { Handler } from "./handlers/handlers.ts";
import { type Exchange, type HttpAnswer, RequestAborted } from "./http/exchange.ts";
import type { TellProblem } from "./problem-response.ts";
import type { Router } from "./router.ts";
import { beginTrace } from "./trace.ts";

export interface PipelineParts {
  router: Router<CompiledRoute>;
  tenants: TenantDirectory;
  closedCases: ClosedCases;
  verifiers: Verifiers;
  handle: Handler;
  tellProblem: TellProblem;
  now: () => Date;
  log: Logger;
}

/** Answers every exchange exactly once, whatever happens; never rejects. */
export const createPipeline = (parts: PipelineParts) => {
  const { router, tenants, closedCases, verifiers, handle } = parts;

  const answerTo = async (exchange: Exchange, trace: Trace, now: Date): Promise<HttpAnswer> => {
    if (exchange.method === "OPTIONS") return optionsOf(router.allowed(exchange.path));
    const { row: route, values } = router.match(exchange.method, exchange.path);
    // In the request's own tick, or its first bytes are lost; what a check refuses is dropped with the exchange.
    if (route.bodyBytesMax > 0) exchange.collectBody(route.bodyBytesMax);
    const airline = airlineOfHost(route, exchange, tenants);
    const principal = await authenticate(route, exchange, airline, verifiers, tenants);
    requireOpenCase(principal, closedCases);
    authorize(route, principal);
    const conditions = readConditions(route, exchange);
    // Here: the replay of an idempotency key, then the rate.
    const json = route.bodyBytesMax > 0 ? await readJson(exchange) : { value: undefined, bytes: 0 };
    const input = matchInput(route, values, exchange.query, json.value, json.bytes);
    checkUrns(route, input, principal.tenant);
    const address = (): string => exchange.address();
    return handle({ route, trace, now, principal, address, bodyBytes: json.bytes, ...conditions, ...input });
  };

  return async (exchange: Exchange): Promise<void> => {
    const now = parts.now();
    const trace = beginTrace(exchange.headers.traceparent, now);
    let answer: HttpAnswer;
    try {
      answer = await answerTo(exchange, trace, now);
    } catch (error) {
      if (error instanceof RequestAborted) return;
      answer = parts.tellProblem(asProblem(error, exchange, trace, parts.log), trace.correlationUrn);
    }
    exchange.respond({ ...answer, headers: [...answer.headers, ["traceparent", trace.traceparent]] });
  };
};

type Input = Pick<CheckedRequest, "params" | "query" | "body">;

/** @throws Problem not-found/resource, validation/query, validation/body */
const matchInput = (
  route: CompiledRoute,
  values: readonly string[],
  query: string,
  body: unknown,
  bytes: number,
): Input => {
  const params: Record<string, unknown> = {};
  for (const [i, name] of route.paramNames.entries()) params[name] = values[i];
  // What cannot be the name of such a resource names none.
  if (route.matchParams?.(params) === false)
    throw new Problem("not-found/resource", `The path names no ${route.paramNames.join(", ")} of ours.`);
  return {
    params,
    query: route.matchQuery?.(query) ?? {},
    body: route.matchBody?.(body, bytes) ?? {},
  };
};

/** @throws Problem auth/foreign-tenant */
const checkUrns = (route: CompiledRoute, input: Input, tenant: string): void => {
  route.checkParamUrns?.(input.params, tenant);
  route.checkQueryUrns?.(input.query, tenant);
  route.checkBodyUrns?.(input.body, tenant);
};

const optionsOf = (allowed: readonly string[]): HttpAnswer => ({
  status: 204,
  headers: [["Allow", allowed.join(", ")]],
  body: undefined,
});

/** A refusal as it is; anything else is a bug or an outage of ours, logged here and told without its details. */
const asProblem = (error: unknown, exchange: Exchange, trace: Trace, log: Logger): Problem => {
  const facts = { correlationUrn: trace.correlationUrn, method: exchange.method, path: exchange.path };
  if (error instanceof Problem) {
    if (error.status >= 500) log.warn({ ...facts, code: error.code, ...error.members }, error.message);
    return error;
  }
  log.error({ ...facts, err: error }, "request failed unexpectedly");
  return new Problem("internal/unexpected", "Quote the `instance` of this problem when you report it.");
};
