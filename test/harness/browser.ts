// A browser without a window for tests of pages: it keeps cookies, sends forms, and follows redirects one by one as it is told.
import { request } from "node:http";

export interface Shown {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Where it leads, absolute; undefined: nowhere. */
  location: string | undefined;
  text: string;
}

interface Cookie {
  value: string;
  path: string;
}

export class Browser {
  readonly #cookies = new Map<string, Cookie>();
  /** Sent with each request. */
  readonly headers: Record<string, string>;

  constructor(headers: Record<string, string> = {}) {
    this.headers = headers;
  }

  /** Of several paths the one that was set last. */
  cookie(name: string): string | undefined {
    return [...this.#cookies].findLast(([key]) => key.startsWith(`${name};`))?.[1].value;
  }

  get(url: string): Promise<Shown> {
    return this.#send("GET", url);
  }

  post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    return this.#send("POST", url, new URLSearchParams(form).toString(), headers);
  }

  /** Goes on as long as it is led within the same origin; the answer may lead elsewhere. */
  async follow(shown: Shown, from: string): Promise<Shown> {
    let at = shown;
    while (at.location?.startsWith(from)) at = await this.get(at.location);
    return at;
  }

  #send(method: string, url: string, body?: string, more: Record<string, string> = {}): Promise<Shown> {
    const { pathname } = new URL(url);
    const cookie = [...this.#cookies]
      .filter(([, { path }]) => pathname === path || pathname.startsWith(path === "/" ? "/" : `${path}/`))
      .map(([key, { value }]) => `${key.split(";")[0]}=${value}`)
      .join("; ");
    const form = body === undefined ? {} : { "Content-Type": "application/x-www-form-urlencoded" };
    const headers = {
      Accept: "text/html",
      ...(cookie && { Cookie: cookie }),
      ...form,
      ...this.headers,
      ...more,
    };
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          this.#keep(response.headers["set-cookie"] ?? [], pathname);
          const { location } = response.headers;
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            location: location === undefined ? undefined : new URL(location, url).href,
            text: Buffer.concat(chunks).toString(),
          });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  #keep(lines: readonly string[], pathname: string): void {
    for (const line of lines) {
      const [pair = "", ...attributes] = line.split(/; */);
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      const attribute = (wanted: string) =>
        attributes.find((text) => text.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
      const path = attribute("path") ?? pathname;
      const expires = attribute("expires");
      const isOver = value === "" || (expires !== undefined && new Date(expires) <= new Date());
      if (isOver) this.#cookies.delete(`${name};${path}`);
      else this.#cookies.set(`${name};${path}`, { value, path });
    }
  }
}
