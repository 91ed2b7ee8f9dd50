/**
 * Owns the peer of the benchmark `search`: the plainest scatter-gather there is. Fastify asks the same vendors at once, parses what they
 * answer and concatenates it; no body is checked, no hotel put together, no policy looked at, and who asks is not known.
 */
import Fastify from "fastify";
import { stopWithParent } from "../supervisor/parent-watch.ts";
import type { PlainHotel, PlainHotels } from "./plain-hotels.ts";

const vendors = JSON.parse(process.env.PLAIN_HOTELS ?? "[]") as PlainHotel[];
const { PLAIN_HOTELS_URL = "" } = process.env;
const paths = { stayhub: "/v2/availability", roomlink: "/api/search" } as const;

const { addresses } = (await (await fetch(PLAIN_HOTELS_URL)).json()) as PlainHotels;

const app = Fastify();

app.post("/search", async () => {
  const answers = await Promise.all(
    vendors.map(async ({ name, dialect }) => {
      const answer = await fetch(`${addresses[name]}${paths[dialect]}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      return (await answer.json()) as { hotels?: object[]; data?: { properties: object[] } };
    }),
  );
  return { hotels: answers.flatMap(({ hotels, data }) => hotels ?? data?.properties ?? []) };
});

const stop = (): void => {
  void app.close().then(() => process.exit(0));
};
process.once("SIGTERM", stop);
stopWithParent(stop);
console.log(`listening ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
