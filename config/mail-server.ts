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
  /** PEM; undefined: the authorities that everybody knows. */
  readonly ca: string | undefined;
  /** An address. */
  readonly from: string;
}

export const mailServerForm = "^smtps?://[^\\s]+$";

/** @param url of {@link mailServerForm} @throws TypeError when it is no address */
export const mailServerOf = (url: string, from: string, ca: string | undefined): MailServer => {
  if (!URL.canParse(url)) throw new TypeError("is no address of a mail server");
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  if (hostname === "") throw new TypeError("names no host");
  const secure = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTls: searchParams.get("requireTLS") === "true",
    login:
      username === ""
        ? undefined
        : { user: decodeURIComponent(username), pass: decodeURIComponent(password) },
    ca,
    from,
  };
};
