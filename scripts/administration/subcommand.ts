// What a subcommand of scripts/admin is: its words, its options, and a run that gives an answer for people and for programs.
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

export const listed = (values: Values, name: string): string[] =>
  ((values[name] as string[] | undefined) ?? []).flatMap((text) => text.split(",")).filter(Boolean);

/** `XN` of `XN`, `urn:airline:XN`. */
export const airlineOf = (values: Values): string =>
  needed(values, "airline").replace(/^urn:(\w+:)?airline:/, "");
