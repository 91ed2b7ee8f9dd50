// What one instance is called and reached by, and how the service process is told so; what the service makes of it is config/'s.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keyFiles } from "./keys.ts";
import { StartFailure } from "./start-failure.ts";

/** Stands in `<data>/instance.json` while and after an instance runs: what the other scripts need to talk to it. */
export interface Instance {
  baseUrl: string;
  authUrl: string;
  /** Operators sign in there, unless the instance was started without an issuer: then it only names who signs tokens. */
  operatorIssuer: string;
  audiences: { operator: string; passenger: string; partner: string };
  claimNamespace: string;
  errorsBase: string;
  /** Accepted in place of a solved captcha. */
  captcha: string;
  keysDir: string;
  natsUrl: string;
  mongodbUrl: string;
}

/** A development instance at `baseUrl`, with the addresses of the servers behind it. */
export function developmentInstance(place: {
  baseUrl: string;
  dataDir: string;
  natsUrl: string;
  mongodbUrl: string;
  /** The issuer's address; without one there is no signing in, and `scripts/token` mints all tokens. */
  operatorIssuer?: string;
}): Instance {
  return {
    baseUrl: place.baseUrl,
    authUrl: place.baseUrl,
    operatorIssuer: place.operatorIssuer ?? `${place.baseUrl}/oidc`,
    audiences: {
      operator: "stopover-operator",
      passenger: "stopover-passenger",
      partner: "stopover-partner",
    },
    claimNamespace: "https://stopover.example/claims",
    errorsBase: "https://stopover.example/problems",
    captcha: "development-captcha",
    keysDir: join(place.dataDir, "keys"),
    natsUrl: place.natsUrl,
    mongodbUrl: place.mongodbUrl,
  };
}

/** The service's environment (`config/` is its reference): our own, overruled by what the instance settles. */
export function serviceEnvironment(
  instance: Instance,
  place: { host: string; port: number; role: string },
): NodeJS.ProcessEnv {
  const key = (name: string) => join(instance.keysDir, name);
  return {
    ...process.env,
    HOST: place.host,
    PORT: String(place.port),
    ROLE: place.role,
    NATS_URL: instance.natsUrl,
    MONGODB_URL: instance.mongodbUrl,
    BASE_URL: instance.baseUrl,
    AUTH_URL: instance.authUrl,
    CLAIM_NAMESPACE: instance.claimNamespace,
    ERRORS_BASE: instance.errorsBase,
    OPERATOR_AUDIENCE: instance.audiences.operator,
    PASSENGER_AUDIENCE: instance.audiences.passenger,
    PARTNER_AUDIENCE: instance.audiences.partner,
    OPERATOR_ISSUER: instance.operatorIssuer,
    OPERATOR_JWKS: key(keyFiles.operatorJwks),
    PARTNER_SIGNING_KEY_FILE: key(keyFiles.partner),
    PASSENGER_SIGNING_KEY_FILE: key(keyFiles.passenger),
    SEAL_KEY_FILE: key(keyFiles.seal),
    CAPTCHA_DEVELOPMENT_TOKEN: instance.captcha,
    WEBHOOK_ALLOW_LOOPBACK: "true",
  };
}

/** Likewise the environment of the operators' issuer (`config/issuer.ts`). */
export function issuerEnvironment(
  instance: Instance,
  place: { host: string; port: number },
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ISSUER_HOST: place.host,
    ISSUER_PORT: String(place.port),
    OPERATOR_ISSUER: instance.operatorIssuer,
    OPERATOR_AUDIENCE: instance.audiences.operator,
    CLAIM_NAMESPACE: instance.claimNamespace,
    NATS_URL: instance.natsUrl,
    MONGODB_URL: instance.mongodbUrl,
    OPERATOR_SIGNING_KEY_FILE: join(instance.keysDir, keyFiles.operator),
    SEAL_KEY_FILE: join(instance.keysDir, keyFiles.seal),
  };
}

/** Readable by its owner alone: the servers' addresses may hold passwords. */
export function writeInstance(dataDir: string, instance: Instance): void {
  const file = join(dataDir, "instance.json");
  writeFileSync(`${file}.new`, `${JSON.stringify(instance, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** @throws StartFailure when nothing has been started on `dataDir` yet. */
export function readInstance(dataDir: string): Instance {
  const file = join(dataDir, "instance.json");
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Instance;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    throw new StartFailure(
      `nothing has been started on ${dataDir} yet: run scripts/up --data ${dataDir} first`,
    );
  }
}
