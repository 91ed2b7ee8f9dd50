// A mail server for tests: real SMTP with TLS under a certificate of its own, keeping what it is handed and failing where a test says so.
import "reflect-metadata";
import { webcrypto } from "node:crypto";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import * as x509 from "@peculiar/x509";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { Test } from "tap";

export interface Mail {
  from: string;
  to: string[];
  /** Headers and body as they came. */
  raw: string;
  secure: boolean;
  user: string | undefined;
}

/** `<command>`: the server's no, with this code; `hang-up`: it drops the connection once the whole mail is there, which it keeps. */
export interface MailFault {
  at: "RCPT" | "DATA" | "AUTH" | "hang-up" | "silence";
  code?: number;
  times: number;
}

export interface MailServer {
  port: number;
  /** PEM, of its own authority. */
  ca: string;
  mails: Mail[];
  faults: MailFault[];
}

/** For `localhost`, good for a day. */
export const certified = async (): Promise<{ key: string; cert: string }> => {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  x509.cryptoProvider.set(webcrypto as never);
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: "01",
    name: "CN=localhost",
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    keys: keys as never,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([{ type: "dns", value: "localhost" }]),
    ],
  });
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  const lines = pkcs8.match(/.{1,64}/g)?.join("\n");
  return {
    key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    cert: cert.toString("pem"),
  };
};

const refusal = (code: number, about: string): Error =>
  Object.assign(new Error(`no, ${about} is not for me`), { responseCode: code });

/** Stops with the test. @param more options of the server, beside what faults need */
export const startMailServer = async (t: Test, more: SMTPServerOptions = {}): Promise<MailServer> => {
  const { key, cert } = await certified();
  const mails: Mail[] = [];
  const faults: MailFault[] = [];
  const take = (at: MailFault["at"]): MailFault | undefined => {
    const fault = faults.find((one) => one.at === at && one.times > 0);
    if (fault !== undefined) fault.times -= 1;
    return fault;
  };
  const server = new SMTPServer({
    ...{ key, cert, authOptional: true, logger: false },
    onAuth: ({ username, password }, _, done) => {
      const fault = take("AUTH");
      if (fault !== undefined || password !== "secret") done(refusal(fault?.code ?? 535, "this login"));
      else done(null, { user: username ?? "" });
    },
    onRcptTo: ({ address }, _, done) => {
      const fault = take("RCPT");
      done(fault === undefined ? null : refusal(fault.code ?? 550, address));
    },
    onData: async (stream, session, done) => {
      const raw = await text(stream);
      const fault = take("DATA");
      if (fault !== undefined) {
        done(refusal(fault.code ?? 552, "this mail"));
        return;
      }
      const { mailFrom, rcptTo } = session.envelope;
      mails.push({
        raw,
        from: mailFrom === false ? "" : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        secure: session.secure,
        user: session.user as string | undefined,
      });
      if (take("silence") !== undefined) return;
      if (take("hang-up") === undefined) done();
      else for (const connection of server.connections) (connection as never as { close(): void }).close();
    },
    ...more,
  });
  server.on("error", () => undefined);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => new Promise<void>((closed) => server.close(() => closed())));
  return { port: (server.server.address() as AddressInfo).port, ca: cert, mails, faults };
};
