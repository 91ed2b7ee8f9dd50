// The operators' console as a client of the issuer: authorization code with PKCE, refresh, logout, as RFC 8252 has a public client do it.
import { createHash, randomBytes } from "node:crypto";
import { Browser, type Shown } from "./browser.ts";

export interface TokenAnswer {
  status: number;
  body: Record<string, unknown>;
}

export interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token: string;
}

const clientId = "stopover-console";
const json = { Accept: "application/json" };

export class OperatorConsole {
  readonly issuer: string;
  readonly browser: Browser;
  readonly redirectUri = "http://127.0.0.1:5173/callback";
  readonly #verifier = randomBytes(32).toString("base64url");

  constructor(issuer: string, browser: Browser = new Browser()) {
    this.issuer = issuer;
    this.browser = browser;
  }

  /** Asks for a code: the sign-in page, or where the browser is sent instead. An empty change leaves a parameter out. */
  async begin(changes: Record<string, string> = {}): Promise<Shown> {
    const asked = {
      client_id: clientId,
      response_type: "code",
      redirect_uri: this.redirectUri,
      scope: "openid profile email",
      state: "here",
      code_challenge: createHash("sha256").update(this.#verifier).digest("base64url"),
      code_challenge_method: "S256",
      ...changes,
    };
    const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== ""));
    return this.browser.follow(await this.browser.get(`${this.issuer}/auth?${query}`), this.issuer);
  }

  get page(): string {
    return `${this.issuer}/interaction/${this.browser.cookie("stopover_sign_in")}`;
  }

  /** Sends a form of the sign-in page and shows what comes next. */
  async step(form: Record<string, string>): Promise<Shown> {
    return this.browser.follow(await this.browser.post(this.page, form), this.issuer);
  }

  /** Another way of the page that stands, e.g. another factor. */
  async choose(kind: string): Promise<Shown> {
    return this.browser.get(`${this.page}?with=${kind}`);
  }

  /** @param shown which leads back to the console with a code */
  async exchange(shown: Shown, changes: Record<string, string> = {}): Promise<TokenAnswer> {
    const code = new URL(shown.location ?? "about:blank").searchParams.get("code") ?? "";
    const { redirectUri } = this;
    const form = { code, code_verifier: this.#verifier, redirect_uri: redirectUri, ...changes };
    return this.#token({ grant_type: "authorization_code", ...form });
  }

  refresh(refreshToken: string): Promise<TokenAnswer> {
    return this.#token({ grant_type: "refresh_token", refresh_token: refreshToken });
  }

  revoke(token: string): Promise<Shown> {
    return this.browser.post(`${this.issuer}/token/revocation`, { client_id: clientId, token }, json);
  }

  /** As the console asks for it, up to the page that would press the button itself. */
  async askLogout(idToken: string): Promise<Record<string, string>> {
    const shown = await this.browser.get(`${this.issuer}/session/end?id_token_hint=${idToken}`);
    const xsrf = /name="xsrf" value="(\w+)"/.exec(shown.text)?.[1] ?? "";
    return { xsrf, logout: "yes" };
  }

  confirmLogout(form: Record<string, string>): Promise<Shown> {
    return this.browser.post(`${this.issuer}/session/end/confirm`, form);
  }

  async #token(form: Record<string, string>): Promise<TokenAnswer> {
    const answer = await this.browser.post(`${this.issuer}/token`, { client_id: clientId, ...form }, json);
    return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
  }
}

/** What a page asks the authenticator: the options of its passkey form. */
export const passkeyOptions = <Options>({ text }: Shown): Options =>
  JSON.parse(/<script type="application\/json">(.*?)<\/script>/s.exec(text)?.[1] ?? "null") as Options;
