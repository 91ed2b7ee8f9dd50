/**
 * Owns since when sign-ins are void, of a person at an airline or of one browser. Deleting what is stored doesn't reach a
 * request that has read it already and writes it back: what carries an earlier sign-in is refused wherever it comes from.
 */
import type { IssuerDocuments } from "./documents.ts";
import { refreshLifetimeSeconds } from "./token-store.ts";

export interface CutOff {
  /** Of a subject or of a browser's session. */
  _id: string;
  endedAt: Date;
  expiresAt: Date;
}

/** Exactly one of the two: all that a subject has, or what belongs to one browser's session. */
export type CutOffReach = { subject: string } | { sessionUid: string };

/** What a session, a code or a refresh token says of the sign-in that it comes from. */
export interface SignInOrigin {
  subject: string;
  sessionUid: string | undefined;
  /** Unix seconds. */
  signedInAt: number;
}

/** A shift and 30 days of refreshing (provider.ts), and slack: then nothing of an earlier sign-in is left. */
const keptForMs = (refreshLifetimeSeconds + 86_400) * 1000;

const idOf = (reach: CutOffReach): string =>
  "subject" in reach ? `subject:${reach.subject}` : `session:${reach.sessionUid}`;

/** Seconds are all that tokens say: a sign-in in the second of the end counts as one before it. */
export const isBefore = ({ signedInAt }: SignInOrigin, endedAt: Date): boolean =>
  signedInAt <= Math.floor(endedAt.getTime() / 1000);

/** From here on no sign-in up to `endedAt` is good. However often and in whatever order: the latest stands. */
export const cutOff = async (
  { cutOffs }: Pick<IssuerDocuments, "cutOffs">,
  reach: CutOffReach,
  endedAt: Date,
): Promise<void> => {
  const expiresAt = new Date(endedAt.getTime() + keptForMs);
  await cutOffs.updateOne({ _id: idOf(reach) }, { $max: { endedAt, expiresAt } }, { upsert: true });
};

/** By `_id`. */
export const isCutOff = async (
  { cutOffs }: Pick<IssuerDocuments, "cutOffs">,
  origin: SignInOrigin,
): Promise<boolean> => {
  const { subject, sessionUid } = origin;
  const ids = [idOf({ subject }), ...(sessionUid === undefined ? [] : [idOf({ sessionUid })])];
  const found = await cutOffs.find({ _id: { $in: ids } }).toArray();
  return found.some(({ endedAt }) => isBefore(origin, endedAt));
};
