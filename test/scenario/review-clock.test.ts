// Whose an item is and how long it may wait: given, left, found in the queue, escalated, and paged when nobody came.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import type { Page } from "../../schemas/command.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import type { AlertChannelView } from "../../schemas/webhook.ts";
import { reason, startReviewNight, traveller } from "./review-night.ts";

const { night, ana, ben, sue, lax, ...desk } = await startReviewNight(t);
const { push, itemOf, read, until, act, refused, trailOf, list } = desk;
const { events } = night;
const [xn] = night.airlines;

t.test("an item is given to somebody, released, found in the queue, and escalated", async (t) => {
  const caseUrn = await push(
    "queue",
    [{ ...traveller("QUEUE1", "Queue"), lastName: undefined } as never],
    "LHR",
  );
  const { urn } = await itemOf(caseUrn, "DATA_INCOMPLETE");
  const before = await read(urn);
  await act("claimReview", urn, ana);
  const { assignedTo: anasUrn } = await read(urn);
  const bens = await act("assignReview", urn, sue, { userUrn: "urn:user:ben", reason });
  t.match(bens, { state: "CLAIMED", assignedTo: "urn:user:ben" });
  t.match(await refused("releaseReview", urn, ana), { status: 409, lockedBy: "urn:user:ben" });
  t.equal((await refused("assignReview", urn, ana, { userUrn: anasUrn, reason })).status, 403);
  t.match(await trailOf(urn, "review.assign"), { reason, before: { assignedTo: anasUrn } });
  const listed = async (token: string, query: Record<string, string>) =>
    (await night.call<Page<ReviewItemView>>("listReviewItems", { token, query })).body.items.map(
      (one) => one.urn,
    );
  const of = { caseUrn };
  t.same(await listed(ben, { ...of, assignedTo: "me" }), [urn]);
  t.same(await listed(ana, { ...of, assignedTo: "me" }), []);
  t.same(await listed(ana, { ...of, assignedTo: "urn:user:ben", state: "CLAIMED", airport: "LHR" }), [urn]);
  t.same(await listed(ana, { ...of, overdue: "true" }), []);
  t.ok((await listed(ana, { ...of, overdue: "false", category: "DATA_INCOMPLETE" })).includes(urn));
  t.same(await listed(lax, of), [], "another airport's operator does not see it");
  t.equal((await refused("getReviewItem", urn, lax)).status, 403);
  t.equal(
    (await night.refused("listManualReview", { token: ana })).status,
    403,
    "the desk's queue is a supervisor's",
  );
  await act("releaseReview", urn, ben, { reason });
  t.match(await read(urn), { state: "OPEN", assignedTo: undefined });

  t.equal(before.priority, "LOW");
  const once = await act("escalateReview", urn, sue, { reason });
  t.match(once, { priority: "MEDIUM", state: "OPEN" });
  t.ok(Date.parse(once.dueAt ?? "") <= Date.now() + 3_600_000);
  t.match(await act("escalateReview", urn, sue, { reason }), { priority: "HIGH" });
  const thrice = await act("escalateReview", urn, sue, { reason });
  t.match(thrice, { priority: "HIGH" });
  const told = await events.untilCount("review.escalated", 3, { caseUrn });
  t.same(
    told.map(({ data }) => data.raised),
    [true, true, false],
  );
});

t.test("nobody comes in time: on-call is paged, signed, and again until it answers", async (t) => {
  const posts: { headers: Record<string, unknown>; body: string; status: number }[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = posts.length === 0 ? 503 : 200;
    posts.push({ headers: request.headers, body: Buffer.concat(chunks).toString(), status });
    response.writeHead(status).end();
    for (const look of waiting) look();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const paged = (type: string, reviewUrn: string) => {
    const found = () =>
      posts.filter(({ status, body }) => {
        const told = JSON.parse(body);
        return status === 200 && told.type === type && told.data.reviewUrn === reviewUrn;
      });
    return new Promise<ReturnType<typeof found>>((resolve) => {
      const look = () => {
        if (found().length === 0) return;
        waiting.delete(look);
        resolve(found());
      };
      waiting.add(look);
      look();
    });
  };
  const { client } = night;
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/on-call`;
  const refusedUrl = client.command("webhook.put-alert-channel", {
    tenant: "XN",
    data: { url: "https://169.254.169.254/latest" },
  });
  await t.rejects(refusedUrl, { code: "validation/body" }, "no address of the inside");
  const channel = await client.command<AlertChannelView & { secret?: string }>("webhook.put-alert-channel", {
    tenant: "XN",
    data: { url },
  });
  const { secret = "" } = channel;
  t.equal(channel.host, new URL(url).host);
  await client.command("identity.set-review-sla", {
    tenant: "XN",
    data: { LOW: 0.02, MEDIUM: 0.02, HIGH: 0.02 },
  });
  const refusedSla = client.command("identity.set-review-sla", { tenant: "XN", data: { HIGH: 0 } });
  await t.rejects(refusedSla, { code: "validation/body" });

  const caseUrn = await push(
    "breach",
    [{ ...traveller("BREAC1", "Breach"), lastName: undefined } as never],
    "LHR",
  );
  const { urn } = await itemOf(caseUrn, "DATA_INCOMPLETE");
  const overdue = await until(urn, "three breaches", ({ breaches }) => breaches === 3);
  t.match(overdue, { priority: "HIGH", overdue: true, state: "OPEN" });
  t.match(await trailOf(urn, "review.breach-sla"), { reason: "Its deadline passed." });
  const [page] = await paged("review.sla-breached", urn);
  const { headers = {}, body = "" } = page ?? {};
  const timestamp = headers["x-service-signature-timestamp"];
  const hmac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("base64");
  t.equal(headers["x-service-signature"], `sha256=${hmac}`);
  t.equal(headers["x-service-event-type"], "review.sla-breached");
  t.match(JSON.parse(body), {
    tenant: xn.urn,
    case_urn: caseUrn,
    correlation_urn: /^urn:correlation:/,
    occurred_at: /Z$/,
    data: { reviewUrn: urn, airport: "LHR", category: "DATA_INCOMPLETE" },
  });
  t.notMatch(body, /mail\.example|Breach/, "nobody's details");
  const again = posts.filter(
    (post) => post.headers["x-service-event-urn"] === posts[0]?.headers["x-service-event-urn"],
  );
  t.ok(posts[0]?.status === 503 && again.some(({ status }) => status === 200), "what failed was tried again");
  t.ok((await list(caseUrn, { overdue: "true" })).includes(urn));
  await act("escalateReview", urn, sue, { reason });
  await paged("review.escalated", urn);
  const shown = await client.query<AlertChannelView | null>("webhook.alert-channel", { tenant: "XN" });
  t.match(shown, { host: new URL(url).host, status: "ACTIVE" });
  t.match(await client.command("webhook.test", { tenant: "XN" }), { delivered: true });
  await client.command("identity.set-review-sla", { tenant: "XN", data: { HIGH: 15, MEDIUM: 60, LOW: 240 } });
});
