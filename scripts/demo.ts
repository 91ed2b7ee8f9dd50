/** The command `scripts/demo`: one real disruption from a partner's push to the last webhook, with what happened when. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { DisruptionPushBody } from "../schemas/partner-api.ts";
import { openStreams } from "../streams/connection.ts";
import { openClient } from "./administration/client.ts";
import { expectStatus, request } from "./demonstration/http.ts";
import { demoPush } from "./demonstration/manifest.ts";
import { type DemoOperator, provisionOperators } from "./demonstration/operators.ts";
import { decideOffers, travellersOf } from "./demonstration/passengers.ts";
import {
  type DemoAirline,
  provisionAirlines,
  putVendors,
  webhookSettings,
} from "./demonstration/provision.ts";
import { printTimeline, printWebhooks } from "./demonstration/report.ts";
import { Timeline } from "./demonstration/timeline.ts";
import type { SandboxVendor } from "./sandbox/remote-part.ts";
import { type Instance, readInstance } from "./supervisor/environment.ts";
import { keyFiles } from "./supervisor/keys.ts";

export interface DemoOptions {
  instance: Instance;
  dataDir: string;
  sandboxControlUrl: string;
  say(line: string): void;
  signal: AbortSignal;
}

/** What `<data>/demo.json` holds: everything that a client needs to drive the service from outside. */
export interface DemoFile {
  baseUrl: string;
  authUrl: string;
  /** Operators sign in there; `operators` holds what with. */
  operatorIssuer: string;
  claimNamespace: string;
  captcha: string;
  audiences: Instance["audiences"];
  airlines: DemoAirline[];
  operators: DemoOperator[];
  /** `webhookSecret`: what it signs its webhooks with; absent: it sends none. */
  vendors: { name: string; kind: string; webhookSecret?: string }[];
  sandbox: { controlUrl: string };
  demoCase?: { caseUrn: string; subCases: number; pnrs: { pnr: string; lastName: string }[] };
  /** As it was pushed, so that a later run pushes the very same event. */
  push?: DisruptionPushBody;
}

/**
 * Provisions the airlines once, pushes the disruption, plays the passengers. A later run on the same data pushes the
 * same event and finds the same case.
 * @throws Error saying which step didn't go as it should
 */
export const runDemo = async (options: DemoOptions): Promise<void> => {
  const { instance, dataDir, sandboxControlUrl, say, signal } = options;
  const file = join(dataDir, "demo.json");
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as DemoFile) : undefined;
  const client = await openClient(instance.natsUrl);
  const streams = await openStreams(instance.natsUrl, "stopover-demo");
  const timeline = new Timeline();
  try {
    const announced = await fetch(sandboxControlUrl, { signal });
    const { vendors, receiverUrl } = (await announced.json()) as {
      vendors: SandboxVendor[];
      receiverUrl: string;
    };
    const provisioning = { instance, dataDir, client, vendors, receiverUrl };
    const airlines = known?.airlines ?? (await provisionAirlines(provisioning));
    const operators = known?.operators ?? (await provisionOperators(operatorsAt(instance), airlines));
    await putVendors(provisioning);
    await tellSandbox(sandboxControlUrl, webhookSettings(instance.baseUrl, vendors), airlines, signal);
    const airline = airlines[0] as DemoAirline;
    await timeline.watch(streams, airline.code);
    const demo: DemoFile = {
      baseUrl: instance.baseUrl,
      authUrl: instance.authUrl,
      operatorIssuer: instance.operatorIssuer,
      claimNamespace: instance.claimNamespace,
      captcha: instance.captcha,
      audiences: instance.audiences,
      airlines,
      operators,
      vendors: vendors.map(({ name, kind, webhookSecret }) => ({
        ...{ name, kind },
        ...(webhookSecret !== undefined && { webhookSecret }),
      })),
      sandbox: { controlUrl: sandboxControlUrl },
      push: known?.push ?? demoPush(airline.code, new Date()),
    };
    writeDemo(file, demo);
    await play({ ...options, demo, airline, timeline, file, again: known?.demoCase !== undefined });
    say(`everything a client needs is in ${file}`);
  } finally {
    timeline.stop();
    await client.close();
    await streams.close();
  }
};

const operatorsAt = ({ mongodbUrl, keysDir }: Instance) => ({
  mongodbUrl,
  sealKeyFile: join(keysDir, keyFiles.seal),
});

/** It holds secrets: readable by its owner alone. */
const writeDemo = (file: string, demo: DemoFile): void =>
  writeFileSync(file, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 });

/** What the receiver verifies with, and where vendors tell what happens. */
const tellSandbox = async (
  controlUrl: string,
  ofVendors: Record<string, unknown>,
  airlines: DemoAirline[],
  signal: AbortSignal,
): Promise<void> => {
  const secrets = Object.fromEntries(
    airlines.flatMap(({ partners }) =>
      partners.map(({ clientId, webhookSecret }) => [clientId, { current: webhookSecret }]),
    ),
  );
  const answer = await fetch(new URL("/control", controlUrl), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...ofVendors, receiver: { secrets } }),
    signal,
  });
  if (!answer.ok) throw new Error(`the sandbox took no webhooks: ${answer.status}`);
};

interface Playing extends DemoOptions {
  demo: DemoFile;
  airline: DemoAirline;
  timeline: Timeline;
  file: string;
  again: boolean;
}

const play = async (playing: Playing): Promise<void> => {
  const { instance, demo, airline, timeline, say, signal, again, file } = playing;
  const push = demo.push as DisruptionPushBody;
  const token = await partnerToken(instance, airline);
  say(
    `${airline.name} cancels ${push.flight.iataDesignator} at ${push.flight.originAirport}: ${push.passengers.length} passengers`,
  );
  timeline.start();
  const pushed = await request(instance.baseUrl, {
    method: "POST",
    path: "/partner/v1/disruptions",
    token,
    body: push,
  });
  const acceptedMs = timeline.elapsedMs;
  const opened = expectStatus(pushed, 202, "pushing the disruption").body as {
    caseUrn: string;
    subCaseCount: number;
  };
  const travellers = travellersOf(push.passengers);
  writeDemo(file, {
    ...demo,
    demoCase: { caseUrn: opened.caseUrn, subCases: opened.subCaseCount, pnrs: travellers },
  });
  if (again) return say(`the same event finds the same case: ${opened.caseUrn}`);
  const settled = () =>
    timeline.count("subcase.offer-ready") +
    timeline.count("subcase.failed") +
    timeline.count("review.opened");
  await timeline.until(() => settled() >= opened.subCaseCount, signal);
  const offers = timeline.count("subcase.offer-ready");
  const decided = await decideOffers(instance, airline, travellers, 1);
  await timeline.until(() => timeline.count("case.resolved") > 0 || offers < opened.subCaseCount, signal);
  printTimeline(say, timeline, { acceptedMs, ...opened, ...decided });
  await printWebhooks(playing);
};

const partnerToken = async (instance: Instance, { partners }: DemoAirline): Promise<string> => {
  const { clientId, clientSecret } = partners[0] as DemoAirline["partners"][number];
  const answer = await request(instance.authUrl, {
    method: "POST",
    path: "/oauth/token",
    body: {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
      audience: instance.audiences.partner,
    },
  });
  return (expectStatus(answer, 200, "getting a partner token").body as { access_token: string }).access_token;
};

const help = `Usage: scripts/demo [--data .data]

Runs the demo disruption against an instance that was started with scripts/up --demo, and prints its timeline.`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { data: { type: "string", default: ".data" }, help: { type: "boolean", default: false } },
  });
  if (values.help) return console.log(help);
  const instance = readInstance(values.data);
  const { sandbox } = JSON.parse(readFileSync(join(values.data, "demo.json"), "utf8")) as DemoFile;
  await runDemo({
    instance,
    dataDir: values.data,
    sandboxControlUrl: sandbox.controlUrl,
    say: (line) => console.log(line),
    signal: AbortSignal.timeout(120_000),
  });
};

if (import.meta.main) {
  main().catch((error: unknown) => {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  });
}
