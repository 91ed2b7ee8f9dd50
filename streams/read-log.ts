/** Owns reading a stream's log from a position to its end; what is read stays there for everybody else. */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { Streams } from "./connection.ts";
import type { StreamName } from "./topology.ts";

export interface LogEntry {
  subject: string;
  sequence: number;
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

/**
 * In order, without what has grown too old meanwhile; ends once everything that stood there when it looked last is read.
 * @param windowMax entries at once
 * @throws Error when the server says that there is more and does not bring it
 */
export async function* readLog(
  streams: Streams,
  { stream, filterSubjects, after }: { stream: StreamName; filterSubjects: string[]; after: number },
  windowMax: number,
): AsyncGenerator<LogWindow> {
  const consumer = await streams.jetstream.consumers.get(stream, {
    filter_subjects: filterSubjects,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
  });
  try {
    let { num_pending: left } = await consumer.info();
    for (let empty = 0; left > 0; ) {
      if (empty === emptyFetchesMax) throw new Error(`${left} entries of ${stream} could not be read`);
      const entries: LogEntry[] = [];
      const batch = await consumer.fetch({ max_messages: Math.min(left, windowMax), expires: fetchMs });
      for await (const message of batch) {
        entries.push({ subject: message.subject, sequence: message.seq, json: () => message.json() });
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
