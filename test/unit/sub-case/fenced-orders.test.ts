// Whom a group's lock keeps from its rides: one ride by itself, and those that are asked for a case's groups.
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { transportActor } from "../../../actors/transport/service.ts";
import type { Command, Principal } from "../../../schemas/command.ts";
import type { LockedGroup } from "../../../schemas/lock.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { RideParty } from "../../../schemas/transport.ts";
import { received, system } from "../../harness/given.ts";
import { Depot, idOfGroup, orderOf, referenceOf, transferRules } from "../transport/depot.ts";
import { lockLeaseMs } from "./group-story.ts";
import { bo, cy, lapsesAt, leaseSeconds } from "./lock-story.ts";

const lock = { lockedBy: bo.urn, fencingToken: 7, expiresAt: lapsesAt.toISOString() };
const [locked, stale] = ["conflict/sub-case-locked", "conflict/stale-fencing-token"];
const soon = { scheduledAt: "2026-11-21T23:00:00.000Z", reason: "Snow" };
const party: RideParty = {
  subCaseId: idOfGroup(1),
  groupId: "G1",
  reference: referenceOf(1),
  order: orderOf(1),
};

const refusalOf = async (work: () => unknown): Promise<Problem | undefined> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

/** A group that is driven to its hotel and back, booked at the vendor. */
const driven = async () => {
  const depot = new Depot();
  depot.order(1);
  await depot.settle();
  const state = depot.transfers.get(idOfGroup(1));
  const segmentId = depot.segment(1, "AIRPORT_TO_HOTEL")?.segmentId;
  if (state === undefined || segmentId === undefined) throw new Error("nobody drives the group");
  return { state, segmentId, now: depot.now };
};

t.test("each change of a ride by hand", async (t) => {
  const { state, segmentId, now } = await driven();
  t.ok(now < lapsesAt, "the lock is live still");
  const writes: [string, object, string][] = [
    ["create-segment", { direction: "HOTEL_TO_AIRPORT", ...soon }, "segment.planned"],
    ["retime-segment", { segmentId, ...soon }, "segment.sought"],
    ["change-vehicle", { segmentId, vehicleType: "PRIVATE_CAR", reason: "A dog" }, "segment.sought"],
    ["cancel-segment", { segmentId, reason: "A taxi" }, "segment.cancelled"],
  ];
  const rows: [string, Principal, number | undefined, boolean, string | undefined][] = [
    // who, with which token, whether somebody holds a lock: what it is refused with
    ["another", cy, undefined, true, locked],
    ["another, with the holder's token", cy, 7, true, locked],
    ["its holder, without a token", bo, undefined, true, undefined],
    ["its holder, with the token", bo, 7, true, undefined],
    ["its holder, with an older token", bo, 6, true, stale],
    ["a token where nobody holds one", bo, 7, false, stale],
    ["where nobody holds one", cy, undefined, false, undefined],
    ["the service itself", system, undefined, true, undefined],
  ];
  const sent = (verb: string, data: object, more: Partial<Received>): Received =>
    received(`transport.${verb}`, data, { entity: idOfGroup(1), now, ...more });
  for (const [verb, data, begins] of writes) {
    for (const [who, principal, fencingToken, isHeld, expected] of rows) {
      const token = fencingToken === undefined ? {} : { fencingToken };
      const desk = { caseIsClosed: false, party, ...(isHeld ? { lock } : {}) };
      let types: string[] = [];
      const refusal = await refusalOf(() => {
        types = transferRules
          .decide(state, sent(verb, data, { principal, ...token }), desk)
          .map(({ type }) => type);
      });
      t.equal(refusal?.code, expected, `${verb}: ${who}`);
      t.equal(types.includes(begins), expected === undefined, `${verb}: ${who}: what is done`);
      if (expected === locked) t.match(refusal?.members, { lockedBy: bo.urn, expiresInSeconds: /^\d+$/ });
    }
    const late = sent(
      verb,
      { ...data, scheduledAt: "2026-11-22T09:00:00.000Z" },
      { principal: cy, now: lapsesAt },
    );
    t.ok(
      transferRules.decide(state, late, { caseIsClosed: false, party, lock }).length > 0,
      `${verb}: lapsed`,
    );
  }
  const cancel = sent("cancel-segment", { segmentId, reason: "A taxi" }, { principal: bo });
  const gone = transferRules
    .decide(state, cancel, { caseIsClosed: false, lock })
    .reduce(transferRules.evolve, state);
  const again = { ...cancel, id: "once more", principal: cy };
  t.same(transferRules.decide(gone, again, { caseIsClosed: false, lock }), [], "what was done already");
});

/** What the transport actor asks others, and what it sends to its groups. @param locks of the case */
const transport = (locks: LockedGroup[]) => {
  const sent: Command[] = [];
  const asked: string[] = [];
  const answers: Record<string, unknown> = {
    "case.head": { status: "OPEN" },
    "case.is-closed": false,
    "sub-case.ride-parties": [1, 2, 3].map((group) => ({
      subCaseId: idOfGroup(group),
      groupId: `G${group}`,
      reference: referenceOf(group),
      order: orderOf(group),
    })),
    "sub-case.locks": locks,
    "sub-case.standing": { status: "RESOLVED", settled: false, lock },
  };
  const context = {
    config: { STEP_DEADLINE_MS: 30_000 },
    clock: { now: () => new Date(lapsesAt.getTime() - lockLeaseMs) },
    call: async (action: string) => {
      asked.push(action);
      return answers[action];
    },
    streams: {
      jetstream: {
        publish: async (_: string, payload: string) => ({ seq: sent.push(JSON.parse(payload) as Command) }),
      },
    },
  } as unknown as ActorContext;
  return { actor: transportActor(context), sent, asked };
};

t.test(
  "rides for a case's groups: others' cannot be named, the whole case is stopped by no lock",
  async (t) => {
    const locks = [
      { groupId: "G1", ...lock },
      { groupId: "G2", ...lock, lockedBy: cy.urn, fencingToken: 4 },
    ];
    const caseUrn = "urn:case:XN-01KAMVW9G0CASECASECASECASE";
    const rows: [string, string[] | undefined, number | undefined, string | undefined][] = [
      ["another's group", ["G1", "G3"], undefined, locked],
      ["another's group, with a token of one's own", ["G1", "G2", "G3"], 4, locked],
      ["one's own", ["G2", "G3"], undefined, undefined],
      ["one's own, with the token", ["G2", "G3"], 4, undefined],
      ["one's own, with an older token", ["G2", "G3"], 3, stale],
      ["free, with the token of another group", ["G3"], 4, stale],
      ["the whole case", undefined, undefined, undefined],
      ["the whole case, with a token of one's own", undefined, 4, undefined],
      ["the whole case, with another's token", undefined, 7, stale],
    ];
    for (const [what, groupIds, fencingToken, expected] of rows) {
      const { actor, sent } = transport(locks);
      const token = fencingToken === undefined ? {} : { fencingToken };
      const data = { caseUrn, ...(groupIds === undefined ? {} : { groupIds }), ...token };
      const command = received("transport.request-transfers", data, { principal: cy, ...token });
      const dispatch = () => Promise.reject(new Error("nothing is decided here"));
      const refusal = await refusalOf(() => actor.commands?.["request-transfers"]?.(command, dispatch));
      t.equal(refusal?.code, expected, what);
      if (expected === locked)
        t.match(refusal?.members, { lockedBy: bo.urn, expiresInSeconds: leaseSeconds });
      t.equal(sent.length, expected === undefined ? 3 : 0, `${what}: what is sent`);
      for (const { name, principal, data, fencingToken } of sent)
        t.strictSame(
          [name, principal.urn, data, fencingToken],
          ["transport.request-transfer", cy.urn, {}, undefined],
          "no token goes on to groups that it is not for",
        );
    }
  },
);

t.test("what is read for a person's command", async (t) => {
  const { state, segmentId } = await driven();
  for (const [verb, expected] of [
    ["retime-segment", lock],
    ["create-segment", lock],
    ["request-transfer", undefined],
  ] as const) {
    const { actor, asked } = transport([]);
    const command = received(`transport.${verb}`, { segmentId }, { principal: cy, entity: idOfGroup(1) });
    const gathered = await actor.deciders[0]?.gather?.(command, state);
    t.same((gathered as { lock?: object }).lock, expected, verb);
    t.equal(asked.includes("sub-case.standing"), expected !== undefined);
  }
});
