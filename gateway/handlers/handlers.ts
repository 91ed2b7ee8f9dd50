/** Owns what answers a checked request: the general way to an actor and back, and the table of the gateway's own handlers. They return; they never write. */
import type { Accepted, Command } from "../../schemas/command.ts";
import { keysOfSession, surrogateKeyHeader } from "../../schemas/surrogate-keys.ts";
import { type CheckedRequest, commandOf, type Dispatch, queryOf, type StageCommand } from "../dispatch.ts";
import { namesTag, tagOfRead, tagOfVersion } from "../entity-tag.ts";
import type { HttpAnswer } from "../http/exchange.ts";
import type { HandlerName } from "../route.ts";

export type Handler = (request: CheckedRequest) => Promise<HttpAnswer>;
export type Handlers = Readonly<Record<HandlerName, Handler>>;

/** More than this does not travel as a message (the bus takes 1 MiB at most). */
const messageBodyBytesMax = 256 * 1024;

/** Sends a request where its row says. `stage` is undefined where no actor can be in another process. */
export const createRouteHandler =
  (dispatch: Dispatch, handlers: Handlers, stage: StageCommand | undefined): Handler =>
  async (request) => {
    const { target } = request.route;
    switch (target.kind) {
      case "handler":
        return handlers[target.name](request);
      case "query":
        return answer(request, await dispatch.query(target.name, queryOf(request)));
      case "command":
        return answer(
          request,
          await sendCommand(dispatch, stage, commandOf(request, target), request.bodyBytes),
        );
    }
  };

/** @param bytes of its data, or of the body that it was made from */
export const sendCommand = async (
  dispatch: Dispatch,
  stage: StageCommand | undefined,
  command: Command,
  bytes: number,
): Promise<Accepted> => {
  const large = bytes > messageBodyBytesMax;
  return dispatch.command(command.name, large && stage !== undefined ? await stage(command) : command);
};

/** The success that a row promises, with its entity tag where there is a version or a read; 304 to who has it already. */
export const answer = (
  { route, ifNoneMatch, principal }: CheckedRequest,
  { ok, version = shownVersion(ok), created }: Accepted,
): HttpAnswer => {
  const body = route.produces === "text/html" ? (ok as { html: string }).html : JSON.stringify(ok);
  const status = created === false ? route.successUnlessCreated : route.success;
  if (!route.tagged) {
    const headers: HttpAnswer["headers"] =
      version === undefined ? route.headers : [...route.headers, ["ETag", tagOfVersion(version)]];
    return { status, headers, body };
  }
  const tag = tagOfRead(body, version);
  const headers: (readonly [string, string])[] = [...route.headers, ["ETag", tag]];
  if (route.named) headers.push([surrogateKeyHeader, keysOfSession(principal)]);
  return namesTag(ifNoneMatch, tag) ? { status: 304, headers, body: undefined } : { status, headers, body };
};

const shownVersion = (view: unknown): number | undefined => {
  const { version } = (view ?? {}) as { version?: unknown };
  return Number.isSafeInteger(version) ? (version as number) : undefined;
};
