// The subcommand that checks a delivery as a partner's receiver does. Needs no instance; the secret is never an argument, nor shown.
import { verifyWebhook } from "../../schemas/webhook-signature.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { bytesIn, needed, type Subcommand, secretIn, type Values } from "./subcommand.ts";
import { facts } from "./table.ts";

export const webhookSubcommands: Record<string, Subcommand> = {
  "webhook verify": {
    usage:
      "webhook verify --secret-file <file> [--previous-secret-file <file>] --header '<name>: <value>'… --body-file <file> [--at <time>]",
    summary:
      "says whether a delivery is genuine, or why not; the body as it arrived, the clock as of --at (ISO 8601, default now)",
    options: {
      "secret-file": { type: "string" },
      "previous-secret-file": { type: "string" },
      header: { type: "string", multiple: true },
      "body-file": { type: "string" },
      at: { type: "string" },
    },
    async run(values) {
      const verdict = verifyWebhook({
        headers: headersOf(values),
        rawBody: bytesIn(needed(values, "body-file")),
        secrets: {
          current: secretIn(needed(values, "secret-file")),
          previous:
            values["previous-secret-file"] === undefined
              ? undefined
              : secretIn(needed(values, "previous-secret-file")),
        },
        nowMs: timeOf(values),
      });
      const text = verdict.verified
        ? facts({
            verdict: "genuine",
            event: verdict.eventUrn,
            secret: verdict.by.secret,
            header: verdict.by.header,
          })
        : facts({ verdict: "refused", reason: verdict.reason, detail: verdict.detail });
      return { json: verdict, text, failed: !verdict.verified };
    },
  },
};

const headersOf = (values: Values): Record<string, string> =>
  Object.fromEntries(
    ((values.header as string[] | undefined) ?? []).map((line) => {
      const [, name, value] = /^([^:\s]+):\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        throw new StartFailure("--header takes '<name>: <value>'");
      return [name, value];
    }),
  );

const timeOf = (values: Values): number => {
  if (values.at === undefined) return Date.now();
  const at = Date.parse(needed(values, "at"));
  if (Number.isNaN(at)) throw new StartFailure("--at takes a time such as 2026-11-21T20:00:00Z");
  return at;
};
