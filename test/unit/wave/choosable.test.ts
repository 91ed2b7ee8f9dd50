// Asking whether a hotel can be chosen for several groups at once: refused as each choice would be, and fenced as one.
import type { Collection, Document } from "mongodb";
import t from "tap";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { choosable } from "../../../actors/wave/choosable.ts";
import { decideWave } from "../../../actors/wave/decide.ts";
import { evolve, type WaveState } from "../../../actors/wave/state.ts";
import type { GroupLock } from "../../../schemas/lock.ts";
import { received, secondsLater, supervisor, trace } from "../../harness/given.ts";
import { group } from "../../harness/group-needs.ts";
import { policy } from "../../harness/policies.ts";
import { airport as jfk, offer } from "../allocation/hotels-at-jfk.ts";

const policies = { ECONOMY: policy({ maxDistanceKm: 20 }) };
const groups = [group("G1"), group("G2")];
const run = received("wave.run", { caseId: "XN-CASE", demandId: "XN-DEMAND" }, { entity: "XN-WAVE" });
const decided = decideWave(run, {
  airport: { code: "JFK", name: "John F Kennedy", ...jfk },
  airlineName: "Xenon",
  passengerHost: "",
  policies,
  vendors: {},
  stays: [{ groups, search: { offers: [offer({ providerHotelId: "near" })], partialFailures: [] } }],
  again: [],
});
const wave = evolve(undefined, decided.event);
const hotelUrn = wave.rankingInputs[0]?.hotelUrn ?? "";
const now = secondsLater(60);

const lock = (lockedBy: string, fencingToken: number): GroupLock => ({
  lockedBy,
  fencingToken,
  expiresAt: secondsLater(600).toISOString(),
});
const ask = (locks: Record<string, GroupLock>, more: object = {}, groupIds = ["G1", "G2"]) => {
  const context = {
    clock: { now: () => now },
    tenants: { byCode: () => undefined },
    call: async (name: string, { params }: { params: { groupIds?: string[]; subCaseId?: string } }) => {
      if (name === "case.allocation-input")
        return {
          airport: "JFK",
          closed: false,
          policies,
          groups: groups.filter(({ groupId }) => params.groupIds?.includes(groupId)),
          again: [],
        };
      const held = Object.entries(locks).find(([groupId]) => params.subCaseId === `XN-SUB-${groupId}`)?.[1];
      return { status: "PENDING", settled: false, ...(held === undefined ? {} : { lock: held }) };
    },
  } as unknown as ActorContext;
  const waves = () => ({ find: () => ({ sort: () => [{}] }) }) as unknown as Collection<Document>;
  const read = () =>
    ({ meta: { _id: "XN-WAVE" }, state: wave }) as { meta: never; state: WaveState; stored: object };
  return choosable(
    context,
    waves,
    read,
  )({
    tenant: "XN",
    principal: supervisor,
    ...trace,
    params: { caseId: "XN-CASE", groupIds, hotelUrn, reason: "Near her" },
    ...more,
  });
};

t.test("each of the groups, by the wave that has looked for it", async (t) => {
  const each = ["G1", "G2"].map((groupId) => ({ groupId, waveId: "XN-WAVE" }));
  t.strictSame(await ask({}), each);
  await t.rejects(ask({}, {}, ["G1", "G9"]), { code: "conflict/state", members: { state: "NOT_ALLOCATED" } });
});

t.test("one token fences the choice for all", async (t) => {
  const mine = lock(supervisor.urn, 7);
  t.equal((await ask({ G1: mine }, { fencingToken: 7 })).length, 2, "the lock of one of them is enough");
  t.equal((await ask({ G1: mine, G2: lock(supervisor.urn, 3) }, { fencingToken: 3 })).length, 2);
  await t.rejects(ask({ G1: mine }, { fencingToken: 6 }), { code: "conflict/stale-fencing-token" });
  await t.rejects(ask({}, { fencingToken: 7 }), { code: "conflict/stale-fencing-token" });
  const others = { G2: lock("urn:user:other", 1) };
  await t.rejects(ask({ G1: mine, ...others }, { fencingToken: 7 }), { code: "conflict/sub-case-locked" });
  await t.rejects(ask(others), { code: "conflict/sub-case-locked" });
});
