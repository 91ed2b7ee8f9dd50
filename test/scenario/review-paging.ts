// Nobody comes to an item on the review desk: its deadline passes, and on-call is paged until it answers.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import type { AlertChannelView } from "../../schemas/webhook.ts";
import { type ReviewNight, reason, traveller } from "./review-night.ts";

export const reviewPaging = (
  t: Test,
  { night, sue, push, itemOf, until, act, trailOf, list }: ReviewNight,
): void => {
  const [xn] = night.airlines;

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
    const channel = await client.command<AlertChannelView & { secret?: string }>(
      "webhook.put-alert-channel",
      {
        tenant: "XN",
        data: { url },
      },
    );
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
    t.ok(
      posts[0]?.status === 503 && again.some(({ status }) => status === 200),
      "what failed was tried again",
    );
    t.ok((await list(caseUrn, { overdue: "true" })).includes(urn));
    await act("escalateReview", urn, sue, { reason });
    await paged("review.escalated", urn);
    const shown = await client.query<AlertChannelView | null>("webhook.alert-channel", { tenant: "XN" });
    t.match(shown, { host: new URL(url).host, status: "ACTIVE" });
    t.match(await client.command("webhook.test", { tenant: "XN" }), { delivered: true });
    await client.command("identity.set-review-sla", {
      tenant: "XN",
      data: { HIGH: 15, MEDIUM: 60, LOW: 240 },
    });
  });
};
