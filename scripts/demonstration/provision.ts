/** Owns what the demo sets up before the disruption: two airlines with policies, vendors and a partner each. */
import type { RegisteredPartner } from "../../schemas/partner-registration.ts";
import type { PolicyBody } from "../../schemas/policy.ts";
import type { InstanceClient } from "../administration/client.ts";
import type { SandboxVendor } from "../sandbox/remote-part.ts";
import { type Instance, readInstance } from "../supervisor/environment.ts";
import { mintOperatorToken } from "../supervisor/operator-token.ts";
import { type Answer, expectStatus, request } from "./http.ts";

export interface DemoAirline {
  urn: string;
  code: string;
  name: string;
  passengerBaseUrl: string;
  passengerHost: string;
  partners: {
    clientId: string;
    clientSecret: string;
    scopes: string[];
    tier: number;
    webhookUrl: string;
    webhookSecret: string;
  }[];
}

const airlines = [
  { code: "XN", name: "Northern Cross", homeCountry: "US", passengerHost: "xn.passengers.example" },
  { code: "QZ", name: "Quetzal Air", homeCountry: "MX", passengerHost: "qz.passengers.example" },
] as const;

const scopes = [
  "cases.read",
  "cases.events.subscribe",
  "bookings.read",
  "vouchers.read",
  "disruptions.events.subscribe",
  "disruptions.events.publish",
  "policies.read",
  "metrics.read",
  "passenger.notify",
  "cases.priority.request",
  "wallet.events.subscribe",
];

const shared = {
  mode: "ON_DEMAND",
  autoApproveDemand: true,
  maxAutomaticRoomsPerWave: 400,
  incrementalRequiresApproval: true,
  buffers: { lateCheckoutMinutes: 60, earlyCheckInMinutes: 60 },
  transport: {
    mode: "SHUTTLE",
    perTier: { BUSINESS: "PRIVATE_CAR", FIRST: "PRIVATE_CAR" },
    minutesBeforePickup: 180,
    shuttleCapacity: 24,
  },
  maxOccupancy: 2,
} as const;

/** Crew anywhere, and everybody else at JFK. */
export const demoPolicies = (airline: string): PolicyBody[] => [
  {
    ...shared,
    name: "Stranded passengers at JFK",
    context: { airport: "JFK", airline },
    tiers: ["ECONOMY", "PREMIUM_ECONOMY"],
    constraints: {
      minStars: 2,
      maxDistanceKm: 45,
      maxNightlyRate: 320,
      requiredAmenities: ["24H_RECEPTION"],
      acceptedPayments: ["GUARANTEE", "CARD"],
    },
    incidentalsMinor: 2500,
  },
  {
    ...shared,
    name: "Business and first at JFK",
    context: { airport: "JFK", airline },
    tiers: ["BUSINESS", "FIRST"],
    constraints: {
      minStars: 4,
      maxDistanceKm: 45,
      maxNightlyRate: 520,
      acceptedPayments: ["GUARANTEE", "CARD"],
    },
    incidentalsMinor: 6000,
  },
  {
    ...shared,
    name: "Crew, anywhere",
    context: { airline },
    tiers: ["CREW"],
    constraints: {
      minStars: 3,
      maxDistanceKm: 45,
      maxNightlyRate: 400,
      acceptedPayments: ["GUARANTEE", "CARD"],
    },
    incidentalsMinor: 2500,
    maxOccupancy: 1,
  },
];

export interface Provisioning {
  instance: Instance;
  dataDir: string;
  client: InstanceClient;
  vendors: SandboxVendor[];
  receiverUrl: string;
}

/** A development token, as `scripts/token` mints it for the instance there. */
export const operatorToken = (dataDir: string, airline: string, role: string): Promise<string> =>
  mintOperatorToken(readInstance(dataDir), { airline, role });

/**
 * Vendors' addresses change with each start of the sandbox, so they are put each time; the rest stands already.
 * @param worksWith the vendors of an airline, by its code; of one that is not named: all
 */
export const putVendors = async (
  { client, vendors }: Provisioning,
  worksWith: Readonly<Record<string, readonly string[]>> = {},
): Promise<void> => {
  for (const { code } of airlines) {
    const own = vendors.filter(
      ({ kind, name }) => kind !== "receiver" && (worksWith[code]?.includes(name) ?? true),
    );
    for (const { kind: _, ...vendor } of own) {
      await client.command("vendor-adapter.put-vendor", {
        tenant: code,
        data: { ...vendor, dialect: vendor.name },
      });
    }
  }
};

/** Settings of the sandbox by which its vendors tell this service what happens. */
export const webhookSettings = (baseUrl: string, vendors: readonly SandboxVendor[]) =>
  Object.fromEntries(
    vendors.flatMap(({ name, webhookSecret: secret }) =>
      secret === undefined
        ? []
        : [[name, { webhooks: [{ url: `${baseUrl}/v1/webhooks/vendors/${name}`, secret }] }]],
    ),
  );

/** Airlines know nothing of each other: all at once. */
export const provisionAirlines = (provisioning: Provisioning): Promise<DemoAirline[]> =>
  Promise.all(airlines.map((airline) => provisionAirline(provisioning, airline)));

const provisionAirline = async (
  provisioning: Provisioning,
  { code, name, homeCountry, passengerHost }: (typeof airlines)[number],
): Promise<DemoAirline> => {
  const { client, instance, receiverUrl } = provisioning;
  await client.command("identity.register-tenant", {
    tenant: code,
    data: { code, name, homeCountry, passengerHosts: [passengerHost] },
  });
  const clientId = `${code}-operations-feed`;
  const webhookUrl = `${receiverUrl}/${clientId}`;
  const registered = await client.command<RegisteredPartner>("identity.register-partner", {
    tenant: code,
    data: {
      clientId: "operations-feed",
      name: `${name} operations feed`,
      scopes,
      tier: 1,
      webhookUrl,
      contact: "operations@example.com",
    },
  });
  await activatePolicies(provisioning, `urn:airline:${code}`);
  const { clientSecret, webhookSecret = "" } = registered;
  return {
    urn: `urn:airline:${code}`,
    code,
    name,
    passengerBaseUrl: instance.baseUrl,
    passengerHost,
    partners: [{ clientId, clientSecret, scopes, tier: 1, webhookUrl, webhookSecret }],
  };
};

/** Through the operator API, as a platform administrator would. */
const activatePolicies = async ({ instance, dataDir }: Provisioning, airline: string): Promise<void> => {
  const token = await operatorToken(dataDir, airline, "ADMIN");
  const post = (path: string, body: unknown): Promise<Answer> =>
    request(instance.baseUrl, { method: "POST", path, token, body });
  for (const policy of demoPolicies(airline)) {
    const created = expectStatus(await post("/v1/policies", policy), 201, "creating a policy");
    const { urn } = created.body as { urn: string };
    expectStatus(
      await post(`/v1/policies/${encodeURIComponent(urn)}/activate`, {}),
      200,
      "activating a policy",
    );
  }
};
