// Clients of the operators' live channel behind one face, so that a standard one (socket.io-client) and a raw WebSocket are held to
// the same.
import { io, type Socket } from "socket.io-client";
import { type ConnectLive, connectRaw, faceOf, Heard, Refusal } from "../../scripts/soaking/live-client.ts";

const withinMs = 20_000;

/** socket.io-client as it is installed. */
export const connectStandard: ConnectLive = ({ baseUrl, token, resume, headers, path = "/ws/cases" }) => {
  const heard = new Heard();
  const closed = Promise.withResolvers<number>();
  const socket: Socket = io(baseUrl, {
    path,
    addTrailingSlash: path.endsWith("/"),
    transports: ["websocket"],
    forceNew: true,
    reconnection: false,
    ...(token === undefined ? {} : { auth: { token } }),
    ...(headers === undefined ? {} : { extraHeaders: headers }),
  });
  if (resume !== undefined) Object.assign(socket, { _pid: resume.pid, _lastOffset: resume.offset });
  socket.onAny((event: string, payload: Record<string, unknown>, offset: string) =>
    heard.take(event, payload, offset),
  );
  socket.io.on("close", (_reason, description) => {
    const { context } = (description ?? {}) as { context?: { code?: number } };
    closed.resolve(context?.code ?? 0);
  });
  return new Promise((resolve, reject) => {
    socket.on("connect_error", (error) => {
      const { data } = error as unknown as { data?: Refusal["data"] };
      reject(new Refusal(error.message, data ?? {}, closed.promise));
    });
    socket.on("connect", () => {
      const { _pid } = socket as unknown as { _pid: string };
      resolve(
        faceOf(heard, {
          pid: _pid,
          recovered: socket.recovered,
          ask: (name, payload) => socket.timeout(withinMs).emitWithAck(name, payload),
          say: (name, payload) => void socket.emit(name, payload),
          closed: closed.promise,
          drop: () => socket.io.engine.close(),
          stall: () => undefined,
          goOn: () => undefined,
        }),
      );
    });
  });
};

export const liveClients: readonly (readonly [string, ConnectLive])[] = [
  ["a standard client", connectStandard],
  ["a raw WebSocket", connectRaw],
];
