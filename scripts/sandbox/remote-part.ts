/** Owns how the sandbox's first process reaches a vendor that runs in a process of its own, through that one's control address. */
import type { SandboxPart } from "./sandbox-part.ts";

/** A simulated vendor as its clients are to know it. */
export interface SandboxVendor {
  name: string;
  kind: string;
  baseUrl: string;
  apiKey: string;
  /** Where its dialect has a second one. */
  apiSecret?: string;
  /** What it signs its webhooks with; absent: it sends none. */
  webhookSecret?: string;
  /** What else its dialect takes. */
  account?: Record<string, string>;
}

/** What a sandbox process says of itself once it serves: in its ready line, and at `GET /` of its control address. */
export interface Announcement {
  controlUrl: string;
  vendors: SandboxVendor[];
  /** Client ids are appended: `<receiverUrl>/<client id>`. Absent when this process has no receiver. */
  receiverUrl?: string;
}

export const announcementOf = (controlUrl: string, parts: SandboxPart[]): Announcement => {
  const receiver = parts.find((part) => part.kind === "receiver");
  return {
    controlUrl,
    vendors: parts
      .filter((part) => part.kind !== "receiver")
      .map(({ name, kind, baseUrl, apiKey, apiSecret, webhookSecret, account }) => ({
        ...{ name, kind, baseUrl, apiKey },
        ...(apiSecret !== undefined && { apiSecret }),
        ...(webhookSecret !== undefined && { webhookSecret }),
        ...(account !== undefined && { account }),
      })),
    ...(receiver && { receiverUrl: receiver.baseUrl }),
  };
};

const callTimeoutMs = 10_000;

/** The one part that the announced process runs. `stop` ends that process. */
export const remotePart = (announcement: Announcement, stop: () => Promise<void>): SandboxPart => {
  const { controlUrl, receiverUrl } = announcement;
  const own = announcement.vendors[0] ?? {
    name: "receiver",
    kind: "receiver",
    baseUrl: receiverUrl!,
    apiKey: "",
  };
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(controlUrl + path, {
      method,
      signal: AbortSignal.timeout(callTimeoutMs),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw new Error(`${own.name} does not answer`, { cause: error });
    });
    const answer = (await response.json()) as { detail?: string };
    if (response.status === 400) throw new TypeError(answer.detail);
    if (!response.ok) throw new Error(`${own.name} answered ${response.status}`);
    return answer;
  };
  return {
    ...own,
    ledger: () => call("GET", `/ledger/${own.name}`),
    control: async (change) => {
      const settings = (await call("POST", "/control", { [own.name]: change })) as Record<string, unknown>;
      return settings[own.name];
    },
    stay: (marking) => call("POST", `/stay/${own.name}`, marking),
    spend: (spending) => call("POST", `/spend/${own.name}`, spending),
    predict: (prediction) => call("POST", `/predict/${own.name}`, prediction),
    reply: (reply) => call("POST", `/reply/${own.name}`, reply),
    reset: async () => {
      await call("POST", "/reset");
    },
    // Unhealthy is what not answering means here.
    healthy: () =>
      call("GET", "/health").then(
        () => true,
        () => false,
      ),
    stop,
  };
};
