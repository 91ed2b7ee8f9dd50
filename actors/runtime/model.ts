/** Owns asking a language model behind an OpenAI-compatible address: its time, its tokens, and that its answer is of the shape asked for. What it is asked is its caller's. */
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
}

export interface Model {
  /** What its server calls it. */
  readonly name: string;
  /** Asked twice at most, the second time when the first failed quickly. @throws ModelFailure */
  ask<Answer>(question: Question<Answer>): Promise<Answer>;
}

/** A few thousand tokens; a server that goes on and on is cut off. */
const answerBytesMax = 256 * 1024;
const attemptsMax = 2;

/** @param server undefined: none is configured */
export const openModel = (server: ModelServer | undefined): Model | undefined =>
  server === undefined ? undefined : { name: server.name, ask: (question) => asked(server, question) };

const asked = async <Answer>(server: ModelServer, question: Question<Answer>): Promise<Answer> => {
  const signal = AbortSignal.timeout(question.withinMs);
  for (let attempt = 1; ; attempt++) {
    try {
      return await askedOnce(server, question, signal);
    } catch (error) {
      const failure = signal.aborted
        ? new ModelFailure("late", `No answer within ${question.withinMs} ms.`, { cause: error })
        : await failureOf(error);
      if (attempt === attemptsMax || failure.kind === "late" || failure.kind === "refused") throw failure;
    }
  }
};

/** Of megabytes that most processes never need: loaded with the first question. */
const client = async () => (await import("openai")).default;

const askedOnce = async <Answer>(
  { url, name, key }: ModelServer,
  { system, user, check, tokensMax, withinMs }: Question<Answer>,
  signal: AbortSignal,
): Promise<Answer> => {
  const OpenAi = await client();
  // What its package would else take from the environment is named: the configuration is the environment's only reader.
  const api = new OpenAi({
    baseURL: url,
    apiKey: key ?? "none",
    ...(key === undefined ? { defaultHeaders: { Authorization: null } } : {}),
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: withinMs,
    fetch: boundedFetch,
  });
  const completion = await api.chat.completions.create(
    {
      model: name,
      messages: [
        { role: "system", content: system },
        { role: "user", content: user },
      ],
      response_format: { type: "json_object" },
      temperature: 0,
      max_completion_tokens: tokensMax,
    },
    { signal },
  );
  const text: unknown = completion?.choices?.[0]?.message?.content;
  if (typeof text !== "string") throw new ModelFailure("nonsense", "The answer holds no text.");
  try {
    return check(JSON.parse(text));
  } catch (error) {
    throw new ModelFailure("nonsense", "The answer is of another shape.", { cause: error });
  }
};

/** A redirect would take the key elsewhere. */
const boundedFetch: typeof fetch = async (address, init) => {
  const answer = await fetch(address, { ...init, redirect: "error" });
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
