/** Owns the names by which one request is followed: its correlation URN and its W3C Trace Context. */
import { randomFillSync, randomUUID } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Trace } from "../schemas/command.ts";
import { urn } from "../schemas/urn.ts";

/** Random bytes are asked for in lots: each asking costs as much as the rest of a ULID. */
const lot = new Uint8Array(4096);
let drawn = lot.length;
const random = (): number => {
  if (drawn === lot.length) {
    randomFillSync(lot);
    drawn = 0;
  }
  return (lot[drawn++] as number) / 256;
};

// Within a millisecond it counts on from a random start: a fresh ULID costs many times as much.
const nextUlid = monotonicFactory(random);

/** Trace Context §3.2.2: version, trace id, parent id, flags; later versions may append fields. */
const traceparentForm =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;

/** What names a request: always a fresh correlation, and the caller's trace where it sent a valid one. */
export const beginTrace = (traceparent: string, now: Date): Trace => ({
  correlationUrn: urn("correlation", nextUlid(now.getTime())),
  traceparent: validTraceparent(traceparent) ?? mintTraceparent(),
});

/** The caller's `traceparent` in the version we speak (00); undefined when it is absent or not valid. */
export const validTraceparent = (text: string): string | undefined => {
  if (text === "") return undefined;
  const [, version, fields, extra] = traceparentForm.exec(text) ?? [];
  if (fields === undefined || (version === "00" && extra !== undefined)) return undefined;
  return `00-${fields}`;
};

/** Random UUIDs come from a buffer that Node fills ahead: plain random bytes cost ten times as much here. */
const mintTraceparent = (): string =>
  `00-${randomUUID().replaceAll("-", "")}-${randomUUID().replaceAll("-", "").slice(-16)}-01`;
