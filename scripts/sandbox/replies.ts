/** Owns what readers of messages write, whichever vendor carries it: who writes what, and the wishes among it, which the vendor keeps. */
import Type from "typebox";
import type { Entry, Ledger } from "./ledger.ts";
import { readerOf } from "./told.ts";

const Text = (maxLength?: number) => Type.String({ minLength: 1, ...(maxLength && { maxLength }) });

/** What `POST /reply/<vendor>` takes of a vendor with these channels. */
export const replyReader = (channels: readonly string[], textMax: number) =>
  readerOf(
    Type.Object(
      {
        reference: Type.Optional(Text()),
        channel: Type.Optional(Type.Enum([...channels])),
        recipient: Type.Optional(Text()),
        text: Text(textMax),
      },
      { additionalProperties: false },
    ),
  );

export type Wish = "STOP" | "START";

/** STOP and START are what they are everywhere, anything else is a reply. */
export const wishIn = (text: string): Wish | undefined => {
  const word = text.trim().toUpperCase();
  return word === "STOP" || word === "START" ? word : undefined;
};

/** The newest that was sent under the reference that a reply names. */
export const answeredBy = <Sent extends Entry>(
  ledger: Ledger,
  { reference }: { reference?: string },
): Sent | undefined =>
  reference === undefined ? undefined : (ledger.byReference("message", reference)[0] as Sent | undefined);

/** @param reader as this vendor tells them apart */
export const keepWish = (ledger: Ledger, reader: string, wish: Wish, nowMs: number): void => {
  const at = new Date(nowMs).toISOString();
  ledger.put({
    ...{ kind: "wish", id: reader, reference: reader, idempotencyKey: "", state: wish },
    ...{ createdAt: at, changedAt: at, details: {} },
  });
};

export const hasStopped = (ledger: Ledger, reader: string): boolean =>
  ledger.entry("wish", reader)?.state === "STOP";

/** @throws TypeError when there is none */
export const knownReader = (reader: string | undefined): string => {
  if (reader === undefined) throw new TypeError("Nobody was sent this, and no recipient is named.");
  return reader;
};
