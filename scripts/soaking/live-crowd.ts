/** Owns a crowd of live clients that lose their connections while cases change, and what is wrong with what each of them was told. */
import { setTimeout as delay } from "node:timers/promises";
import { liveTypes } from "../../gateway/live/types.ts";
import type { EventRecord } from "../../schemas/command.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { subCaseStatuses } from "../../schemas/vocabulary.ts";
import type { Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import { readLog } from "../../streams/read-log.ts";
import { internalSubject, typeFilter } from "../../streams/subjects.ts";
import { tailStreams } from "../../streams/tail.ts";
import { connectRaw, type LiveClient, type LiveEvent, Refusal } from "./live-client.ts";
import { entriesOf, type LoggedEvent, untold, wrongIn } from "./live-told.ts";

export interface LiveStage {
  streams: Streams;
  /** The airline's code. */
  tenant: string;
  /** Base addresses; one that is away is tried again. */
  gateways: readonly string[];
  /** With a group of each. */
  cases: readonly { caseUrn: string; subCaseUrn: string }[];
  /** Each operator's. */
  tokens: readonly string[];
  random: () => number;
}

const againMs = 200;
const enteredAtOnce = 50;

/** One client over all its connections. */
class Member {
  readonly caseUrn: string;
  readonly #stage: LiveStage;
  readonly #token: string;
  /** Of connections that are over. */
  readonly #told: LiveEvent[] = [];
  readonly faults: string[] = [];
  #client: LiveClient | undefined;
  #pid = "";
  #offset = "";
  #from = "";
  #left = false;
  #going: Promise<void> = Promise.resolve();
  resumed = 0;

  constructor(stage: LiveStage, caseUrn: string, token: string) {
    this.#stage = stage;
    this.caseUrn = caseUrn;
    this.#token = token;
  }

  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  get events(): LiveEvent[] {
    return [...this.#told, ...(this.#client?.events ?? [])];
  }

  get from(): string {
    return this.#from;
  }

  async enter(gateway: string): Promise<void> {
    const client = await connectRaw({ baseUrl: gateway, token: this.#token });
    await client.until("session:ready");
    const { ok, position } = await client.ask("subscribe", { caseUrn: this.caseUrn });
    if (!ok) throw new Error("a room was refused");
    this.#from = String(position);
    // What came before is told of nothing that it watches.
    client.events.splice(0, client.beforeAnswer);
    this.#offset = this.#from;
    this.#hold(client);
  }

  drop(): void {
    this.#client?.drop();
  }

  async leave(): Promise<void> {
    this.#left = true;
    this.#client?.drop();
    await this.#going;
  }

  #hold(client: LiveClient): void {
    this.#client = client;
    this.#pid = client.pid;
    this.#going = client.closed.then(() => {
      this.#client = undefined;
      this.#told.push(...client.events);
      this.#offset = client.offset === "" ? this.#offset : client.offset;
      return this.#left ? undefined : this.#resume();
    });
  }

  async #resume(): Promise<void> {
    const { gateways, random } = this.#stage;
    while (!this.#left) {
      const baseUrl = gateways[Math.floor(random() * gateways.length)] ?? "";
      const resume = { pid: this.#pid, offset: this.#offset };
      try {
        const client = await connectRaw({ baseUrl, token: this.#token, resume });
        if (!client.recovered) this.faults.push(`a session was not gone on with after ${this.#offset}`);
        this.resumed++;
        this.#hold(client);
        return;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.data.code === 4401) throw error;
        await delay(againMs * random());
      }
    }
  }
}

export class Crowd {
  readonly members: Member[];
  readonly #stage: LiveStage;
  #changes = 0;

  constructor(stage: LiveStage, sockets: number) {
    this.#stage = stage;
    const { cases, tokens } = stage;
    this.members = Array.from({ length: sockets }, (_, i) => {
      const { caseUrn } = cases[i % cases.length] as LiveStage["cases"][number];
      return new Member(stage, caseUrn, tokens[i % tokens.length] ?? "");
    });
  }

  async enter(): Promise<void> {
    const { gateways } = this.#stage;
    for (let from = 0; from < this.members.length; from += enteredAtOnce)
      await Promise.all(
        this.members
          .slice(from, from + enteredAtOnce)
          .map((member, i) => member.enter(gateways[i % gateways.length] ?? "")),
      );
  }

  /** A group of some case changes its state, told as its actor tells it. */
  async change(): Promise<void> {
    const { streams, tenant, cases, random } = this.#stage;
    const { caseUrn, subCaseUrn } = cases[Math.floor(random() * cases.length)] as LiveStage["cases"][number];
    const n = this.#changes++;
    const status = subCaseStatuses[n % subCaseStatuses.length];
    const type = "subcase.state-changed";
    const at = new Date();
    const event: EventRecord = {
      urn: urn("event", `${tenant}-${n}`),
      type,
      occurred_at: at.toISOString(),
      tenant: urn("airline", tenant),
      case_urn: caseUrn,
      correlation_urn: urn("correlation", String(n)),
      traceparent: "",
      data: { caseUrn, subCaseUrn, groupId: "G1", airport: "JFK", status, offer: "PENDING", lockedBy: null },
    };
    await publish(streams, {
      subject: internalSubject(tenant, type, idOf(subCaseUrn)),
      payload: JSON.stringify(event),
      messageId: `crowd:${at.getTime()}:${n}`,
    });
  }

  get changes(): number {
    return this.#changes;
  }

  /** Some connection ends without a word. */
  dropOne(): boolean {
    const live = this.members.filter(({ isConnected }) => isConnected);
    const one = live[Math.floor(this.#stage.random() * live.length)];
    one?.drop();
    return one !== undefined;
  }

  /** Once everybody is there and has heard all, or the time is over. @returns what is wrong */
  async check(withinMs: number): Promise<string[]> {
    const logged = await readAll(this.#stage.streams);
    const byCase = new Map(
      this.#stage.cases.map(({ caseUrn }) => [caseUrn, entriesOf(logged, caseUrn)] as const),
    );
    const deadline = performance.now() + withinMs;
    const faults: string[] = [];
    for (const [i, member] of this.members.entries()) {
      const entries = byCase.get(member.caseUrn) ?? [];
      for (;;) {
        const { faults: wrong, last } = wrongIn(entries, member.from, member.events);
        const missing = untold(entries, last);
        if (missing.length > 0 && performance.now() < deadline) {
          await delay(50);
          continue;
        }
        faults.push(...[...member.faults, ...wrong].map((fault) => `client ${i}: ${fault}`));
        if (missing.length > 0) faults.push(`client ${i} lacks ${missing.length} events`);
        break;
      }
    }
    return faults;
  }

  async leave(): Promise<void> {
    await Promise.all(this.members.map((member) => member.leave()));
  }
}

const readAll = async (streams: Streams): Promise<LoggedEvent[]> => {
  const roots = { EVENTS: "evt", INTERNAL: "int" } as const;
  const all: LoggedEvent[] = [];
  for (const stream of tailStreams) {
    const filterSubjects = liveTypes[stream].map((type) => typeFilter(roots[stream], type));
    for await (const { entries } of readLog(streams, { stream, filterSubjects, after: 0 }, 500))
      for (const entry of entries)
        all.push({ ...(entry.json() as EventRecord), stream, sequence: entry.sequence });
  }
  return all;
};
