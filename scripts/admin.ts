// The command `scripts/admin`: finds the subcommand, opens what it needs of the running instance, prints its answer.
import { parseArgs } from "node:util";
import { Problem } from "../schemas/problems.ts";
import { openStreams, type Streams } from "../streams/connection.ts";
import type { InstanceClient } from "./administration/client.ts";
import { deadLetterSubcommands } from "./administration/dead-letters.ts";
import { partnerSubcommands } from "./administration/partners.ts";
import type { Reach, Subcommand } from "./administration/subcommand.ts";
import { tenantSubcommands } from "./administration/tenants.ts";
import { unreachable } from "./administration/unreachable.ts";
import { vendorSubcommands } from "./administration/vendors.ts";
import { readInstance } from "./supervisor/environment.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

const subcommands: Record<string, Subcommand> = {
  ...tenantSubcommands,
  ...partnerSubcommands,
  ...vendorSubcommands,
  ...deadLetterSubcommands,
};

const help = `Usage: scripts/admin <command> [options]

Provisions airlines, partners and vendors, and looks after dead letters, at the running instance.

${Object.values(subcommands)
  .map(({ usage, summary }) => `  ${usage}\n      ${summary}`)
  .join("\n")}

  --data <folder>  of the instance (default .data); NATS_URL, when set, names its server instead
  --json           prints the answer as JSON
  --help           this text

Exit code: 0 done, 1 refused or not reachable, 2 not understood.`;

class UsageError extends Error {}

async function main(args: string[]): Promise<boolean> {
  if (args.includes("--help") || args.length === 0) {
    console.log(help);
    return true;
  }
  const name = args.slice(0, 2).join(" ");
  const subcommand = subcommands[name];
  if (subcommand === undefined)
    throw new UsageError(`there is no command '${name}': see scripts/admin --help`);
  const { values, positionals } = parseArgs({
    args: args.slice(2),
    options: {
      data: { type: "string", default: ".data" },
      json: { type: "boolean", default: false },
      ...subcommand.options,
    },
    allowPositionals: true,
  });
  const opened = reachOf(process.env.NATS_URL || (() => readInstance(String(values.data)).natsUrl));
  try {
    const { json, text, failed = false } = await subcommand.run(values, positionals, opened.reach);
    console.log(values.json === true ? JSON.stringify(json, null, 2) : text);
    return !failed;
  } finally {
    await opened.close();
  }
}

/** Opens each at most once. */
function reachOf(natsUrl: string | (() => string)): { reach: Reach; close(): Promise<void> } {
  const url = () => (typeof natsUrl === "string" ? natsUrl : natsUrl());
  let client: Promise<InstanceClient> | undefined;
  let streams: Promise<Streams> | undefined;
  return {
    reach: {
      client: () => {
        // Loaded when needed: the broker alone takes longer to load than all the rest.
        client ??= import("./administration/client.ts").then(({ openClient }) => openClient(url()));
        return client;
      },
      streams: () => {
        streams ??= openStreams(url(), "admin").catch((error) => {
          throw unreachable(url(), error);
        });
        return streams;
      },
    },
    close: async () => {
      const closing = [client, streams].map(async (opening) => (await opening)?.close());
      await Promise.allSettled(closing);
    },
  };
}

try {
  process.exit((await main(process.argv.slice(2))) ? 0 : 1);
} catch (error) {
  const isUsage =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof Problem || error instanceof StartFailure || error instanceof UsageError || isUsage))
    throw error;
  console.error(`error: ${(error as Error).message}`);
  if (error instanceof Problem) {
    for (const { pointer, detail } of error.members.errors ?? []) console.error(`  ${pointer}: ${detail}`);
  }
  process.exit(isUsage || error instanceof UsageError ? 2 : 1);
}
