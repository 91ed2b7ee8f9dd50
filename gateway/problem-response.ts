/** Owns how a problem is told over HTTP: body (RFC 7807), status and headers. Which problems there are is the catalogue's. */
import { type Problem, type ProblemCode, problems } from "../schemas/problems.ts";
import type { HttpAnswer } from "./http/exchange.ts";

/**
 * The answer to a refused request.
 * @param instance the request's correlation URN
 */
export type TellProblem = (problem: Problem, instance: string) => HttpAnswer;

/** @param errorsBase base of the problem type identifiers, with or without a slash at its end */
export const createProblemTeller = (errorsBase: string): TellProblem => {
  const base = errorsBase.replace(/\/$/, "");
  const codes = Object.keys(problems) as ProblemCode[];
  const types = Object.fromEntries(codes.map((code) => [code, `${base}/${code}`])) as Record<
    ProblemCode,
    string
  >;
  return (problem, instance) => {
    const { status, title } = problems[problem.code];
    const { retryAfterSeconds, allow, scope, accept, acceptEncoding, ...members } = problem.members;
    const headers: [string, string][] = [
      ["Content-Type", "application/problem+json"],
      ["Cache-Control", "no-store"],
      ["X-Content-Type-Options", "nosniff"],
    ];
    const challenge = challengeOf(problem.code, scope);
    if (challenge !== undefined) headers.push(["WWW-Authenticate", challenge]);
    if (allow !== undefined) headers.push(["Allow", allow.join(", ")]);
    // RFC 9110 §15.5.16.
    if (accept !== undefined) headers.push(["Accept", accept]);
    if (acceptEncoding !== undefined) headers.push(["Accept-Encoding", acceptEncoding]);
    // Contract, "Errors": 503 always says when to come back.
    const retryAfter = retryAfterSeconds ?? (status === 503 ? 30 : undefined);
    if (retryAfter !== undefined) headers.push(["Retry-After", String(retryAfter)]);
    const body = { type: types[problem.code], title, status, detail: problem.message, instance, ...members };
    return { status, headers, body: JSON.stringify(body) };
  };
};

/** RFC 6750 §3, with the contract's three error values. */
const challengeOf = (code: ProblemCode, scope: string | undefined): string | undefined => {
  if (code === "auth/insufficient-role" || code === "auth/insufficient-scope")
    return `Bearer error="insufficient_scope"${scope === undefined ? "" : `, scope="${scope}"`}`;
  if (problems[code].status !== 401) return undefined;
  return `Bearer error="${code === "auth/expired-token" ? "expired_token" : "invalid_token"}"`;
};
