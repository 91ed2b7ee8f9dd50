// One cell of the matrix: making its call and holding the answer against what was expected, with nobody's answer holding
// another airline's URN.
import { isTagged, type Route, successesOf } from "../../../gateway/route.ts";
import type { ProblemCode } from "../../../schemas/problems.ts";
import type { Call, Told, ToldProblem } from "../../harness/clients.ts";
import { exceptions } from "./exceptions.ts";
import type { Expected } from "./principals.ts";
import type { World } from "./world.ts";

export interface Cell {
  route: Route;
  column: string;
  call: Call;
  expects: Expected | "success";
  /** Whose data may be in the answer; undefined: nobody's. */
  airline: "XN" | "QZ" | undefined;
  /** URNs of that airline which must not be in the answer all the same. */
  never?: readonly string[];
}

/** A version that nothing has reached: the write is refused behind every check, and nothing changes. */
const staleTag = '"999999"';
export const isVersioned = (route: Route): boolean =>
  route.rate === "write" && (route.problems as readonly ProblemCode[]).includes("conflict/version");

/** The same call without an effect, where the route knows versions; elsewhere it may be made any number of times. */
export const harmless = (route: Route, call: Call): Call =>
  isVersioned(route) ? { ...call, headers: { ...call.headers, "If-Match": staleTag } } : call;

export interface Cells {
  /** Empty when all is as it should be. */
  judge(cells: readonly Cell[]): Promise<string[]>;
  /** Lines of the exceptions' table that no cell has met. */
  unused(): string[];
  readonly count: number;
}

const airlineUrns = /urn:(?:[a-z0-9-]+:)?[a-z-]+:(XN|QZ)(?![A-Za-z0-9])[\w-]*/g;

/** What stands in the answer, was not in the request, and is not the caller's to see. */
const leaksOf = ({ call, airline, never = [] }: Cell, told: Told<unknown>): string[] => {
  const sent = JSON.stringify([call.params, call.query, call.body, call.headers]);
  const text = JSON.stringify([told.body, told.headers]);
  const foreign = [...text.matchAll(airlineUrns)].filter(([, code]) => code !== airline).map(([urn]) => urn);
  return [...foreign, ...never.filter((urn) => text.includes(urn))].filter((urn) => !sent.includes(urn));
};

const outcomeOf = (route: Route, told: Told<unknown>): string => {
  if (told.status < 400) return successesOf(route).includes(told.status) ? "success" : String(told.status);
  return new URL((told.body as ToldProblem).type).pathname.split("/").slice(-2).join("/");
};

/** Every read has its tag, and what shows a version is tagged with it. */
const tagFaults = (route: Route, { headers: { etag }, body }: Told<unknown>): string[] => {
  const { version } = (body ?? {}) as { version?: unknown };
  const shows = Number.isInteger(version);
  if (etag === undefined) return isTagged(route) || shows ? ["no ETag"] : [];
  const form = new RegExp(shows ? `^"${version}(-[\\w-]+)?"$` : '^"[\\w-]+"$');
  return form.test(etag) ? [] : [`its ETag is ${etag}, its version ${version}`];
};

const challengeOf = (code: string): RegExp | undefined => {
  if (/insufficient/.test(code)) return /error="insufficient_scope"/;
  if (code === "auth/expired-token") return /error="expired_token"/;
  return /^auth\/(missing-token|invalid-token|bad-signature)$/.test(code)
    ? /error="invalid_token"/
    : undefined;
};

export const createCells = ({ clients }: World): Cells => {
  const met = new Set<(typeof exceptions)[number]>();
  let count = 0;

  const expectedOf = ({ route, column, expects }: Cell): string => {
    const exception = exceptions.find((line) => line.route === route.id && line.column === column);
    if (exception !== undefined) met.add(exception);
    const expected = exception?.expects ?? expects;
    if (expected !== "passes") return expected;
    return isVersioned(route) ? "conflict/version" : "success";
  };

  const judgeOne = async (cell: Cell): Promise<string[]> => {
    const { route, column, call } = cell;
    count += 1;
    const name = `${route.id}, ${column}`;
    const told = await clients.call<unknown>(route.id, call).catch((error: Error) => error);
    if (told instanceof Error) return [`${name}: ${told.message}`];
    const [outcome, expected] = [outcomeOf(route, told), expectedOf(cell)];
    const wrong = leaksOf(cell, told).map((urn) => `${name}: tells of ${urn}`);
    if (outcome !== expected)
      wrong.push(`${name}: ${outcome} in place of ${expected}: ${JSON.stringify(told.body)}`);
    const challenge = told.headers["www-authenticate"] ?? "";
    const wanted = challengeOf(outcome);
    if (wanted === undefined ? challenge !== "" : !wanted.test(challenge))
      wrong.push(`${name}: WWW-Authenticate is ${challenge || "missing"}`);
    if (outcome === "conflict/version" && !Number.isInteger((told.body as ToldProblem).version))
      wrong.push(`${name}: the version that stands is not told`);
    if (outcome === "success") wrong.push(...tagFaults(route, told).map((text) => `${name}: ${text}`));
    for (const header of ["traceparent", "x-ratelimit-remaining"])
      if (told.headers[header] === undefined) wrong.push(`${name}: no ${header}`);
    return wrong.map((text) => text.slice(0, 400));
  };

  return {
    judge: async (cells) => (await Promise.all(cells.map(judgeOne))).flat(),
    unused: () =>
      exceptions.filter((line) => !met.has(line)).map(({ route, column }) => `${route}, ${column}`),
    get count() {
      return count;
    },
  };
};
