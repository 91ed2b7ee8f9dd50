/** Owns how the mail server is written in the configuration. */

/** Where e-mail is handed over, and in whose name. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte. */
  readonly secure: boolean;
  /** Without TLS nothing is handed over. */
  readonly requireTls: boolean;
  readonly login: { readonly user: string; readonly pass: string } | undefined;
  /** Connections at once, of each process. */
  readonly connectionsMax: number;
  /** PEM; undefined: the authorities that everybody knows. */
  readonly ca: string | undefined;
  /** An address. */
  readonly from: string;
}

export const mailServerForm = "^smtps?://[^\\s]+$";

const connectionsDefault = 10;
const connectionsLimit = 100;

/** Whoever can listen in on it could read everything else as well. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** @throws TypeError */
const connectionsOf = (text: string | null): number => {
  const count = text === null ? connectionsDefault : Number(text);
  if (!Number.isInteger(count) || count < 1 || count > connectionsLimit)
    throw new TypeError(`connections is a whole number from 1 to ${connectionsLimit}`);
  return count;
};

/** @throws TypeError */
const tlsOf = (text: string | null, byDefault: boolean): boolean => {
  if (text !== null && text !== "true" && text !== "false")
    throw new TypeError("requireTLS is true or false");
  return text === null ? byDefault : text === "true";
};

/**
 * Unless it is said otherwise nothing is handed over without TLS that has a password, or leaves this machine: whoever sits between
 * could else leave out the server's offer of it.
 * @param url of {@link mailServerForm} @throws TypeError when it is no address, or one of its settings none
 */
export const mailServerOf = (url: string, from: string, ca: string | undefined): MailServer => {
  if (!URL.canParse(url)) throw new TypeError("is no address of a mail server");
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  if (hostname === "") throw new TypeError("names no host");
  const secure = protocol === "smtps:";
  const host = hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTls: tlsOf(searchParams.get("requireTLS"), username !== "" || !isLoopback(host)),
    connectionsMax: connectionsOf(searchParams.get("connections")),
    login:
      username === ""
        ? undefined
        : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    ca,
    from,
  };
};
