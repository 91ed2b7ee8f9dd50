// The command `scripts/admin`: finds the subcommand, opens what it needs of the running instance, prints its answer.
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { MongoClient } from "mongodb";
import { Problem } from "../schemas/problems.ts";
import { openStreams, type Streams } from "../streams/connection.ts";
import { auditSubcommands } from "./administration/audit.ts";
import { checkSubcommands } from "./administration/check.ts";
import type { InstanceClient } from "./administration/client.ts";
import { deadLetterSubcommands } from "./administration/dead-letters.ts";
import { keySubcommands } from "./administration/keys.ts";
import { metricsSubcommands } from "./administration/metrics.ts";
import { operatorSubcommands } from "./administration/operators.ts";
import { partnerSubcommands } from "./administration/partners.ts";
import { partnerSecretSubcommands } from "./administration/partners-secrets.ts";
import { partnerWebhookSubcommands } from "./administration/partners-webhook.ts";
import { reconcileSubcommands } from "./administration/reconcile.ts";
import type { Reach, Subcommand } from "./administration/subcommand.ts";
import { tenantSubcommands } from "./administration/tenants.ts";
import { unreachable, withoutPassword } from "./administration/unreachable.ts";
import { vendorSubcommands } from "./administration/vendors.ts";
import { webhookSubcommands } from "./administration/webhooks.ts";
import { readInstance } from "./supervisor/environment.ts";
import { keyFiles } from "./supervisor/keys.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

const subcommands: Record<string, Subcommand> = {
  ...tenantSubcommands,
  ...partnerSubcommands,
  ...partnerSecretSubcommands,
  ...partnerWebhookSubcommands,
  ...vendorSubcommands,
  ...reconcileSubcommands,
  ...operatorSubcommands,
  ...keySubcommands,
  ...deadLetterSubcommands,
  ...checkSubcommands,
  ...auditSubcommands,
  ...metricsSubcommands,
  ...webhookSubcommands,
};

const linesOf = (some: Record<string, Subcommand>): string =>
  Object.values(some)
    .map(({ usage, summary }) => `  ${usage}\n      ${summary}`)
    .join("\n");

const frame = (
  purpose: string,
  some: Record<string, Subcommand>,
): string => `Usage: scripts/admin <command> [options]
${purpose}
${linesOf(some)}

  --data <folder>  of the instance (default .data); NATS_URL and MONGODB_URL, when set, name its servers instead, and
                   SEAL_KEY_FILE its sealing key, OPERATOR_ISSUER its issuer
  --json           prints the answer as JSON
  --help           this text; after a command, of this one alone

Exit code: 0 done, 1 refused or not reachable, 2 not understood.`;

/** Of the command that these words name, or of all that begin with them; of everything where they name none. */
function helpFor(words: readonly string[]): string {
  const named = Object.entries(subcommands).filter(([name]) =>
    words.every((word, i) => name.split(" ")[i] === word),
  );
  if (words.length > 0 && named.length > 0) return frame("", Object.fromEntries(named));
  return frame(
    "\nProvisions airlines, partners, vendors and operators, and looks after keys and dead letters, at the running instance.\n",
    subcommands,
  );
}

class UsageError extends Error {}

async function main(args: string[]): Promise<boolean> {
  if (args.includes("--help") || args.length === 0) {
    console.log(helpFor(args.filter((word) => !word.startsWith("-")).slice(0, 2)));
    return true;
  }
  const words = subcommands[args[0] ?? ""] === undefined ? 2 : 1;
  const name = args.slice(0, words).join(" ");
  const subcommand = subcommands[name];
  if (subcommand === undefined)
    throw new UsageError(`there is no command '${name}': see scripts/admin --help`);
  const { values, positionals } = parseArgs({
    args: args.slice(words),
    options: {
      data: { type: "string", default: ".data" },
      json: { type: "boolean", default: false },
      ...subcommand.options,
    },
    allowPositionals: true,
  });
  const instance = () => readInstance(String(values.data));
  const opened = reachOf({
    natsUrl: () => process.env.NATS_URL || instance().natsUrl,
    mongodbUrl: () => process.env.MONGODB_URL || instance().mongodbUrl,
    sealKeyFile: () => process.env.SEAL_KEY_FILE || join(instance().keysDir, keyFiles.seal),
    operatorIssuer: () => process.env.OPERATOR_ISSUER || instance().operatorIssuer,
  });
  try {
    const { json, text, failed = false } = await subcommand.run(values, positionals, opened.reach);
    console.log(values.json === true ? JSON.stringify(json, null, 2) : text);
    return !failed;
  } finally {
    await opened.close();
  }
}

/** Where the instance's servers are, looked up when they are needed. */
interface Addresses {
  natsUrl(): string;
  mongodbUrl(): string;
  sealKeyFile(): string;
  operatorIssuer(): string;
}

/** Opens each at most once. */
function reachOf({ natsUrl, mongodbUrl, sealKeyFile, operatorIssuer }: Addresses): {
  reach: Reach;
  close(): Promise<void>;
} {
  let client: Promise<InstanceClient> | undefined;
  let streams: Promise<Streams> | undefined;
  let documents: Promise<{ mongodb: MongoClient; databasePrefix: string }> | undefined;
  return {
    reach: {
      client: () => {
        // Loaded when needed: the broker alone takes longer to load than all the rest.
        client ??= import("./administration/client.ts").then(({ openClient }) => openClient(natsUrl()));
        return client;
      },
      streams: () => {
        streams ??= openStreams(natsUrl(), "admin").catch((error) => {
          throw unreachable(natsUrl(), error);
        });
        return streams;
      },
      documents: () => {
        documents ??= openDocumentServer(mongodbUrl());
        return documents;
      },
      sealKey: async () => {
        const { ConfigError, readSealKey } = await import("../config/config.ts");
        try {
          return readSealKey(sealKeyFile());
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          throw new StartFailure(`${error.message}; --no-vendors leaves out what needs it`);
        }
      },
      operatorIssuer,
    },
    close: async () => {
      const closing = [client, streams, documents?.then(({ mongodb }) => mongodb)].map(async (opening) =>
        (await opening)?.close(),
      );
      await Promise.allSettled(closing);
    },
  };
}

async function openDocumentServer(url: string): Promise<{ mongodb: MongoClient; databasePrefix: string }> {
  const [{ MongoClient }, { Environment }] = await Promise.all([
    import("mongodb"),
    import("../config/config.ts"),
  ]);
  const mongodb = new MongoClient(url, { serverSelectionTimeoutMS: 5000, appName: "stopover-admin" });
  try {
    await mongodb.connect();
  } catch (error) {
    const reason = (error as Error).message;
    throw new StartFailure(
      `no document server answers at ${withoutPassword(url)} (${reason}): is the instance running?`,
    );
  }
  const { default: usual } = Environment.properties.DATABASE_PREFIX as { default?: string };
  return { mongodb, databasePrefix: process.env.DATABASE_PREFIX || (usual ?? "stopover") };
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
