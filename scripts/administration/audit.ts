// The subcommand that proves the audit trail: every chain of digests walked, and the first entry named that breaks one.
import { JetStreamApiError } from "@nats-io/jetstream";
import { parseUrn, urn } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import type { Subcommand } from "./subcommand.ts";
import { airlineOf } from "./subcommand.ts";
import { table } from "./table.ts";
import type { Break } from "./trail/breaks.ts";
import type { Walked } from "./trail/walk.ts";

/** JetStream's error code (JSConsumerNotFoundErr). */
const consumerNotFound = 10_014;

/** Whether reports of changes are published that are not entries, or not acknowledged, yet. */
const reportsUnderWay = async ({ manager }: Streams): Promise<boolean> => {
  try {
    const { num_pending, num_ack_pending } = await manager.consumers.info("INTERNAL", "audit");
    return num_pending + num_ack_pending > 0;
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === consumerNotFound) return false;
    throw error;
  }
};

/** @throws StartFailure when it is no case's URN */
const caseOf = (text: string): { chain: string; airline: string } => {
  const parsed = parseUrn(text);
  if (parsed?.kind !== "case" || parsed.tenant === undefined)
    throw new StartFailure(`--case takes a case's URN, and ${text} is none`);
  return { chain: urn("case", parsed.id), airline: parsed.tenant };
};

const rowOf = ({ kind, chain, sequence, entry, detail }: Break): string[] => [
  kind,
  chain,
  String(sequence),
  entry ?? "-",
  detail,
];

const lineOf = (airline: string, { chains, entries, underWay, broken }: Walked): string =>
  `${airline}  ${entries} entries in ${chains} chains: ${broken === 0 ? "whole" : `${broken} broken`}${
    underWay === 0 ? "" : `, ${underWay} being written to`
  }`;

export const auditSubcommands: Record<string, Subcommand> = {
  "audit verify": {
    usage: "audit verify [--airline XN] [--case URN]",
    summary:
      "walks the audit trail's chains of digests and names the first entry of each that was changed, removed, inserted,\n      reordered or cut off; a break exits with 1",
    options: { airline: { type: "string" }, case: { type: "string" } },
    async run(values, _positionals, reach) {
      const { walkTrail } = await import("./trail/walk.ts");
      const only = typeof values.case === "string" ? caseOf(values.case) : undefined;
      const asked = values.airline === undefined ? only?.airline : airlineOf(values);
      if (only !== undefined && asked !== only.airline)
        throw new StartFailure(`that case is ${only.airline}'s, not ${asked}'s`);
      const { mongodb, databasePrefix } = await reach.documents();
      const streams = await reach.streams();
      const tenants = mongodb.db(`${databasePrefix}_platform`).collection<{ _id: string }>("tenants");
      const found = await tenants
        .find(asked === undefined ? {} : { _id: asked })
        .sort({ _id: 1 })
        .toArray();
      if (found.length === 0 && asked !== undefined) throw new StartFailure(`there is no airline ${asked}`);
      const airlines: (Walked & { airline: string })[] = [];
      for (const { _id: airline } of found) {
        const walked = await walkTrail({
          database: mongodb.db(`${databasePrefix}_${airline}`),
          ...(only === undefined ? {} : { chain: only.chain }),
          isUnderWay: () => reportsUnderWay(streams),
        });
        airlines.push({ airline, ...walked });
      }
      const breaks = airlines.flatMap((walked) => walked.breaks);
      const lines = airlines.map((walked) => lineOf(walked.airline, walked));
      const text = [
        ...lines,
        ...(breaks.length === 0
          ? []
          : ["", table(["WHAT", "CHAIN", "ENTRY", "URN", "DETAIL"], breaks.map(rowOf))]),
      ].join("\n");
      return { json: { airlines }, text, failed: breaks.length > 0 };
    },
  },
};
