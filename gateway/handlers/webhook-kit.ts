/** Owns what is downloaded for what comes unasked: the descriptions of webhooks and live channel, the module that checks deliveries, its test vectors. */
import { readFileSync } from "node:fs";
import { describeWebhooks } from "../asyncapi.ts";
import { describeOperatorChannel } from "../asyncapi-operator.ts";
import type { Handler } from "./handlers.ts";

const source = (name: string): Buffer => readFileSync(new URL(`../../schemas/${name}`, import.meta.url));

/** Each is made, or read, when somebody wants it first; by the id of its row. */
export const createShowWebhookKit = (baseUrl: string): Handler => {
  const make: Readonly<Record<string, () => Buffer>> = {
    showWebhookDescription: () => Buffer.from(JSON.stringify(describeWebhooks(baseUrl.replace(/\/$/, "")))),
    showOperatorChannel: () => Buffer.from(JSON.stringify(describeOperatorChannel(baseUrl))),
    showWebhookSignatureModule: () => source("webhook-signature.ts"),
    showWebhookTestVectors: () => source("webhook-test-vectors.json"),
  };
  const made = new Map<string, Buffer>();
  return async ({ route }) => {
    const body = made.get(route.id) ?? make[route.id]?.();
    if (body === undefined) throw new TypeError(`nothing is kept for ${route.id}`);
    made.set(route.id, body);
    return { status: route.success, headers: route.headers, body };
  };
};
