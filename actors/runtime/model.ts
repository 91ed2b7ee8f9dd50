/** Owns asking a language model behind an OpenAI-compatible address: its time, its tokens, and that its answer is of the shape asked for. What it is asked is its caller's. */
import type { ChatCompletionMessage, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { ModelServer } from "../../config/model-server.ts";

/** Why there is no answer: its caller goes on without. */
export type ModelFailureKind = "unreachable" | "late" | "refused" | "nonsense";

export class ModelFailure extends Error {
  readonly kind: ModelFailureKind;

  constructor(kind: ModelFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export interface Question<Answer> {
  /** What it is to do. */
  system: string;
  /** What it is to do it with: others' words stand here alone. */
  user: string;
  /** The answer's JSON. @throws anything for one that is of another shape */
  check(answer: unknown): Answer;
  /** Of the answer. */
  tokensMax: number;
  /** For all attempts together, milliseconds. */
  withinMs: number;
  /** What it may call before it answers. Absent: nothing. */
  tools?: Tools;
}

/** What a model is given to look with. What it cannot do is what none of them does. */
export interface Tools {
  /** @property parameters JSON Schema of its arguments */
  readonly list: readonly { name: string; description: string; parameters: Record<string, unknown> }[];
  /**
   * @param name as the model wrote it, like its arguments: neither need be what was offered
   * @returns what the model is told
   */
  call(name: string, argumentsText: string): string;
  /** Times that it may call some; the answer comes after. */
  readonly turnsMax: number;
  /** Of all turns and attempts together, what it is told and what it says. */
  readonly tokensMax: number;
}

export interface Model {
  /** What its server calls it. */
  readonly name: string;
  /** Loads what the first question would else wait for: longer than some questions have. */
  prepare(): Promise<unknown>;
  /** Asked twice at most, the second time when the first failed quickly. @throws ModelFailure */
  ask<Answer>(question: Question<Answer>): Promise<Answer>;
}

/** A few thousand tokens; a server that goes on and on is cut off. */
const answerBytesMax = 256 * 1024;
const attemptsMax = 2;

/** @param server undefined: none is configured */
export const openModel = (server: ModelServer | undefined): Model | undefined =>
  server === undefined
    ? undefined
    : { name: server.name, prepare: client, ask: (question) => asked(server, question) };

const asked = async <Answer>(server: ModelServer, question: Question<Answer>): Promise<Answer> => {
  const signal = AbortSignal.timeout(question.withinMs);
  const budget = { tokens: question.tools?.tokensMax ?? Number.POSITIVE_INFINITY };
  for (let attempt = 1; ; attempt++) {
    try {
      return await askedOnce(server, question, signal, budget);
    } catch (error) {
      const failure = signal.aborted
        ? new ModelFailure("late", `No answer within ${question.withinMs} ms.`, { cause: error })
        : await failureOf(error);
      if (attempt === attemptsMax || failure.kind === "late" || failure.kind === "refused") throw failure;
    }
  }
};

/** Of megabytes that most processes never need. */
const client = async () => (await import("openai")).default;

/** What is left of it. */
interface Budget {
  tokens: number;
}

const askedOnce = async <Answer>(
  { url, name, key }: ModelServer,
  { system, user, check, tokensMax, withinMs, tools }: Question<Answer>,
  signal: AbortSignal,
  budget: Budget,
): Promise<Answer> => {
  const OpenAi = await client();
  // What its package would else take from the environment is named: the configuration is the environment's only reader.
  const api = new OpenAi({
    baseURL: url,
    apiKey: key ?? "none",
    defaultHeaders: { Authorization: key === undefined ? null : `Bearer ${key}` },
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: withinMs,
    fetch: boundedFetch,
  });
  const said: ChatCompletionMessageParam[] = [
    { role: "system", content: system },
    { role: "user", content: user },
  ];
  for (let turn = 0; ; turn++) {
    if (budget.tokens <= 0) throw new ModelFailure("refused", "It has used up its tokens.");
    const completion = await api.chat.completions.create(
      {
        model: name,
        messages: said,
        // Servers that take both hold an answer's form against calls, too.
        ...(tools === undefined ? { response_format: { type: "json_object" } } : offered(tools, turn)),
        temperature: 0,
        max_completion_tokens: tokensMax,
      },
      { signal },
    );
    const message: ChatCompletionMessage | undefined = completion?.choices?.[0]?.message;
    budget.tokens -= tokensOf(completion?.usage?.total_tokens, [said, message]);
    const calls = tools === undefined ? [] : callsIn(message);
    if (tools === undefined || calls.length === 0) return read(message?.content, check);
    if (turn >= tools.turnsMax) throw new ModelFailure("nonsense", "It calls without an end.");
    said.push({ role: "assistant", content: null, tool_calls: calls });
    for (const { id, function: one } of calls)
      said.push({ role: "tool", tool_call_id: id, content: tools.call(one.name, one.arguments) });
  }
};

/** @throws ModelFailure for what is of another shape */
const read = <Answer>(text: unknown, check: (answer: unknown) => Answer): Answer => {
  if (typeof text !== "string") throw new ModelFailure("nonsense", "The answer holds no text.");
  try {
    return check(JSON.parse(unfenced(text)));
  } catch (error) {
    throw new ModelFailure("nonsense", "The answer is of another shape.", { cause: error });
  }
};

/** A model that is not held to a form likes to write JSON as it would in a document. */
const unfenced = (text: string): string => /^\s*```(?:json)?\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1] ?? text;

const offered = ({ list, turnsMax }: Tools, turn: number) => ({
  tools: list.map((one) => ({ type: "function" as const, function: one })),
  tool_choice: turn < turnsMax ? ("auto" as const) : ("none" as const),
});

const callsMax = 8;
/** Of what the model writes for one call: more is never needed, and would be sent back with each turn. */
const callCharsMax = 2000;

/** @throws ModelFailure for calls that are too many, too long, or none in form */
const callsIn = (message: ChatCompletionMessage | undefined) => {
  const calls: unknown = message?.tool_calls ?? [];
  if (!Array.isArray(calls) || calls.length > callsMax)
    throw new ModelFailure("nonsense", "It calls too much at once.");
  return calls.map((call) => {
    const { id, function: { name, arguments: text } = {} as Record<string, unknown> } = call ?? {};
    if (typeof id !== "string" || typeof name !== "string" || typeof text !== "string")
      throw new ModelFailure("nonsense", "It calls nothing by name.");
    if (id.length + name.length + text.length > callCharsMax)
      throw new ModelFailure("nonsense", "A call is too long.");
    return { id, type: "function" as const, function: { name, arguments: text } };
  });
};

/** @param told by the server. Not told, three characters are taken for one */
const tokensOf = (told: unknown, said: unknown): number =>
  typeof told === "number" && told >= 0 ? told : Math.ceil(JSON.stringify(said).length / 3);

/** All that is sent: the package adds more, of this machine and from its environment. */
const headersSent = ["accept", "authorization", "content-type", "user-agent"];

/** A redirect would take the key elsewhere. */
const boundedFetch: typeof fetch = async (address, init) => {
  const headers = [...new Headers(init?.headers)].filter(([name]) => headersSent.includes(name));
  const answer = await fetch(address, { ...init, headers, redirect: "error" });
  if (answer.body === null) return answer;
  let bytes = 0;
  const bounded = answer.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        bytes += chunk.byteLength;
        if (bytes > answerBytesMax) controller.error(new ModelFailure("nonsense", "The answer doesn't end."));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(bounded, {
    status: answer.status,
    statusText: answer.statusText,
    headers: answer.headers,
  });
};

/** Statuses that pass by themselves. */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 409;

const failureOf = async (error: unknown): Promise<ModelFailure> => {
  if (error instanceof ModelFailure) return error;
  const { APIError } = await client();
  if (!(error instanceof APIError))
    return new ModelFailure("nonsense", "The answer can't be read.", { cause: error });
  const { status } = error as { status?: number };
  if (status === undefined)
    return new ModelFailure("unreachable", "The model's server is not reached.", { cause: error });
  const kind = isPassing(status) ? "unreachable" : "refused";
  return new ModelFailure(kind, `The model's server answers ${status}.`, { cause: error });
};
