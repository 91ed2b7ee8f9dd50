/** Owns what a vendor's configuration must be; keeping it is for `instances.ts`. Pure. */
import { directVendor } from "../../schemas/contract.ts";
import { drillVendor } from "../../schemas/drill.ts";
import { Problem } from "../../schemas/problems.ts";
import { byHandVendor } from "../../schemas/reservation.ts";
import { smtpVendor } from "../../schemas/vendor-call.ts";
import { dialects } from "./dialects.ts";

/** The whole of it: what an earlier one had and this one doesn't is gone. */
export interface PutVendor {
  /** Part of subjects: lower case letters, digits and dashes. */
  name: string;
  dialect: string;
  baseUrl: string;
  apiKey: string;
  /** Where the dialect has a second one. */
  apiSecret?: string;
  /** What the vendor signs with that it sends us; absent: nothing that comes in its name is believed. */
  webhookSecret?: string;
  /** As the dialect names them. */
  account?: Readonly<Record<string, string>>;
  /** Of a vendor that is polled: 5–60, between two reconciliations (contract, "Vendor reconciliation polling"). */
  reconcileMinutes?: number;
  /** 1–10,000, from each process; absent: as many as there are. */
  callsPerSecond?: number;
}

const vendorName = /^[a-z][a-z0-9-]{0,30}$/;
/** The last would be this actor's own subject. */
const taken: ReadonlySet<string> = new Set([directVendor, byHandVendor, drillVendor, smtpVendor, "adapter"]);
const webhookSecretCharactersMin = 16;
const sendable = /^[\x21-\x7e]+$/;

const wrong = (pointer: string, detail: string, rule: string): Problem =>
  new Problem("validation/body", rule, { errors: [{ pointer, detail }] });

const isWholeWithin = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

/**
 * What is kept of it: the secrets apart from all else.
 * @throws Problem `validation/body`, with the member that is wrong
 */
export const checkedVendor = (put: PutVendor) => {
  const { name, baseUrl, apiKey, apiSecret, webhookSecret, reconcileMinutes, callsPerSecond } = put;
  if (!vendorName.test(name) || taken.has(name)) {
    const rule = `A vendor's name is lower case letters, digits and dashes, and not ${[...taken].join(", ")}.`;
    throw wrong("/name", "not a vendor name", rule);
  }
  const known = Object.hasOwn(dialects, put.dialect) ? dialects[put.dialect] : undefined;
  if (known === undefined) {
    throw wrong("/dialect", "not a known dialect", `Known dialects are ${Object.keys(dialects).join(", ")}.`);
  }
  for (const [member, secret] of Object.entries({ apiKey, apiSecret, webhookSecret })) {
    if (secret !== undefined && !sendable.test(secret)) {
      const rule = "A key is sent in a header: printable ASCII, no blanks or line ends.";
      throw wrong(`/${member}`, "not a key that can be sent", rule);
    }
  }
  if ((apiSecret !== undefined) !== (known.apiSecret !== undefined)) {
    const rule = `The dialect ${put.dialect} ${known.apiSecret ? "needs a secret beside the key" : "has a key alone, and no secret"}.`;
    throw wrong("/apiSecret", known.apiSecret ? "missing" : "not used by this dialect", rule);
  }
  if (apiSecret !== undefined && apiSecret.length < (known.apiSecretCharactersMin ?? 1)) {
    const rule = "Whoever guesses the secret can sign in the airline's name.";
    throw wrong("/apiSecret", `shorter than ${known.apiSecretCharactersMin} characters`, rule);
  }
  if (webhookSecret !== undefined && known.inbound === undefined) {
    const rule = `A vendor of the dialect ${put.dialect} sends no webhooks.`;
    throw wrong("/webhookSecret", "not used by this dialect", rule);
  }
  if (webhookSecret !== undefined && webhookSecret.length < webhookSecretCharactersMin) {
    const rule = "Whoever guesses the secret of its webhooks can write in the vendor's name.";
    throw wrong("/webhookSecret", `shorter than ${webhookSecretCharactersMin} characters`, rule);
  }
  if (reconcileMinutes !== undefined && !isWholeWithin(reconcileMinutes, 5, 60)) {
    const rule = "A vendor is reconciled with every 5 to 60 minutes.";
    throw wrong("/reconcileMinutes", "not a whole number from 5 to 60", rule);
  }
  if (callsPerSecond !== undefined && !isWholeWithin(callsPerSecond, 1, 10_000)) {
    const rule = "A vendor is called 1 to 10,000 times a second.";
    throw wrong("/callsPerSecond", "not a whole number from 1 to 10,000", rule);
  }
  const account = checkedAccount(put.dialect, put.account ?? {});
  return {
    name,
    secrets: {
      apiKey,
      ...(apiSecret !== undefined && { apiSecret }),
      ...(webhookSecret !== undefined && { webhookSecret }),
    },
    settings: {
      dialect: put.dialect,
      kind: known.kind,
      baseUrl: baseUrl.replace(/\/+$/, ""),
      ...(Object.keys(account).length > 0 && { account }),
      ...(reconcileMinutes !== undefined && { reconcileMinutes }),
      ...(callsPerSecond !== undefined && { callsPerSecond }),
    },
  };
};

const checkedAccount = (
  dialect: string,
  account: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  const known = dialects[dialect]?.account ?? {};
  const names = Object.keys(known);
  for (const [name, value] of Object.entries(account)) {
    const setting = Object.hasOwn(known, name) ? known[name] : undefined;
    if (setting === undefined) {
      const rule = `An account of the dialect ${dialect} has ${names.length > 0 ? names.join(", ") : "no settings"}.`;
      throw wrong(`/account/${name}`, "not a setting of this dialect", rule);
    }
    const isOfForm = typeof value === "string" && setting.pattern.test(value);
    if (!isOfForm || (setting.isUrl && !URL.canParse(value))) {
      throw wrong(`/account/${name}`, "not of its form", `${name}: ${setting.description}.`);
    }
  }
  const missing = names.find((name) => known[name]?.required && account[name] === undefined);
  if (missing !== undefined) {
    throw wrong(`/account/${missing}`, "missing", `${missing}: ${known[missing]?.description}.`);
  }
  return account;
};
