// What partners download for their receivers is served to everybody, as it stands in the tree, and may be kept for a while.
import { readFileSync } from "node:fs";
import t from "tap";
import { webhookPaths } from "../../../gateway/asyncapi.ts";
import { startTestGateway } from "./fixture.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
const sourceOf = (name: string): string =>
  readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), "utf8");

t.test("the receiver's kit", async (t) => {
  const description = await gateway.ask(webhookPaths.description);
  t.equal(description.status, 200);
  t.match(description.headers, {
    "content-type": "application/json",
    "cache-control": "public, max-age=300",
  });
  t.match(description.json, { asyncapi: "3.0.0", channels: { webhook: {} } });
  for (const path of [webhookPaths.kit, webhookPaths.vectors])
    t.match(JSON.stringify(description.json), path, "the description names what else there is");
  const kit = await gateway.ask(webhookPaths.kit);
  t.match(kit.headers, {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
  t.equal(kit.text, sourceOf("webhook-signature.ts"));
  const vectors = await gateway.ask(webhookPaths.vectors);
  t.equal(vectors.headers["content-type"], "application/json");
  t.equal(vectors.text, sourceOf("webhook-test-vectors.json"));
});
