/** Owns many live sockets that only take the time: nothing of what they hear is kept. */
import { WebSocket } from "ws";

const connectedAtOnce = 50;

export type Heard = (event: "told" | "updated", groupId: string) => void;

const connect = (url: URL, token: string, caseUrn: string, hear: Heard): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.on("error", reject);
    socket.on("close", (code) => reject(new Error(`closed with ${code}`)));
    socket.on("message", (data: Buffer) => {
      const text = data.toString("latin1");
      if (text.startsWith('42["subcase:state-changed"')) hear("told", groupIdIn(text));
      else if (text.startsWith('42["case:updated"')) hear("updated", groupIdIn(text));
      else if (text.startsWith("0{")) socket.send(`40${JSON.stringify({ token })}`);
      else if (text.startsWith("40")) socket.send(`420${JSON.stringify(["subscribe", { caseUrn }])}`);
      else if (text === "2") socket.send("3");
      else if (text.startsWith("430")) resolve(socket);
      else if (text.startsWith("44")) reject(new Error(text));
    });
  });

const groupIdIn = (text: string): string => /"groupId":"(\w+)"/.exec(text)?.[1] ?? "";

/** All of them watch the case. */
export const connectAll = async (
  baseUrl: string,
  { sockets, tokens, caseUrn }: { sockets: number; tokens: readonly string[]; caseUrn: string },
  hear: Heard,
): Promise<WebSocket[]> => {
  const url = new URL("/ws/cases/?EIO=4&transport=websocket", baseUrl.replace(/^http/, "ws"));
  const open: WebSocket[] = [];
  while (open.length < sockets) {
    const some = Array.from({ length: Math.min(connectedAtOnce, sockets - open.length) }, (_, i) =>
      connect(url, tokens[(open.length + i) % tokens.length] ?? "", caseUrn, hear),
    );
    open.push(...(await Promise.all(some)));
  }
  return open;
};

export const closeAll = async (sockets: readonly WebSocket[]): Promise<void> => {
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise<void>((resolve) => {
          socket.removeAllListeners("close");
          socket.on("close", () => resolve());
          socket.terminate();
        }),
    ),
  );
};
