/** Owns the HTTP call of one attempt and what its end means; whom to call and what follows is decided elsewhere. */
import { Agent, request } from "undici";
import type { Clock } from "../runtime/clock.ts";
import { checkedConnector, type Resolve } from "./connector.ts";
import { excerptOf } from "./message.ts";
import { parseRetryAfter } from "./schedule.ts";
import type { AttemptFailure, CallResult } from "./state.ts";
import { TargetRefused, type TargetRules } from "./target.ts";

/** Contract, "Limits": webhook timeout, over everything from resolving the name to the answer's last byte. */
const attemptTimeoutMs = 10_000;
const answerBytesKept = 4096;
/** Read on and dropped up to here, since a long answer is still an answer; past it the receiver is not serious. */
const answerBytesMax = 1_048_576;
const headerBytesMax = 16_384;

/** The process is stopping: the attempt has no result and is to be made again. */
export class Interrupted extends Error {}

export interface Call {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface Sender {
  /**
   * Makes one POST. Never throws for what the receiver or the network does.
   * @throws Interrupted when the sender was closed before the end
   */
  send(call: Call): Promise<CallResult>;
  /** Interrupts what is under way and takes no more. */
  close(): Promise<void>;
}

export interface SenderOptions {
  rules: TargetRules;
  clock: Clock;
  /** Default: the system's. */
  resolve?: Resolve;
  /** Default: the contract's 10 s. */
  timeoutMs?: number;
}

export const createSender = (options: SenderOptions): Sender => {
  const { clock, timeoutMs = attemptTimeoutMs } = options;
  const dispatcher = new Agent({
    connect: checkedConnector(options.rules, timeoutMs, options.resolve),
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: headerBytesMax,
    pipelining: 1,
  });
  const underWay = new Set<AbortController>();
  let closed = false;
  return {
    send: async (call) => {
      if (closed) throw new Interrupted("closed");
      const controller = new AbortController();
      underWay.add(controller);
      const timer = setTimeout(() => controller.abort(new AttemptTimeout()), timeoutMs);
      const at = clock.now();
      const answer: Answer = { kept: [] };
      try {
        await orAborted(controller.signal, post(dispatcher, call, controller.signal, answer));
      } catch (error) {
        if (closed) throw new Interrupted("closed");
        Object.assign(answer, failureOf(error, controller.signal));
      } finally {
        clearTimeout(timer);
        underWay.delete(controller);
      }
      return resultOf(answer, at, clock.now());
    },
    close: async () => {
      closed = true;
      for (const controller of underWay) controller.abort();
      await dispatcher.destroy();
    },
  };
};

class AttemptTimeout extends Error {}

/** undici looks at the signal once it is connected; a name that nobody resolves, or a host that takes no connection, ends in time, too. */
const orAborted = <Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });

/** What has been learnt so far: filled in as the answer arrives, so that a status survives a broken body. */
interface Answer {
  status?: number;
  retryAfter?: string;
  /** The beginning of its body; none of one that comes compressed, which is never expanded here. */
  kept: Buffer[];
  failure?: AttemptFailure;
  /** In place of a text. */
  error?: string;
}

const post = async (dispatcher: Agent, call: Call, signal: AbortSignal, answer: Answer): Promise<void> => {
  // Redirects are answers here: undici follows none unless told to.
  const response = await request(call.url, {
    dispatcher,
    method: "POST",
    headers: call.headers,
    body: call.body,
    signal,
  });
  answer.status = response.statusCode;
  const retryAfter = response.headers["retry-after"];
  if (typeof retryAfter === "string") answer.retryAfter = retryAfter;
  const isPlain = response.headers["content-encoding"] === undefined;
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    // A copy: a view of a crumb would keep the whole read around it.
    if (isPlain && bytes < answerBytesKept)
      answer.kept.push(Buffer.from(chunk.subarray(0, answerBytesKept - bytes)));
    bytes += chunk.length;
    if (bytes > answerBytesMax) {
      answer.failure = "ANSWER_TOO_LONG";
      return;
    }
  }
};

const failureOf = (error: unknown, signal: AbortSignal): Pick<Answer, "failure" | "error"> => {
  if (signal.reason instanceof AttemptTimeout) return { failure: "TIMEOUT" };
  if (error instanceof TargetRefused) return { failure: "TARGET_REFUSED", error: error.message };
  const { code, name } = error as { code?: string; name?: string };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code?.endsWith("_TIMEOUT")) return { failure: "TIMEOUT" };
  return { failure: "CONNECTION", error: code ?? name ?? "Error" };
};

const resultOf = (answer: Answer, at: Date, end: Date): CallResult => {
  const { status, failure } = answer;
  const text = Buffer.concat(answer.kept).toString("utf8");
  const excerpt = text === "" ? answer.error : excerptOf(text);
  const retryAfterMs = answer.retryAfter === undefined ? undefined : parseRetryAfter(answer.retryAfter, end);
  return {
    at: at.toISOString(),
    latencyMs: Math.max(0, end.getTime() - at.getTime()),
    ...(status === undefined ? {} : { status }),
    ...(failure === undefined ? {} : { failure }),
    ...(excerpt === undefined || excerpt === "" ? {} : { excerpt }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
};
