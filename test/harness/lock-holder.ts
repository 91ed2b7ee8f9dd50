// An operator's client in a process of its own, so that it can be stopped in the middle. Told to `/lock`, it locks its group and
// keeps the token; told to `/write`, it compensates the group under that token. It answers what the service has answered.
import http from "node:http";
import type { AddressInfo } from "node:net";
import { request } from "../../scripts/demonstration/http.ts";
import { stopWithParent } from "../../scripts/supervisor/parent-watch.ts";

// While it is stopped both ends would give up connections that were kept.
http.globalAgent = new http.Agent({ keepAlive: false });
const { HOLDER_BASE_URL = "", HOLDER_TOKEN = "", HOLDER_SUB_CASE = "" } = process.env;
let fencingToken: number | undefined;

const write = (verb: "lock" | "compensate", body: object) =>
  request(HOLDER_BASE_URL, {
    method: "POST",
    path: `/v1/subcases/${encodeURIComponent(HOLDER_SUB_CASE)}/${verb}`,
    token: HOLDER_TOKEN,
    body,
  });

const lock = async () => {
  const answer = await write("lock", {});
  fencingToken = (answer.body as { fencingToken?: number }).fencingToken;
  return answer;
};

const server = http.createServer(async ({ url }, response) => {
  const answer = await (url === "/lock" ? lock() : write("compensate", { fencingToken }));
  response
    .writeHead(200, { "Content-Type": "application/json", Connection: "close" })
    .end(JSON.stringify(answer));
});
stopWithParent(() => server.close(() => process.exit(0)));
server.listen(0, "127.0.0.1", () =>
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
