/** Owns what every gateway knows of closed and reopened cases, so that a passenger's token is checked without asking anybody. */
import type { Logger } from "pino";
import { changeEntry, watchBucket } from "./bucket.ts";
import type { Streams } from "./connection.ts";

const bucketName = "closed-cases";
/** A passenger's session ends after seven days, so that a closing of eight days ago has no living token left. */
const keptForMs = 8 * 86_400_000;
const options = { ttlMs: keptForMs };
/** Clocks that are kept differ by less. */
const aheadMsMax = 60_000;

/** Of a case that was closed at least once. */
export interface KnownClosing {
  /** Its last closing. */
  closedAt: Date;
  /** True: it was reopened since. */
  open: boolean;
}

export interface CaseChange extends KnownClosing {
  /** When it came to stand so: of a closing `closedAt`, of a reopening a later time. */
  changedAt: Date;
}

export interface ClosedCases {
  /** Undefined: never closed, or so long ago that no token of before can be alive. */
  standing(caseId: string): KnownClosing | undefined;
  /** True as soon as the case is not known as closed, which may be at once; false when it still is after this time. */
  untilOpen(caseId: string, withinMs: number): Promise<boolean>;
  /** Called with the case's id once its closing, or its reopening, is known. @returns how to stop */
  onChange(hear: (caseId: string) => void): () => void;
}

export interface WatchedClosedCases extends ClosedCases {
  /** False once closings are no longer heard of. */
  live(): boolean;
  close(): void;
}

/** As it stands in the bucket, under the case's id. Times are ISO 8601 UTC. */
interface Entry {
  closedAt: string;
  open: boolean;
  changedAt: string;
}

/** Knows every closing of the last eight days when it returns, and each later one within moments. */
export const openClosedCases = async (streams: Streams, log: Logger): Promise<WatchedClosedCases> => {
  const standings = new Standings();
  const hearers = new Set<(caseId: string) => void>();
  const bucket = await watchBucket<Entry>(
    streams,
    bucketName,
    {
      onValue: (caseId, entry, putAt) => {
        standings.learn(caseId, entry, putAt);
        for (const hear of hearers) hear(caseId);
      },
      onUnreadable: (caseId, error) => log.error({ caseId, err: error }, "closing not taken over"),
      onEnd: (error) => log.error({ err: error }, "closings are not heard of any more"),
    },
    options,
  );
  return {
    standing: (caseId) => standings.of(caseId),
    untilOpen: (caseId, withinMs) => standings.untilOpen(caseId, withinMs),
    onChange: (hear) => {
      hearers.add(hear);
      return () => void hearers.delete(hear);
    },
    live: () => bucket.live(),
    close: () => bucket.close(),
  };
};

/** What one process knows. */
export class Standings {
  /** In the order in which they were learnt, which is that in which the bucket forgets them. */
  readonly #byCase = new Map<string, KnownClosing & { putAt: Date }>();
  readonly #waiting = new Set<() => void>();

  of(caseId: string): KnownClosing | undefined {
    return this.#byCase.get(caseId);
  }

  /**
   * @param putAt the bucket's time and no command's, whose clock may be ahead and would let ended sessions in again
   * @throws TypeError for an entry that makes no sense
   */
  learn(caseId: string, { open, closedAt }: Pick<Entry, "open" | "closedAt">, putAt: Date): void {
    if (typeof open !== "boolean") throw new TypeError("open: not a boolean");
    const change = { closedAt: timeOf(closedAt), open, putAt };
    this.#byCase.delete(caseId);
    this.#byCase.set(caseId, change);
    this.#forgetBefore(putAt.getTime() - keptForMs);
    for (const look of this.#waiting) look();
  }

  untilOpen(caseId: string, withinMs: number): Promise<boolean> {
    const isOpen = (): boolean => this.#byCase.get(caseId)?.open !== false;
    if (isOpen()) return Promise.resolve(true);
    return new Promise((settle) => {
      const look = (): void => {
        if (isOpen()) done(true);
      };
      const done = (open: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        settle(open);
      };
      const timer = setTimeout(done, withinMs, false);
      this.#waiting.add(look);
    });
  }

  /** The bucket tells of nothing that has aged out of it. */
  #forgetBefore(timeMs: number): void {
    for (const [caseId, { putAt }] of this.#byCase) {
      if (putAt.getTime() >= timeMs) return;
      this.#byCase.delete(caseId);
    }
  }
}

/** A time that cannot be read must not become one that is never reached. */
const timeOf = (text: string): Date => {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new TypeError("not a time");
  return time;
};

/**
 * Notes a closing or a reopening for all gateways. Changes may come twice, late or in the wrong order: only one that is
 * newer than what is held counts.
 * @param toldAt when it was first told, the same however often it comes; default: now. A change that claims to be of a later day was
 *   made by a clock that is ahead, and counts as of this moment: else it would stand against every change until then.
 * @throws Error when it could not be noted; noting it again is safe
 */
export const noteCase = async (
  streams: Streams,
  caseId: string,
  change: CaseChange,
  toldAt = new Date(),
): Promise<void> => {
  const latest = toldAt.getTime() + aheadMsMax;
  const at = (time: Date): string => (time.getTime() > latest ? toldAt : time).toISOString();
  const entry: Entry = { closedAt: at(change.closedAt), open: change.open, changedAt: at(change.changedAt) };
  await changeEntry<Entry>(
    streams,
    bucketName,
    caseId,
    (held) => (held === undefined || isNewer(entry, held) ? entry : undefined),
    options,
  );
};

/**
 * By time. Of one and the same millisecond, the later closing; of one closing, its reopening: neither can have come
 * before the other. ISO 8601 texts of UTC sort like their times.
 */
const isNewer = (a: Entry, b: Entry): boolean => {
  if (a.changedAt !== b.changedAt) return a.changedAt > b.changedAt;
  if (a.closedAt !== b.closedAt) return a.closedAt > b.closedAt;
  return a.open && !b.open;
};
