// A night for the live channel: two gateways, cases that stand, and what its stories do again and again. The stories are the tests'.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CryptoKey, importJWK } from "jose";
import type { Test } from "tap";
import type { CaseView, ManifestItem } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import {
  type ConnectLive,
  type ConnectOptions,
  type LiveClient,
  Refusal,
} from "../../scripts/soaking/live-client.ts";
import { entriesOf, untold, wrongIn } from "../../scripts/soaking/live-told.ts";
import { keyFiles } from "../../scripts/supervisor/keys.ts";
import { mintOperatorToken } from "../../scripts/supervisor/operator-token.ts";
import { claims, operatorToken } from "../contract/gateway/fixture.ts";
import { startClients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";

export const startLiveNight = async (t: Test) => {
  const night = await startClients(t, {
    settings: { LIVE_BEAT_MS: "200", SWEEP_INTERVAL_MS: "1000", STEP_DEADLINE_MS: "1500" },
    services: [{}, { ROLE: "gateway" }],
  });
  const [xn, qz] = night.airlines;
  const [, gateway] = night.services;
  const [first, second] = night.services.map(({ url }) => url) as [string, string];
  const admin = await night.operatorToken(xn.urn, "ADMIN");
  const operator = (sub: string, role = "AIRPORT_OPERATOR", airport?: string, airline = xn) =>
    mintOperatorToken(night.instance, { airline: airline.urn, role, sub, airport });
  const jwk = JSON.parse(readFileSync(join(night.instance.keysDir, keyFiles.operator), "utf8"));
  const issuer = {
    keys: { operator: (await importJWK(jwk, "RS256")) as CryptoKey } as never,
    config: {
      OPERATOR_ISSUER: night.instance.operatorIssuer,
      OPERATOR_AUDIENCE: "stopover-operator",
    } as never,
  };
  /** Good for as many seconds; none: over already. */
  const shortLived = (sub: string, seconds: number): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const own = { [`${claims}/airline`]: xn.urn, [`${claims}/operator_urn`]: `urn:user:${sub}` };
    return operatorToken(
      issuer,
      "AIRPORT_OPERATOR",
      { sub, ...own, iat: now - 60, exp: now + seconds },
      { kid: jwk.kid },
    );
  };

  const push = async (name: string, airline = xn, airport = "JFK"): Promise<string> => {
    const body = smallFlight(airline.code, name, 2);
    return (await night.push(airline, { ...body, flight: { ...body.flight, originAirport: airport } }))
      .caseUrn;
  };
  const detail = async (caseUrn: string): Promise<CaseView> =>
    (await night.call<CaseView>("getCase", { token: admin, params: { caseUrn } })).body;
  const settled = (caseUrn: string): Promise<CaseView> =>
    night.eventually(
      "its offers are ready",
      () => detail(caseUrn),
      ({ passengerGroups }) =>
        passengerGroups.length === 2 &&
        passengerGroups.every(({ operationalStatus }) => operationalStatus === "OFFER_READY"),
    );
  const groupsOf = async (caseUrn: string): Promise<ManifestItem[]> =>
    (await night.call<Page<ManifestItem>>("getManifest", { token: admin, params: { caseUrn } })).body.items;
  const lock = (token: string, subCaseUrn: string, baseUrl = first) =>
    night.call("lockSubCase", { token, params: { subCaseUrn }, baseUrl });
  const close = (caseUrn: string) =>
    night.call("closeCase", { token: admin, params: { caseUrn }, body: { reason: "All are housed" } });
  const reopen = (caseUrn: string) =>
    night.call("reopenCase", { token: admin, params: { caseUrn }, body: { reason: "Not all, after all" } });
  /** Until all of it is told: a late client is told the same. */
  const toggled = async (caseUrn: string, times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      await close(caseUrn);
      await reopen(caseUrn);
    }
  };

  const open: LiveClient[] = [];
  t.teardown(() => {
    for (const client of open) client.drop();
  });
  const enter = async (connect: ConnectLive, options: ConnectOptions): Promise<LiveClient> => {
    const client = await connect(options);
    open.push(client);
    await client.until("session:ready");
    return client;
  };
  /** Each change of the case from a place of the log on, once and in order. The test's own reader of the log may be behind its clients. */
  const hasHeardAll = (caseUrn: string, who: string, from: string, events: () => LiveClient["events"]) => {
    const compared = async () => {
      const entries = entriesOf(night.events.all, caseUrn);
      const { faults, last } = wrongIn(entries, from, events());
      return { faults, lacking: untold(entries, last).length };
    };
    return night.eventually(
      `${who} has heard each change once`,
      compared,
      ({ faults, lacking }) => faults.length + lacking === 0,
    );
  };
  return {
    ...night,
    ...{ xn, qz, first, second, gateway, admin },
    ...{ operator, shortLived, push, settled, groupsOf, lock, close, reopen, toggled, enter, hasHeardAll },
  };
};

export const refusalOf = async (t: Test, connecting: Promise<unknown>): Promise<Refusal> => {
  const error = await connecting.then(
    () => new Error("it was let in"),
    (error: unknown) => error,
  );
  if (!(error instanceof Refusal)) throw error;
  t.ok(error, error.message);
  return error;
};
