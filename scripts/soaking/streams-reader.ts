/** Owns one reader of a passengers' stream in a soak: it takes what comes as fast as it can, or nothing at all. */
import { connect, type Socket } from "node:net";
import { type Position, readPosition } from "../../gateway/live/position.ts";

export interface TakenEvent {
  name: string;
  position: Position | undefined;
  data: Record<string, unknown>;
}

interface ReaderOptions {
  baseUrl: string;
  host: string;
  token: string;
}

/** A socket of its own, so that one that takes nothing leaves what it is sent in the kernel. */
export class StreamReader {
  readonly events: TakenEvent[] = [];
  bytes = 0;
  ended = false;
  readonly #socket: Socket;
  readonly #onChange: () => void;
  #rest = "";

  /** @param stalls it takes nothing until it is told to @param onChange called after each piece, and at the end */
  constructor({ baseUrl, host, token }: ReaderOptions, stalls: boolean, onChange: () => void) {
    const { hostname, port } = new URL(baseUrl);
    this.#onChange = onChange;
    this.#socket = connect({ host: hostname, port: Number(port) });
    if (stalls) this.#socket.pause();
    else this.take();
    this.#socket.write(
      `GET /v1/me/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    this.#socket.on("error", () => this.#end());
    this.#socket.on("close", () => this.#end());
  }

  /** From here on it takes all there is. */
  take(): void {
    this.#socket.setEncoding("utf8");
    this.#socket.on("data", (text) => this.#read(String(text)));
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** A chunk holds whole events: its length, and the head, are lines between them. */
  #read(text: string): void {
    this.bytes += Buffer.byteLength(text);
    const all = this.#rest + text;
    const pieces = all.split("\n\n");
    this.#rest = pieces.pop() ?? "";
    for (const piece of pieces) this.#note(piece);
    this.#onChange();
  }

  #note(piece: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(piece)?.[1];
    const name = field("event");
    if (name === undefined) return;
    const [place = ""] = (field("id") ?? "").split("-");
    this.events.push({ name, position: readPosition(place), data: JSON.parse(field("data") ?? "") });
  }

  #end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#onChange();
  }
}
