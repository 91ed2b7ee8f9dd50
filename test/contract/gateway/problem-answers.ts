/** Owns what the suites of the gateway's routes share: a token of each surface, and what every problem answer must look like. */
import type { Test } from "tap";
import { problemsOf, type Route } from "../../../gateway/route.ts";
import { type ProblemCode, problems } from "../../../schemas/problems.ts";
import { scopes } from "../../../schemas/vocabulary.ts";
import { type Answered, operatorToken, partnerToken, passengerToken, type TestGateway } from "./fixture.ts";

/** An administrator's, a passenger's, and a partner's with every scope. */
export const surfaceTokens = async (gateway: TestGateway) => ({
  operator: await operatorToken(gateway),
  passenger: await passengerToken(gateway),
  partner: await partnerToken(gateway, scopes.join(" ")),
});

/** Asserts that an answer is this problem, and that the route, where one is given, declares it. */
export const problemCheck =
  ({ config }: Pick<TestGateway, "config">) =>
  (t: Test, answer: Answered, code: ProblemCode, route?: Route): void => {
    t.equal(answer.status, problems[code].status, code);
    t.match(answer.headers["content-type"], "application/problem+json");
    t.equal(answer.json.type, `${config.ERRORS_BASE}/${code}`);
    t.match(answer.json.instance, /^urn:correlation:[0-9A-Z]{26}$/);
    t.equal(answer.json.status, answer.status);
    t.match(answer.headers.traceparent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/);
    if (answer.status === 401)
      t.match(answer.headers["www-authenticate"], /^Bearer error="(invalid|expired)_token"$/);
    if (route !== undefined) t.ok(problemsOf(route).includes(code), `${route.id} declares ${code}`);
  };
