/** Owns reading a stream's log from a position to its end; what is read stays there for everybody else. */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { Streams } from "./connection.ts";
import type { StreamName } from "./topology.ts";

export interface LogEntry {
  subject: string;
  sequence: number;
  /** When it was published. */
  at: Date;
  /** As it stands there: cheap to look into before it is parsed. */
  text(): string;
  json(): unknown;
}

/** Entries read one after another, and how many of the log are left after them. */
export interface LogWindow {
  entries: LogEntry[];
  left: number;
}

/** Fetches in a row that brought nothing while the server says that there is something. */
const emptyFetchesMax = 5;
const fetchMs = 2000;

/** What is read of which stream; `after` is a sequence, or a time of publishing. */
export interface LogPart {
  stream: StreamName;
  /** Never empty: the server would take that for everything. */
  filterSubjects: string[];
  after: number | Date;
}

/** How many entries stand there now. @throws TypeError for an empty filter */
export const countLog = async (streams: Streams, part: LogPart): Promise<number> => {
  const start = startOf(part);
  const consumer = await streams.jetstream.consumers.get(part.stream, start);
  try {
    return (await consumer.info()).num_pending;
  } finally {
    await consumer.delete();
  }
};

const startOf = ({ stream, filterSubjects, after }: LogPart) => {
  if (filterSubjects.length === 0) throw new TypeError(`an empty filter would read all of ${stream}`);
  return after instanceof Date
    ? {
        filter_subjects: filterSubjects,
        deliver_policy: DeliverPolicy.StartTime,
        opt_start_time: after.toISOString(),
      }
    : {
        filter_subjects: filterSubjects,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: after + 1,
      };
};

/**
 * In order, without what has grown too old meanwhile; ends once everything that stood there when it looked last is read.
 * @param windowMax entries at once
 * @throws Error when the server says that there is more and does not bring it; TypeError for an empty filter
 */
export async function* readLog(
  streams: Streams,
  part: LogPart,
  windowMax: number,
): AsyncGenerator<LogWindow> {
  const { stream } = part;
  const start = startOf(part);
  const consumer = await streams.jetstream.consumers.get(stream, start);
  try {
    let { num_pending: left } = await consumer.info();
    for (let empty = 0; left > 0; ) {
      if (empty === emptyFetchesMax) throw new Error(`${left} entries of ${stream} could not be read`);
      const entries: LogEntry[] = [];
      const batch = await consumer.fetch({ max_messages: Math.min(left, windowMax), expires: fetchMs });
      for await (const message of batch) {
        entries.push({
          subject: message.subject,
          sequence: message.seq,
          at: new Date(Number(message.timestampNanos / 1_000_000n)),
          text: () => message.string(),
          json: () => message.json(),
        });
        left = message.info.pending;
      }
      empty = entries.length === 0 ? empty + 1 : 0;
      if (entries.length === 0) left = (await consumer.info()).num_pending;
      else yield { entries, left };
    }
  } finally {
    await consumer.delete();
  }
}
