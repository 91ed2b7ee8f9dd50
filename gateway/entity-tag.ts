/** Owns entity tags (RFC 9110 §8.8.3): the strong tag of an answer, and what a client's tags say. */
import { hash } from "node:crypto";

/** 96 bits: nobody can gain from a collision with their own answer. */
const digestLength = 16;

/**
 * Of a read: the version, which a write takes back in `If-Match`, and a digest, because a view may also show what changes
 * without a new version of the entity (a case shows its groups).
 * @param version undefined: the view has none
 */
export const tagOfRead = (body: string | Buffer, version: number | undefined): string => {
  const digest = hash("sha256", body, "base64url").slice(0, digestLength);
  return version === undefined ? `"${digest}"` : `"${version}-${digest}"`;
};

/** Of a write's answer. */
export const tagOfVersion = (version: number): string => `"${version}"`;

const versionTag = /^"(\d{1,15})(?:-[\w-]+)?"$/;

/** The version in a tag that a read or a write gave out; undefined for any other text. */
export const versionOfTag = (tag: string): number | undefined => {
  const version = versionTag.exec(tag)?.[1];
  return version === undefined ? undefined : Number(version);
};

/** Whether a text of `If-None-Match` names the tag: compared weakly, `*` names any (RFC 9110 §13.1.2). */
export const namesTag = (ifNoneMatch: string, tag: string): boolean =>
  ifNoneMatch !== "" &&
  (ifNoneMatch === tag ||
    ifNoneMatch
      .split(",")
      .map((one) => one.trim())
      .some((one) => one === "*" || one === tag || one === `W/${tag}`));
