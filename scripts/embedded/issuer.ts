/** Runs the operators' issuer: an OpenID provider for development and small installations, configured by the environment alone. */
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { type IssuerConfig, IssuerEnvironment, readIssuerConfig } from "../../config/issuer.ts";
import { openStreams } from "../../streams/connection.ts";
import { endSessionsOf } from "../../streams/revocations.ts";
import { runAsProcess, type Serving } from "../supervisor/own-process.ts";
import { connectDocuments } from "./issuer/documents.ts";
import { publishLoggedOut } from "./issuer/logged-out.ts";
import { relyingPartyOf } from "./issuer/passkeys.ts";
import { createProvider } from "./issuer/provider.ts";
import { createIssuerServer } from "./issuer/server.ts";
import { SessionEndings } from "./issuer/session-endings.ts";
import { SignInDesk } from "./issuer/sign-in.ts";
import { createSendText } from "./issuer/sms-codes.ts";

const start = async (config: IssuerConfig, log: Logger): Promise<Serving> => {
  const now = () => new Date();
  const [streams, { documents, close }] = await Promise.all([
    openStreams(config.NATS_URL, "stopover-issuer"),
    connectDocuments(config.MONGODB_URL, config.DATABASE_PREFIX),
  ]);
  const endings = new SessionEndings(documents, (ended) => endSessionsOf(streams, ended), log);
  const provider = createProvider({
    config,
    documents,
    log,
    now,
    onReuse: (reuse) => endings.endFamily(reuse, now()),
    onLogout: ({ membership }, { grantId }) => publishLoggedOut(streams, membership, grantId, now()),
  });
  const desk = new SignInDesk({
    documents,
    sealKey: config.sealKey,
    party: relyingPartyOf(config.OPERATOR_ISSUER),
    sendText: config.sms === undefined ? undefined : createSendText(config.sms),
    log,
    now,
  });
  endings.start();
  const server = createIssuerServer({ config, documents, provider, desk, log, now });
  await new Promise<void>((listening, reject) => {
    server.once("error", reject);
    server.listen(config.ISSUER_PORT, config.ISSUER_HOST, listening);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://${config.ISSUER_HOST}:${port}`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await closed;
      await endings.stop();
      await Promise.all([close(), streams.close()]);
    },
  };
};

await runAsProcess({
  name: "the operators' issuer",
  settings: IssuerEnvironment,
  readConfig: readIssuerConfig,
  roleOf: () => "issuer",
  readyWord: "listening",
  start,
});
