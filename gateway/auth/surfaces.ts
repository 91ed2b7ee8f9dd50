/** Owns which keys and which verifier belong to which surface: none is ever shown another's token or given another's key. */
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { Verifiers } from "../checks/authenticate.ts";
import { type IssuerKeys, openIssuerKeys } from "./issuer-keys.ts";
import { type KeyRing, openKeyRing } from "./key-ring.ts";
import { createOperatorVerifier } from "./operator-token.ts";
import { createPartnerVerifier } from "./partner-token.ts";
import { createPassengerVerifier } from "./passenger-token.ts";

export interface SurfaceKeys {
  operator: IssuerKeys;
  partner: KeyRing;
  passenger: KeyRing;
  close(): void;
}

/** Follows the key files until it is closed. @throws ConfigError naming the setting whose file is of no use */
export const openSurfaceKeys = (config: Config, log: Logger): SurfaceKeys => {
  const opened: { close(): void }[] = [];
  const close = (): void => {
    for (const one of opened) one.close();
  };
  const kept = <Keys extends { close(): void }>(keys: Keys): Keys => {
    opened.push(keys);
    return keys;
  };
  const { PARTNER_SIGNING_KEY_FILE: partnerFile, PASSENGER_SIGNING_KEY_FILE: passengerFile } = config;
  try {
    return {
      partner: kept(openKeyRing("PARTNER_SIGNING_KEY_FILE", partnerFile, "RS256", log)),
      passenger: kept(openKeyRing("PASSENGER_SIGNING_KEY_FILE", passengerFile, "EdDSA", log)),
      operator: kept(openIssuerKeys(config, log)),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
};

export const createVerifiers = (config: Config, keys: SurfaceKeys, now: () => Date): Verifiers => ({
  operator: createOperatorVerifier(config, keys.operator, now),
  passenger: createPassengerVerifier(config, keys.passenger, now),
  partner: createPartnerVerifier(config, keys.partner, now),
});
