// What the live channel is compared with: plain Socket.IO on node:http, which follows the same stream and broadcasts the same messages.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { Server } from "socket.io";
import type { EventRecord } from "../../schemas/command.ts";
import { openStreams } from "../../streams/connection.ts";
import { follow } from "../../streams/follow.ts";
import { typeFilter } from "../../streams/subjects.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";

const { NATS_URL = "" } = process.env;
const http = createServer();
const io = new Server(http, { path: "/ws/cases", transports: ["websocket"] });
io.on("connection", (socket) => {
  socket.on("subscribe", ({ caseUrn }: { caseUrn: string }, acknowledge: (answer: unknown) => void) => {
    void socket.join(caseUrn);
    acknowledge({ ok: true });
  });
});
/** As the live channel gathers them: one for a case and 100 ms. */
const changed = new Map<string, unknown[]>();
const update = (caseUrn: string, subCase: unknown): void => {
  const subCases = changed.get(caseUrn);
  if (subCases !== undefined) return void subCases.push(subCase);
  changed.set(caseUrn, [subCase]);
  setTimeout(() => {
    const gathered = changed.get(caseUrn) ?? [];
    changed.delete(caseUrn);
    const occurredAt = new Date().toISOString();
    const payload = {
      caseUrn,
      status: "OPEN",
      occurredAt,
      subCases: gathered,
      subCasesChanged: gathered.length,
    };
    io.to(caseUrn).emit("case:updated", payload);
  }, 100);
};
const streams = await openStreams(NATS_URL, "live-peer");
await follow(streams, {
  stream: "INTERNAL",
  filterSubjects: [typeFilter("int", "subcase.state-changed")],
  log: pino({ level: "warn" }),
  handle: (message) => {
    const { data } = message.json() as EventRecord;
    const { subCaseUrn, caseUrn, groupId, status, lockedBy } = data;
    io.to(String(caseUrn)).emit("subcase:state-changed", { subCaseUrn, caseUrn, groupId, status, lockedBy });
    update(String(caseUrn), { subCaseUrn, groupId, status });
  },
});
stopWithParent(() => process.exit(0));
http.listen(0, "127.0.0.1", () =>
  console.log(`listening http://127.0.0.1:${(http.address() as AddressInfo).port}`),
);
