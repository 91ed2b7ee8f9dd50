// The rules of subscriptions and of deliveries, with the schedule that these follow: all pure.
import t, { type Test } from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import {
  decideDelivery,
  decideSubscription,
  deliveryOutgoing,
  deliveryTimers,
  subscriptionOutgoing,
} from "../../../actors/webhook/decide.ts";
import { messageOf } from "../../../actors/webhook/message.ts";
import { attemptsMax, retryDelaysMs } from "../../../actors/webhook/schedule.ts";
import {
  type CallResult,
  type DeliveryEvent,
  type DeliveryState,
  evolveDelivery,
  evolveSubscription,
  type SubscriptionEvent,
  type SubscriptionState,
} from "../../../actors/webhook/state.ts";
import { alertChannelView, subscriptionAudit, subscriptionView } from "../../../actors/webhook/view.ts";
import { systemPrincipal } from "../../../schemas/command.ts";
import { Problem, type ProblemCode } from "../../../schemas/problems.ts";
import { dayMs, event, later, now } from "./offer-ready.ts";

const command = (name: string, data: unknown, when: Date = now, entity = "XN-SUB"): Received => ({
  id: "c1",
  name: `webhook.${name}`,
  tenant: "XN",
  entity,
  principal: systemPrincipal("XN", "webhook"),
  correlationUrn: "urn:correlation:c",
  traceparent: "00-0-0-01",
  issuedAt: when.toISOString(),
  data,
  now: when,
});

const refusal = (t: Test, run: () => unknown, code: ProblemCode, pointers: string[] = []): void => {
  try {
    run();
    t.fail(`expected ${code}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    t.equal(error.code, code);
    t.same(
      (error.members.errors ?? []).map(({ pointer }) => pointer),
      pointers,
    );
  }
};

const secret = (name: string) => ({ sealed: `sealed ${name}`, fingerprint: name });
const input = {
  clientId: "XN-tower",
  url: "https://partner.example/hooks",
  scopes: ["vouchers.read", "cases.events.subscribe"],
  secret: secret("one"),
  contact: "ops@partner.example",
};

const decide = decideSubscription({ allowLoopback: false });
const subscriptionAfter = (
  state: SubscriptionState | undefined,
  received: Received,
): { state: SubscriptionState; events: SubscriptionEvent[] } => {
  const events = decide(state, received);
  return { state: events.reduce<SubscriptionState | undefined>(evolveSubscription, state)!, events };
};
const registered = subscriptionAfter(undefined, command("put-subscription", input)).state;

t.test("registering and changing a subscription", async (t) => {
  t.match(registered, { status: "ACTIVE", lastSequence: 0, createdAt: now, secret: secret("one") });
  t.same(registered.scopes, ["cases.events.subscribe", "vouchers.read"], "scopes have one order");
  t.same(decide(registered, command("put-subscription", input)), [], "the same again is nothing");
  const { secret: _, ...rest } = input;
  t.same(decide(registered, command("put-subscription", rest)), [], "no secret keeps the one there is");
  const resealed = { ...input, secret: { ...secret("one"), sealed: "sealed again" } };
  t.same(decide(registered, command("put-subscription", resealed)), [], "sealed anew is no new secret");

  const moved = subscriptionAfter(
    registered,
    command("put-subscription", { ...rest, url: "https://b.example/" }),
  );
  t.equal(moved.state.url, "https://b.example/");
  t.equal(moved.state.secret.fingerprint, "one");

  const refused: [string, object, string[]][] = [
    ["plain http", { url: "http://partner.example/" }, ["/url"]],
    ["a private address", { url: "https://10.1.2.3/" }, ["/url"]],
    ["another airline's client", { clientId: "YY-tower" }, ["/clientId"]],
    ["a client id that breaks consumers' names", { clientId: "XN-to.wer" }, ["/clientId"]],
    ["no contact", { contact: "nobody", url: "ftp://x" }, ["/url", "/contact"]],
    ["no first secret", { secret: undefined }, ["/secret"]],
  ];
  for (const [what, change, pointers] of refused) {
    t.comment(what);
    refusal(
      t,
      () => decide(undefined, command("put-subscription", { ...input, ...change })),
      "validation/body",
      pointers,
    );
  }
  for (const verb of ["pause", "record-test", "note-position"])
    refusal(t, () => decide(undefined, command(verb, {})), "not-found/resource");
});

t.test("rotating the secret opens a dual-key window of 14 days", async (t) => {
  const rotated = subscriptionAfter(
    registered,
    command("put-subscription", { ...input, secret: secret("two") }),
  ).state;
  t.equal(rotated.secret.fingerprint, "two");
  t.same(rotated.previousSecret, { ...secret("one"), until: later(14 * dayMs) });
  const change = { ...input, secret: secret("two"), url: "https://b.example/" };
  const inside = subscriptionAfter(rotated, command("put-subscription", change, later(13 * dayMs))).state;
  t.equal(inside.previousSecret?.fingerprint, "one", "another change keeps the window");
  const outside = subscriptionAfter(rotated, command("put-subscription", change, later(14 * dayMs))).state;
  t.notOk("previousSecret" in outside, "a closed window's secret goes");
  const again = subscriptionAfter(
    rotated,
    command("put-subscription", { ...input, secret: secret("three") }),
  ).state;
  t.equal(again.previousSecret?.fingerprint, "two", "only the last one signs beside the present");
  const view = JSON.stringify([subscriptionView(again, "XN-SUB"), subscriptionAudit(again)]);
  t.notMatch(view, /sealed/, "no view shows a secret");
  t.notMatch(JSON.stringify(subscriptionAudit(again)), /ops@/, "nor an audit entry the contact");
});

t.test("pausing, and resuming by a successful test alone", async (t) => {
  const exhausted = { reason: "DELIVERY_EXHAUSTED", since: now.toISOString(), delivery: "urn:delivery:XN-D" };
  const { state: paused, events } = subscriptionAfter(registered, command("pause", exhausted));
  t.match(paused, { status: "PAUSED", pausedAt: now, pauseReason: "DELIVERY_EXHAUSTED" });
  t.match(
    events.flatMap((event) => subscriptionOutgoing(event, paused, command("pause", {}), "XN-SUB")),
    [
      { to: "internal", type: "webhook.subscription-changed", data: { status: "PAUSED" } },
      {
        to: "internal",
        type: "webhook.paused",
        data: { delivery: "urn:delivery:XN-D", clientId: "XN-tower" },
      },
    ],
  );
  t.same(decide(paused, command("pause", { reason: "OPERATOR" })), [], "once is enough");
  t.equal(
    subscriptionAfter(paused, command("put-subscription", { ...input, url: "https://b.example/" })).state
      .status,
    "PAUSED",
    "a new target alone resumes nothing",
  );

  const tested = (delivered: boolean, when: Date) => ({
    delivered,
    status: delivered ? 200 : 500,
    at: when.toISOString(),
    url: input.url,
  });
  const failed = subscriptionAfter(paused, command("record-test", tested(false, later(1000))));
  t.match(failed.state, { status: "PAUSED", lastTest: { delivered: false, status: 500 } });
  const early = subscriptionAfter(paused, command("record-test", tested(true, later(-1))));
  t.equal(early.state.status, "PAUSED", "a test begun before the pause proves nothing");
  const former = command("record-test", { ...tested(true, later(1000)), url: "https://old.example/" });
  t.equal(decide(paused, former).length, 1, "nor one at a former target");
  const resumed = subscriptionAfter(paused, command("record-test", tested(true, later(1000)), later(2000)));
  t.match(resumed.state, { status: "ACTIVE", resumedAt: later(2000), lastTest: { delivered: true } });
  t.notOk("pausedAt" in resumed.state || "pauseReason" in resumed.state);
  t.same(
    resumed.events.flatMap((event) =>
      subscriptionOutgoing(event, resumed.state, command("record-test", {}), "XN-SUB").map(
        (m) => "type" in m && m.type,
      ),
    ),
    ["webhook.subscription-changed", "webhook.resumed"],
  );
  t.same(
    decide(resumed.state, command("pause", exhausted, later(3000))),
    [],
    "a pause that the resumption has overtaken",
  );
  const active = subscriptionAfter(registered, command("record-test", tested(true, later(1000))));
  t.same(
    active.events.map(({ type }) => type),
    ["subscription.tested"],
    "an active one has nothing to resume",
  );
});

t.test("the position follows the consumer's", async (t) => {
  const noted = subscriptionAfter(registered, command("note-position", { sequence: 7 })).state;
  t.equal(noted.lastSequence, 7);
  t.same(decide(noted, command("note-position", { sequence: 7 })), []);
});

const message = messageOf(event);
const opening = { subscriptionId: "XN-SUB", sequence: 5, caseUrn: event.case_urn, message };
const ok = (when: Date = now): CallResult => ({ at: when.toISOString(), latencyMs: 40, status: 204 });
const bad = (when: Date = now): CallResult => ({
  at: when.toISOString(),
  latencyMs: 40,
  status: 503,
  excerpt: "busy",
});

const deliver = decideDelivery(1);
const deliveryAfter = (
  state: DeliveryState | undefined,
  received: Received,
): { state: DeliveryState; events: DeliveryEvent[] } => {
  const events = deliver(state, received);
  return { state: events.reduce<DeliveryState | undefined>(evolveDelivery, state)!, events };
};
const record = (attempt: number, result: CallResult, more: object = {}) =>
  command(
    "record-attempt",
    { attempt, result, ...more },
    later(result.latencyMs, new Date(result.at)),
    "XN-D",
  );
/** The wake-up that a state asks for. */
const wake = (state: DeliveryState): Received => {
  const [timer] = deliveryTimers(state);
  return command("attempt", { dueAt: timer!.dueAt.toISOString() }, timer!.dueAt, "XN-D");
};

t.test("a first attempt that succeeds leaves a compact record", async (t) => {
  const { state, events } = deliveryAfter(undefined, record(1, ok(), { opening }));
  t.match(state, { status: "DELIVERED", settledAt: later(40), eventUrn: event.urn, sequence: 5 });
  t.notOk("message" in state, "no body is kept");
  t.match(state.attempts, [{ attempt: 1, at: now, status: 204, latencyMs: 40 }]);
  t.same(deliveryTimers(state), []);
  t.same(
    events.flatMap((e) => deliveryOutgoing(e, state, record(1, ok()), "XN-D")),
    [],
  );
  t.same(deliver(state, record(1, bad())), [], "the first record of an attempt made twice stands");
  refusal(t, () => deliver(undefined, record(2, ok())), "not-found/resource");
});

t.test("failures follow the schedule to the end, then pause the subscription", async (t) => {
  let state = deliveryAfter(undefined, record(1, bad(), { opening })).state;
  for (let attempt = 2; attempt <= attemptsMax; attempt++) {
    const failedAt = later(40, state.attempts.at(-1)!.at);
    const [timer] = deliveryTimers(state);
    const share = (timer!.dueAt.getTime() - failedAt.getTime()) / retryDelaysMs[attempt - 2]!;
    t.ok(share >= 0.999 && share <= 1.1, `attempt ${attempt} is due when the contract says`);
    t.same(
      deliver(state, command("attempt", { dueAt: now.toISOString() }, now, "XN-D")),
      [],
      "no other wake-up counts",
    );

    const issued = deliveryAfter(state, wake(state));
    t.equal(issued.state.status, "DUE");
    t.same(
      issued.events.flatMap((e) => deliveryOutgoing(e, issued.state, wake(state), "XN-D")),
      [{ to: "internal", type: "webhook.attempt-due", id: "XN-SUB", data: { deliveryId: "XN-D", attempt } }],
    );
    t.same(deliver(issued.state, wake(state)), [], "the same wake-up again issues nothing");
    const reissued = deliveryAfter(issued.state, wake(issued.state));
    t.match(reissued.events, [{ type: "delivery.attempt-issued", attempt }], "a lost message is healed");

    t.same(deliver(reissued.state, record(attempt - 1, ok())), [], "a late double of an earlier attempt");
    const failed = record(attempt, bad(timer!.dueAt));
    const after = deliveryAfter(reissued.state, failed);
    state = after.state;
    t.equal(state.attempts.length, attempt);
    if (attempt < attemptsMax) {
      t.equal(state.status, "PENDING");
      t.match(state, { message });
      continue;
    }
    t.equal(state.status, "EXHAUSTED");
    t.same(
      after.events.flatMap((e) => deliveryOutgoing(e, state, failed, "XN-D")),
      [
        {
          to: "command",
          name: "webhook.pause",
          entity: "XN-SUB",
          data: {
            reason: "DELIVERY_EXHAUSTED",
            since: later(40, timer!.dueAt).toISOString(),
            delivery: "urn:delivery:XN-D",
          },
        },
      ],
    );
  }
  t.same(deliveryTimers(state), []);
  t.notOk("message" in state || "dueAt" in state || "reissueAt" in state);
});

t.test("a retry may succeed; redirects, timeouts and broken answers don't", async (t) => {
  const pending = deliveryAfter(undefined, record(1, bad(), { opening })).state;
  const due = deliveryAfter(pending, wake(pending)).state;
  const won = deliveryAfter(due, record(2, ok(later(60_000)))).state;
  t.match(won, { status: "DELIVERED", attempts: [{ status: 503 }, { status: 204, attempt: 2 }] });
  const results: [Partial<CallResult>, string][] = [
    [{ status: 200 }, "DELIVERED"],
    [{ status: 299 }, "DELIVERED"],
    [{ status: 199 }, "PENDING"],
    [{ status: 302 }, "PENDING"],
    [{ status: 410 }, "PENDING"],
    [{ status: 500 }, "PENDING"],
    [{ failure: "TIMEOUT" }, "PENDING"],
    [{ failure: "CONNECTION" }, "PENDING"],
    [{ failure: "TARGET_REFUSED" }, "PENDING"],
    [{ status: 200, failure: "ANSWER_TOO_LONG" }, "PENDING"],
    [{ status: 200, failure: "TIMEOUT" }, "PENDING"],
  ];
  for (const [result, status] of results) {
    const full = { at: now.toISOString(), latencyMs: 1, ...result };
    t.equal(
      deliveryAfter(undefined, record(1, full, { opening })).state.status,
      status,
      JSON.stringify(result),
    );
  }
  const asked = deliveryAfter(undefined, record(1, { ...bad(), retryAfterMs: 3_600_000 }, { opening })).state;
  t.same(deliveryTimers(asked), [{ name: "attempt", dueAt: later(3_600_040) }]);
  t.notOk("retryAfterMs" in asked.attempts[0]!, "the log keeps what the brief log has");
});

t.test("a delivery held back beyond the event's own life is given up without a pause", async (t) => {
  let state = deliveryAfter(undefined, record(1, bad(), { opening })).state;
  state = deliveryAfter(state, wake(state)).state;
  let rounds = 0;
  while (deliveryTimers(state).length > 0) {
    state = deliveryAfter(state, wake(state)).state;
    rounds++;
  }
  t.equal(state.status, "EXHAUSTED");
  t.ok(rounds >= 32 && rounds <= 34, `8 days at 4 a day: ${rounds}`);
  t.equal(state.attempts.length, 1);
  t.same(deliveryOutgoing({ type: "delivery.expired", at: now }, state, wake as never, "XN-D"), []);
});

t.test(
  "an airline's alert channel: no partner's name or contact, and never paused for a failure",
  async (t) => {
    const channel = {
      clientId: "alerts_XN",
      kind: "alerts",
      url: input.url,
      scopes: [],
      contact: "",
      secret: secret("a"),
    };
    const decide = decideSubscription({ allowLoopback: false });
    const [registered] = decide(undefined, command("put-subscription", channel));
    const state = evolveSubscription(undefined, registered as SubscriptionEvent);
    t.match(state, { kind: "alerts", status: "ACTIVE", clientId: "alerts_XN" });
    t.same(decide(state, command("put-subscription", channel)), []);
    const wrong: [object, string[]][] = [
      [{ ...channel, clientId: "alerts_QZ" }, ["/clientId"]],
      [{ ...channel, clientId: "XN-tower" }, ["/clientId"]],
      [{ ...channel, kind: undefined }, ["/clientId", "/contact"]],
      [{ ...channel, url: "http://10.0.0.1/" }, ["/url"]],
    ];
    for (const [data, pointers] of wrong)
      refusal(t, () => decide(undefined, command("put-subscription", data)), "validation/body", pointers);
    const exhausted = command("pause", { reason: "DELIVERY_EXHAUSTED", delivery: "urn:delivery:XN-D" });
    const [lost] = decide(state, exhausted) as [SubscriptionEvent];
    const after = evolveSubscription(state, lost);
    t.match(after, { status: "ACTIVE", lastGivenUp: { at: now, delivery: "urn:delivery:XN-D" } });
    t.match(subscriptionOutgoing(lost, after, exhausted, "XN-SUB"), [{ type: "webhook.alert-given-up" }]);
    const shown = alertChannelView(after, 2);
    t.match(shown, {
      host: "partner.example",
      status: "ACTIVE",
      waiting: 2,
      lastGivenUp: { at: now.toISOString() },
    });
    t.notMatch(JSON.stringify(shown), /hooks|sealed/, "neither the address nor the secret");
    const stopped = command("pause", { reason: "OPERATOR" });
    t.match(decide(state, stopped), [{ type: "subscription.paused" }], "a person may");
  },
);
