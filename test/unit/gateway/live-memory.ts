// A gateway's memory of the log without the streams, and a connection without its socket: what is told to the one, and done with the other.
import type { Test } from "tap";
import type { Dispatch } from "../../../gateway/dispatch.ts";
import { Cases } from "../../../gateway/live/cases.ts";
import { Fanout } from "../../../gateway/live/fanout.ts";
import type { LiveLog } from "../../../gateway/live/log.ts";
import { type LiveEntry, Ring } from "../../../gateway/live/ring.ts";
import { type Admitted, Session } from "../../../gateway/live/session.ts";
import type { TailEntry } from "../../../streams/tail.ts";

export const now = () => new Date("2026-11-22T06:00:00.000Z");
export const caseIdOf = (n: number): string => `XN-0000000000000000000000000${n}`;
export const start = { EVENTS: 0, INTERNAL: 0 };

export class Memory {
  readonly ring = new Ring({ keptMs: 90_000, entriesMax: 10_000 });
  readonly log: LiveLog;
  readonly dispatch: Dispatch;
  readonly cases: Cases;
  readonly fanout: Fanout;
  #hear: (entry: LiveEntry) => void = () => undefined;
  #sequence = 0;
  /** How often an entry's type was looked at, and its data was encoded. */
  looked = 0;
  encoded = 0;

  constructor(query: (name: string, command: { params: Record<string, unknown> }) => unknown = () => null) {
    const { ring } = this;
    ring.beginAt(start);
    this.log = {
      ring,
      onEntry: (hear) => {
        this.#hear = hear;
        return () => undefined;
      },
      onCountedAnew: () => () => undefined,
      after: (caseId, position) => ring.after(caseId, position),
      position: () => ring.position,
      reached: async () => true,
      live: () => true,
      close: async () => undefined,
    };
    this.dispatch = {
      command: async () => ({ ok: null }),
      query: async (name: string, command: never) => ({ ok: query(name, command) }),
    } as never;
    this.cases = new Cases(this.dispatch, now);
    this.fanout = new Fanout(this.log, this.cases, { publish: () => undefined, hasListeners: () => true });
  }

  tell(caseNo: number, type: string, more: Record<string, unknown> = {}): void {
    const sequence = ++this.#sequence;
    const caseUrn = `urn:case:${caseIdOf(caseNo)}`;
    const encode = (): void => void this.encoded++;
    const look = (): void => void this.looked++;
    const data = {
      caseUrn,
      subCaseUrn: `urn:sub-case:XN-${sequence}`,
      ...more,
      // Only what is sent is ever made text.
      toJSON: () => {
        encode();
        return { caseUrn };
      },
    };
    const event = () => ({ data, case_urn: caseUrn, occurred_at: now().toISOString() }) as never;
    const entry: TailEntry = {
      ...{
        stream: "INTERNAL",
        sequence,
        atMs: 1_000_000 + sequence * 100,
        tenant: "XN",
        id: "",
        event,
        type,
      },
    };
    const added = this.ring.add(entry, caseIdOf(caseNo));
    Object.defineProperty(added, "type", {
      get: () => {
        look();
        return type;
      },
    });
    this.#hear(added);
  }
}

export const principal = {
  surface: "operator",
  tenant: "XN",
  urn: "urn:user:ana",
  role: "AIRPORT_OPERATOR",
} as const;
export const presented = { tenant: "XN", subjects: ["ana"], tokenId: "t", issuedAt: 0 };

/** A socket that keeps what was done with it. */
export const connect = (t: Test) => {
  const done: string[] = [];
  const closing: (() => void)[] = [];
  const sent: string[] = [];
  let unsent = 0;
  let isSlow = false;
  const raw = {
    send: (text: string) => {
      sent.push(text);
      if (isSlow) unsent = 1_000_000;
    },
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    getBufferedAmount: () => unsent,
    end: (code: number) => void done.push(`ended ${code}`),
  };
  const conn = {
    readyState: "open",
    transport: { socket: raw },
    on: (_event: string, hear: () => void) => {
      closing.push(hear);
      // What waits for a client goes on when it has taken all.
      if (isSlow)
        queueMicrotask(() => {
          unsent = 0;
          hear();
        });
    },
    off: () => undefined,
  };
  const open = (fanout: Fanout, more: Partial<Admitted> = {}): [Session, Admitted] => {
    const identity = { principal, presented, expiresAtMs: now().getTime() + 60_000 };
    const fresh = { joined: [], kept: undefined, offset: undefined, complete: true, resumed: false };
    const admitted: Admitted = { id: "an-id-of-a-session", identity, ...fresh, ...more };
    const session = new Session({ id: "one", conn } as never, admitted, {
      fanout,
      now,
      hears: {
        onWatch: (_session, caseId) => void done.push(`watches ${caseId.slice(-1)}`),
        onUnwatch: (_session, caseId) => void done.push(`leaves ${caseId.slice(-1)}`),
        onTopic: () => undefined,
      },
    });
    t.teardown(() => session.close());
    return [session, admitted];
  };
  const close = (session: Session): void => {
    conn.readyState = "closed";
    session.close();
    for (const hear of closing) hear();
  };
  const takeNothing = (): void => {
    unsent = 1_000_000;
  };
  const takeSlowly = (): void => {
    isSlow = true;
  };
  return { done, sent, open, close, takeNothing, takeSlowly };
};
