/**
 * Owns the operators' live channel at /ws/cases (contract, "Real-time operator channel"): connections, what their clients ask, and
 * that nobody stays who may not. What they are told is the fan-out's, who is there the presence's.
 */

import type { TemplatedApp } from "uWebSockets.js";
import { randomBytes, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import type { Logger } from "pino";
import { Server, type Socket } from "socket.io";
import { Problem } from "../../schemas/problems.ts";
import type { WatchGateways } from "../../streams/live-gateways.ts";
import { keptForMs } from "../../streams/live-sessions.ts";
import type { Dispatch } from "../dispatch.ts";
import type { TellProblem } from "../problem-response.ts";
import { beginTrace } from "../trace.ts";
import { Cases } from "./cases.ts";
import { Fanout, topicOf } from "./fanout.ts";
import { admit, type HandshakeParts } from "./handshake.ts";
import { createLockRelease } from "./lock-release.ts";
import type { LiveLog } from "./log.ts";
import { Newcomers } from "./newcomers.ts";
import { offsetText } from "./offset.ts";
import { PacketRates } from "./packet-rates.ts";
import { Presence } from "./presence.ts";
import { type Answer, Requests } from "./requests.ts";
import type { LiveEntry } from "./ring.ts";
import { Rounds } from "./rounds.ts";
import { type Admitted, Session } from "./session.ts";
import { type Attached, attach, upgradedBy, Wire } from "./wire.ts";

const path = "/ws/cases";
/** Of what a client sends: a token is the largest. */
const payloadBytesMax = 16 * 1024;
const pingIntervalMs = 10_000;
/** What does not answer for this long is gone, and its operator's locks with it. */
const pingTimeoutMs = 5000;
/** Within this a connection has to say who it is. */
const connectTimeoutMs = 5000;
const perOperatorMax = 50;
/** Connections of this process. */
const connectionsMax = 20_000;
/** A position that clients hold is no older, so that it is in the log when they come back. */
const positionEveryMs = 20_000;
/** An operator with more watchers beside them hears less often who comes and goes. */
const crowd = 20;
const presenceGatheredMs = 100;
const presenceOfCrowdGatheredMs = 1000;
/** In each round sessions are written again in so many parts: all at once would keep everything else waiting. */
const lotsOfRound = 150;
/** Whoever comes right after its beginning may be the last of the next one. */
const roundMs = keptForMs / 4;

/** By the catalogue of RFC 6455 codes, and the contract's. */
const refusedCode = 4401;
const tryLaterCode = 1013;

export interface ChannelParts extends Omit<HandshakeParts, "cases" | "fanout" | "freshId" | "onOutage"> {
  dispatch: Dispatch;
  live: LiveLog;
  watchGateways: WatchGateways;
  tellProblem: TellProblem;
  /** Exact origins whose pages may connect; a client that is no browser names none. */
  origins: ReadonlySet<string>;
  /** Our own, which tell whom they speak for; undefined: none. */
  proxies: BlockList | undefined;
  /** Default: 2,000 of each address. */
  newcomers?: Newcomers;
  beatMs: number;
  /** How long a lock lasts that nobody renews. */
  leaseMs: number;
  now: () => Date;
  log: Logger;
}

export interface Channel {
  attach: (app: TemplatedApp) => void;
  /** Lets everybody go; who comes back elsewhere finds what they had. */
  close(): Promise<void>;
}

type Acknowledge = (answer: Record<string, unknown>) => void;

/** @throws Error when other gateways cannot be heard of */
export const openChannel = async (parts: ChannelParts): Promise<Channel> => {
  const channel = new OpenChannel(parts);
  await channel.begin();
  return channel;
};

class OpenChannel implements Channel {
  readonly #parts: ChannelParts;
  readonly #io: Server;
  readonly #cases: Cases;
  readonly #fanout: Fanout;
  readonly #presence: Presence;
  readonly #handshake: HandshakeParts;
  readonly #requests: Requests;
  readonly #sessions = new Set<Session>();
  readonly #byOperator = new Map<string, Set<Session>>();
  readonly #byId = new Map<string, Session>();
  readonly #topics = new Map<string, number>();
  readonly #packets = new PacketRates();
  readonly #newcomers: Newcomers;
  /** Of upgrades, until there is a connection. */
  readonly #addresses = new WeakMap<object, string>();
  /** What to do once a connection has shown who it is. */
  readonly #unknown = new WeakMap<object, () => void>();
  /** Of connections that have asked to come in. */
  readonly #asked = new WeakSet<object>();
  /** Of ids of sessions that are written again. */
  readonly #keeping = new Rounds<string>(lotsOfRound);
  readonly #presenceTimers = new Map<string, NodeJS.Timeout>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #forget: (() => void)[] = [];
  #app: TemplatedApp | undefined;
  #attached: Attached | undefined;
  #connections = 0;
  #positionTold = "";
  #closing = false;

  constructor(parts: ChannelParts) {
    const { dispatch, live, now, log, beatMs } = parts;
    this.#parts = parts;
    this.#newcomers = parts.newcomers ?? new Newcomers();
    this.#cases = new Cases(dispatch, now);
    this.#fanout = new Fanout(live, this.#cases, {
      publish: (topic, text) => void this.#app?.publish(topic, text),
      hasListeners: (topic) => this.#topics.has(topic),
    });
    const release = createLockRelease({
      ...parts,
      isPresent: (tenant, operatorUrn) => this.#presence.isPresent({ tenant, operatorUrn }),
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
    });
    this.#presence = new Presence({
      self: randomUUID(),
      beatMs,
      release: (tenant, operatorUrn, upTo) => void release(tenant, operatorUrn, upTo),
      onChanged: (caseId) => this.#tellPresenceSoon(caseId),
      now,
      log,
    });
    this.#handshake = {
      ...parts,
      cases: this.#cases,
      fanout: this.#fanout,
      freshId: () => randomBytes(15).toString("base64url"),
      onOutage: (error) => log.warn({ error: String(error) }, "a live session could not be read"),
    };
    this.#requests = new Requests({ ...this.#handshake, presence: this.#presence, live, now, log });
    this.#io = new Server({
      path,
      serveClient: false,
      transports: ["websocket"],
      maxHttpBufferSize: payloadBytesMax,
      pingInterval: pingIntervalMs,
      pingTimeout: pingTimeoutMs,
      connectTimeout: connectTimeoutMs,
      allowRequest: (request, decide) => decide(null, this.#admits(request)),
    });
    this.#io.use((socket, next) => void this.#admit(socket, next));
    this.#io.on("connection", (socket) => this.#take(socket));
  }

  async begin(): Promise<void> {
    this.#presence.begin(await this.#parts.watchGateways(this.#presence));
    this.#timers.push(
      setInterval(() => this.#tellPosition(), positionEveryMs),
      setInterval(() => this.#keepSome(), roundMs / lotsOfRound),
    );
    this.#forget.push(
      this.#parts.revocations.onWithdrawal(() => this.#endWithdrawn()),
      this.#parts.live.onEntry((entry) => this.#endLoggedOut(entry)),
    );
  }

  readonly attach = (app: TemplatedApp): void => {
    this.#app = app;
    this.#attached = attach(this.#io, app, {
      onConnection: (conn, request) => {
        const known = this.#newcomers.enter(this.#addresses.get(request) ?? "");
        this.#unknown.set(conn, known);
        this.#connections++;
        return () => {
          this.#connections--;
          known();
        };
      },
      onPacket: (conn) => this.#packets.take(conn, performance.now()),
    });
  };

  async close(): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers) clearInterval(timer);
    for (const timer of this.#presenceTimers.values()) clearTimeout(timer);
    for (const forget of this.#forget) forget();
    await this.#presence.stop();
    this.#fanout.close();
    this.#attached?.close();
  }

  #admits(request: IncomingMessage): boolean {
    const { origin } = request.headers;
    const isOurs = origin === undefined || origin === "" || this.#parts.origins.has(origin);
    if (!isOurs || this.#connections >= connectionsMax || this.#closing) return false;
    const address = upgradedBy(request, this.#parts.proxies);
    this.#addresses.set(request, address);
    return this.#newcomers.admits(address);
  }

  /** Runs at every handshake, a resumption's too. */
  async #admit(socket: Socket, next: (error?: Error) => void): Promise<void> {
    const wire = new Wire(socket);
    const refuse = (problem: Problem): void => {
      const code = problem.status === 401 || problem.status === 403 ? refusedCode : tryLaterCode;
      next(Object.assign(new Error(problem.message), { data: { code, problem: this.#told(problem) } }));
      // The client is told first.
      setImmediate(() => wire.end(code, problem.code));
    };
    try {
      if (this.#asked.has(wire.connection))
        throw new Problem("validation/malformed", "A connection asks to come in once.");
      this.#asked.add(wire.connection);
      const admitted = await admit(socket.handshake.auth, this.#handshake);
      const { tenant, urn: operator } = admitted.identity.principal;
      const own = [...this.#sessionsOf(tenant, operator)].filter(({ id }) => id !== admitted.id);
      if (own.length >= perOperatorMax)
        throw new Problem("rate/exceeded", `You have ${perOperatorMax} connections open: close some.`);
      this.#unknown.get(wire.connection)?.();
      socket.data = admitted;
      // What Socket.IO's own recovery sets, and its client compares.
      Object.assign(socket, { pid: admitted.id, recovered: admitted.resumed && admitted.complete });
      next();
    } catch (error) {
      if (error instanceof Problem) refuse(error);
      else {
        this.#parts.log.error({ err: error }, "a live connection was not let in");
        refuse(new Problem("upstream/unavailable", "Try again in a moment."));
      }
    }
  }

  #take(socket: Socket): void {
    const admitted = socket.data as Admitted;
    const session = new Session(socket, admitted, {
      fanout: this.#fanout,
      now: this.#parts.now,
      hears: {
        onWatch: ({ principal }, caseId) => this.#presence.watch(whoOf(principal), caseId),
        // Who is let go of at the end is still there for the others.
        onUnwatch: ({ principal }, caseId) => {
          if (!this.#closing) this.#presence.unwatch(whoOf(principal), caseId);
        },
        onTopic: (topic, by) => this.#count(topic, by),
      },
    });
    const before = this.#byId.get(session.id);
    this.#sessions.add(session);
    const own = this.#sessionsOf(session.principal.tenant, session.principal.urn);
    this.#byOperator.set(whoText(session), own.add(session));
    this.#byId.set(session.id, session);
    this.#presence.enter(whoOf(session.principal));
    // Its client is here again: what is left of the connection before is of no use.
    before?.wire.end(1000, "resumed");
    socket.on("disconnect", () => this.#drop(session));
    const requests = this.#requests;
    const inTurn = (name: string, act: (payload: unknown) => Promise<Answer>): void => {
      socket.on(name, (payload: unknown, acknowledge: unknown) => {
        const answer = typeof acknowledge === "function" ? (acknowledge as Acknowledge) : () => undefined;
        session.inTurn(() => this.#answer(act, payload, answer));
      });
    };
    inTurn("subscribe", (payload) => requests.subscribe(session, payload));
    inTurn("unsubscribe", (payload) => requests.unsubscribe(session, payload));
    inTurn("authenticate", (payload) => requests.authenticate(session, payload));
    if (admitted.resumed && !admitted.complete) session.inTurn(() => this.#keep(session));
    // Between its admission and this, others have had their turn.
    this.#endIfWithdrawn(session);
    session.begin(admitted).catch((error) => {
      this.#parts.log.error({ err: error }, "a live session could not begin");
      session.wire.end(1011, "try again");
    });
  }

  async #answer(
    act: (payload: unknown) => Promise<Answer>,
    payload: unknown,
    acknowledge: Acknowledge,
  ): Promise<void> {
    try {
      const answer = await act(payload);
      acknowledge({ ok: true, ...answer() });
    } catch (error) {
      const problem =
        error instanceof Problem ? error : new Problem("upstream/unavailable", "Try again in a moment.");
      if (problem !== error) this.#parts.log.error({ err: error }, "a live request failed");
      acknowledge({ ok: false, problem: this.#told(problem) });
    }
  }

  /** Without it its client asks for its rooms again. */
  async #keep(session: Session): Promise<void> {
    await this.#requests.keep(session).catch((error) => {
      if (!(error instanceof Problem)) this.#parts.log.error({ err: error }, "a live session was not kept");
    });
  }

  #drop(session: Session): void {
    this.#sessions.delete(session);
    if (this.#byId.get(session.id) === session) this.#byId.delete(session.id);
    const own = this.#byOperator.get(whoText(session));
    own?.delete(session);
    if (own?.size === 0) this.#byOperator.delete(whoText(session));
    session.close();
    if (!this.#closing) this.#presence.leave(whoOf(session.principal));
  }

  #sessionsOf(tenant: string, urn: string): Set<Session> {
    return this.#byOperator.get(whoText({ principal: { tenant, urn } })) ?? new Set();
  }

  #count(topic: string, by: 1 | -1): void {
    const count = (this.#topics.get(topic) ?? 0) + by;
    if (count === 0) this.#topics.delete(topic);
    else this.#topics.set(topic, count);
  }

  /** What is not written again would be forgotten. */
  #keepSome(): void {
    for (const id of this.#keeping.next(() => this.#byId.keys())) {
      const session = this.#byId.get(id);
      if (session !== undefined && session.joined.length > 0) session.inTurn(() => this.#keep(session));
    }
  }

  #endWithdrawn(): void {
    for (const session of this.#sessions) this.#endIfWithdrawn(session);
  }

  #endIfWithdrawn(session: Session): void {
    if (this.#parts.revocations.withdrawalOf(session.identity.presented) !== undefined)
      session.end("access-withdrawn");
  }

  /** The issuer tells of a logout, the sub-case actor of a session that was closed. */
  #endLoggedOut(entry: LiveEntry): void {
    if (entry.type !== "operator.logged-out" && entry.type !== "operator.session-closed") return;
    const { occurred_at: at, data } = entry.event();
    for (const session of this.#sessionsOf(entry.tenant, String(data.operatorUrn)))
      if (session.identity.presented.issuedAt * 1000 <= Date.parse(at)) session.end("logged-out");
  }

  #tellPosition(): void {
    const position = offsetText(this.#fanout.offset);
    if (position === this.#positionTold) return;
    this.#positionTold = position;
    this.#fanout.tell(topicOf.all, "session:position", {});
  }

  #tellPresenceSoon(caseId: string): void {
    if (this.#presenceTimers.has(caseId) || this.#closing) return;
    const { watcherCount } = this.#presence.of(caseId);
    const tell = (): void => {
      this.#presenceTimers.delete(caseId);
      this.#fanout.tell(topicOf.case(caseId), "presence:changed", this.#presence.of(caseId));
    };
    const afterMs = watcherCount > crowd ? presenceOfCrowdGatheredMs : presenceGatheredMs;
    this.#presenceTimers.set(caseId, setTimeout(tell, afterMs));
  }

  #told(problem: Problem): unknown {
    const { correlationUrn } = beginTrace("", this.#parts.now());
    return JSON.parse(String(this.#parts.tellProblem(problem, correlationUrn).body));
  }
}

/** One text for each operator; a session stays its operator's, whatever token it shows. */
const whoText = ({ principal: { tenant, urn } }: { principal: { tenant: string; urn: string } }): string =>
  `${tenant} ${urn}`;

const whoOf = ({ tenant, urn: operatorUrn }: { tenant: string; urn: string }) => ({ tenant, operatorUrn });
