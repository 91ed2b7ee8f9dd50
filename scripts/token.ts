// The command `scripts/token`: mints a development token for a running instance, with exactly the claims of the contract.
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { createPartnerSigner } from "../gateway/auth/partner-token.ts";
import { createPassengerSigner } from "../gateway/auth/passenger-token.ts";
import { Problem } from "../schemas/problems.ts";
import { parseUrn, tenantOfId, urn } from "../schemas/urn.ts";
import { roles } from "../schemas/vocabulary.ts";
import { type Instance, readInstance } from "./supervisor/environment.ts";
import { keyFiles } from "./supervisor/keys.ts";
import { mintOperatorToken, signingKeyOf } from "./supervisor/operator-token.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

const help = `Usage: scripts/token <kind> [options]

Prints a development token, alone on the last line, signed with the keys of the instance at --data.

  operator   --airline urn:airline:XN --role ${roles.join("|")}
             [--airport JFK] [--sub <user id>]                 15 minutes
  passenger  --case urn:case:XN-… --group <group id>           7 days
  partner    --client XN-<name>                                1 hour; scopes of the registration, so the
                                                               instance must be running

  --data <folder>  of the instance (default .data)
  --help           this text`;

interface Values {
  airline?: string;
  role?: string;
  airport?: string;
  sub?: string;
  case?: string;
  group?: string;
  client?: string;
}

const minters: Record<string, (instance: Instance, values: Values) => Promise<string>> = {
  operator: operatorToken,
  passenger: passengerToken,
  partner: partnerToken,
};

async function operatorToken(instance: Instance, values: Values): Promise<string> {
  const { airport, sub } = values;
  return mintOperatorToken(instance, {
    airline: needed(values, "airline"),
    role: needed(values, "role"),
    airport,
    sub,
  });
}

async function passengerToken(instance: Instance, values: Values): Promise<string> {
  const caseUrn = needed(values, "case");
  const groupId = needed(values, "group");
  const parsed = parseUrn(caseUrn);
  if (parsed?.kind !== "case" || parsed.tenant === undefined) {
    throw new StartFailure(`--case ${caseUrn}: urn:case:XN-… is needed`);
  }
  const sign = createPassengerSigner(
    { AUTH_URL: instance.authUrl, PASSENGER_AUDIENCE: instance.audiences.passenger },
    () => signingKeyOf(instance, keyFiles.passenger, "EdDSA"),
    () => new Date(),
  );
  const session = {
    sessionId: randomUUID(),
    caseUrn: urn("case", parsed.id),
    groupId,
    tenant: parsed.tenant,
  };
  return (await sign(session)).token;
}

/** Asks the instance for the registration: a token must not hold scopes that the partner doesn't. */
async function partnerToken(instance: Instance, values: Values): Promise<string> {
  const clientId = needed(values, "client");
  const { openClient } = await import("./administration/client.ts");
  const { partnerOf } = await import("./administration/partners.ts");
  const client = await openClient(process.env.NATS_URL || instance.natsUrl);
  try {
    const { partnerUrn, scopes, status } = await partnerOf(client, clientId);
    if (status !== "ACTIVE")
      throw new StartFailure(`${clientId} was begun and never registered: register it again`);
    const sign = createPartnerSigner(
      {
        AUTH_URL: instance.authUrl,
        CLAIM_NAMESPACE: instance.claimNamespace,
        PARTNER_AUDIENCE: instance.audiences.partner,
      },
      () => signingKeyOf(instance, keyFiles.partner, "RS256"),
      () => new Date(),
    );
    return await sign({ clientId, partnerUrn, tenant: tenantOfId(clientId), scopes });
  } finally {
    await client.close();
  }
}

function needed(values: Values, name: keyof Values): string {
  const value = values[name];
  if (value === undefined || value === "") throw new StartFailure(`--${name} is needed`);
  return value;
}

/** What signs at this moment. */

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: {
      data: { type: "string", default: ".data" },
      airline: { type: "string" },
      role: { type: "string" },
      airport: { type: "string" },
      sub: { type: "string" },
      case: { type: "string" },
      group: { type: "string" },
      client: { type: "string" },
      help: { type: "boolean" },
    },
    allowPositionals: true,
  });
  if (values.help) return console.log(help);
  const [kind = ""] = positionals;
  const mint = minters[kind];
  if (mint === undefined) throw new StartFailure(`'${kind}' is no kind of token: see scripts/token --help`);
  console.log(await mint(readInstance(values.data), values));
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const isUsage =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof StartFailure || error instanceof Problem || isUsage)) throw error;
  console.error(`error: ${(error as Error).message}`);
  process.exit(1);
}
