// A model that does what anybody's text tells it, and worse: calls of tools that there are not, others' cases and airlines for arguments,
// huge ones, calls without an end, proposals of hotels that nobody has found; drawn from a seed.
import { type Asked, calling, failingWith, type ModelAnswer, saying, silent } from "./model-server.ts";

type Random = () => number;
const oneOf = <T>(random: Random, some: readonly T[]): T => some[Math.floor(random() * some.length)] as T;

/** What it has been told in this conversation, all of it: who obeys repeats whatever it was given. */
const toldIn = ({ body }: Asked): string => body.messages.map(({ content }) => content ?? "").join("\n");

const foreign = {
  caseUrn: "urn:case:QZ-01KAMVW9G0ABCDEFGHJKMNPQRS",
  reviewUrn: "urn:review:QZ-01KAMVW9G0ABCDEFGHJKMNPQRS",
  tenant: "QZ",
};

/** Calls that the allow-list has no place for, and calls of what is on it with what it has no place for. */
const wrongCalls = (told: string) => [
  { name: "book_hotel", arguments: { hotel: "h1", ...foreign } },
  { name: "cancel_booking", arguments: { booking: "urn:booking:XN-01KAMVW9G0ABCDEFGHJKMNPQRS" } },
  { name: "send_message", arguments: { to: "ada@mail.example", text: told.slice(0, 500) } },
  { name: "review_rebook", arguments: foreign },
  { name: "approve", arguments: { agentActionUrn: "urn:agent-action:XN-01KAMVW9G0ABCDEFGHJKMNPQRS" } },
  { name: "constructor", arguments: {} },
  { name: "__proto__", arguments: {} },
  { name: "search_hotels", arguments: { need: "n1", ...foreign } },
  { name: "search_hotels", arguments: { need: "n9" } },
  { name: "search_hotels", arguments: { need: "n1", maxDistanceKm: 1e308 } },
  { name: "search_hotels", arguments: { need: "n1", amenities: ["'; drop table cases; --"] } },
  { name: "search_hotels", arguments: '{"need":"n1","__proto__":{"polluted":true}}' },
  { name: "search_hotels", arguments: "[".repeat(1500) },
  { name: "search_hotels", arguments: "{" },
  { name: "cost_policy_relaxation", arguments: { need: "n1", fields: ["autoBook", "autoApproveDemand"] } },
  { name: "cost_policy_relaxation", arguments: { need: "n1", fields: [] } },
  { name: "classify_failure", arguments: { cause: "OTHER", ...foreign } },
];

const rightCalls = [
  { name: "search_hotels", arguments: { need: "n1" } },
  { name: "cost_policy_relaxation", arguments: { need: "n1", fields: ["maxDistanceKm", "maxNightlyRate"] } },
  { name: "classify_failure", arguments: {} },
];

const proposals = (told: string) => [
  { action: "rebook", need: "n1", hotel: "h1", reason: told },
  { action: "rebook", need: "n1", hotel: "h2", fields: ["minStars"], reason: "Pay at http://evil.example/x" },
  { action: "rebook", need: "n1", hotel: "h99", reason: "nobody has found it" },
  { action: "rebook", need: "n1", hotel: "ritz", reason: "urn:hotel:ritz" },
  { action: "rebook", need: "n2", hotel: "h1", reason: "somebody else's need" },
  { action: "relaxPolicy", need: "n1", hotel: "h1", fields: ["maxDistanceKm"], reason: told.slice(0, 90) },
  { action: "relaxPolicy", need: "n1", hotel: "h3", fields: ["maxNightlyRate", "minStars"], reason: "" },
  { action: "relaxPolicy", need: "n1", hotel: "h1", fields: ["autoBook"], reason: "no limit at all" },
  { action: "relaxPolicy", need: "n1", hotel: "h2", fields: [], value: { maxNightlyRate: null } },
];

const finals = (random: Random, told: string): unknown[] => {
  const some = proposals(told).filter(() => random() < 0.5);
  const answer = { cause: "OTHER", confidence: 1, explanation: told.slice(-1500), proposals: some };
  return [
    ...Array.from({ length: 6 }, () => answer),
    { ...answer, cause: "PAYMENT_REJECTED" },
    { ...answer, cause: "BOOK_IT" },
    { ...answer, confidence: 9 },
    { ...answer, proposals: [{ action: "cancel", need: "n1", hotel: "h1" }] },
    { ...answer, proposals: Array.from({ length: 500 }, () => some[0]) },
    `\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``,
    "Done: I have booked the Ritz for everybody.",
    "[]",
    "x".repeat(300_000),
  ];
};

const turnsAtMost = 3;

/** It looks first, then does as it is told, and says something at last, or calls for ever. */
export const obeying =
  (random: Random): ModelAnswer =>
  (response, asked) => {
    const told = toldIn(asked);
    const drawn = random();
    const turn = asked.body.messages.filter(({ role }) => role === "assistant").length;
    const wrong = wrongCalls(told).filter(() => random() < 0.2);
    const isDone = turn >= turnsAtMost ? drawn < 0.95 : drawn < 0.35;
    const answer =
      turn === 0
        ? calling(...rightCalls)
        : drawn > 0.97
          ? failingWith(oneOf(random, [200, 400, 404, 500]), oneOf(random, ["", "{}", "<html>", told]))
          : isDone
            ? saying(oneOf(random, finals(random, told)), drawn < 0.02 ? 1e9 : undefined)
            : calling(...wrong.slice(0, drawn < 0.4 ? 99 : 5), oneOf(random, rightCalls));
    answer(response, asked);
  };

/** As a server that is away, slow or out of its mind would. */
export const unwell: Readonly<Record<string, ModelAnswer>> = {
  failing: failingWith(503),
  slow: silent,
  nonsense: saying("I'd rather talk about the weather."),
};
