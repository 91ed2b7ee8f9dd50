// What a subcommand of scripts/admin is: its words, its options, and a run that gives an answer for people and for programs.
import { readFileSync } from "node:fs";
import type { ParseArgsOptionsConfig } from "node:util";
import type { MongoClient } from "mongodb";
import type { Streams } from "../../streams/connection.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import type { InstanceClient } from "./client.ts";

export type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

/** Each is opened when first asked for, and closed by the caller of `run`. */
export interface Reach {
  client(): Promise<InstanceClient>;
  streams(): Promise<Streams>;
  documents(): Promise<{ mongodb: MongoClient; databasePrefix: string }>;
  /** What the instance seals its secrets with. @throws StartFailure when it cannot be read here */
  sealKey(): Promise<Buffer>;
  /** The operators' issuer's address. */
  operatorIssuer(): string;
}

export interface Answer {
  /** With --json. */
  json: unknown;
  text: string;
  /** Set: something asked for could not be done; the exit code is 1. */
  failed?: boolean;
}

export interface Subcommand {
  /** As typed, with its options: `tenant create --code XN …`. */
  usage: string;
  summary: string;
  options: ParseArgsOptionsConfig;
  run(values: Values, positionals: string[], reach: Reach): Promise<Answer>;
}

/** @throws StartFailure when it is missing */
export function needed(values: Values, name: string): string {
  const value = values[name];
  if (typeof value !== "string" || value === "") throw new StartFailure(`--${name} is needed`);
  return value;
}

/** Undefined when it is not given. @throws StartFailure when it is no number */
export function numberIn(values: Values, name: string): number | undefined {
  if (values[name] === undefined) return undefined;
  const number = Number(needed(values, name));
  if (Number.isNaN(number)) throw new StartFailure(`--${name} takes a number, not ${values[name]}`);
  return number;
}

/** @throws StartFailure when it cannot be read */
export const bytesIn = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new StartFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
};

/** Editors end a file with a line break, which no secret has. @throws StartFailure when there is none */
export const secretIn = (file: string): string => {
  const secret = bytesIn(file)
    .toString("utf8")
    .replace(/\r?\n$/, "");
  if (secret === "") throw new StartFailure(`${file} holds no secret`);
  return secret;
};

export const listed = (values: Values, name: string): string[] =>
  ((values[name] as string[] | undefined) ?? []).flatMap((text) => text.split(",")).filter(Boolean);

/** `XN` of `XN`, `urn:airline:XN`. */
export const airlineOf = (values: Values): string =>
  needed(values, "airline").replace(/^urn:(\w+:)?airline:/, "");
