/** Runs the operators' issuer: an OpenID provider for development and small installations, configured by the environment alone. */
import type { AddressInfo } from "node:net";
import { destination, type Logger, pino } from "pino";
import { type IssuerConfig, IssuerEnvironment, readIssuerConfig } from "../../config/issuer.ts";
import { settingsReference } from "../../config/reference.ts";
import { openStreams } from "../../streams/connection.ts";
import { endSessionsOf } from "../../streams/revocations.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";
import { connectDocuments } from "./issuer/documents.ts";
import { publishLoggedOut } from "./issuer/logged-out.ts";
import { relyingPartyOf } from "./issuer/passkeys.ts";
import { createProvider } from "./issuer/provider.ts";
import { createIssuerServer } from "./issuer/server.ts";
import { SessionEndings } from "./issuer/session-endings.ts";
import { SignInDesk } from "./issuer/sign-in.ts";
import { createSendText } from "./issuer/sms-codes.ts";

interface Running {
  address: string;
  stop(): Promise<void>;
}

const start = async (config: IssuerConfig, log: Logger): Promise<Running> => {
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

const main = async (): Promise<void> => {
  if (process.argv.includes("--help")) {
    console.log(
      `Runs the operators' issuer, configured by the environment alone.\n\n${settingsReference(IssuerEnvironment)}`,
    );
    return;
  }
  const config = readIssuerConfig();
  const log = pino(
    { level: config.LOG_LEVEL, base: { role: "issuer" } },
    destination({ dest: 2, sync: false }),
  );
  const issuer = await start(config, log);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    issuer.stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  stopWithParent(stop);
  process.stdout.write(`listening ${issuer.address}\n`);
};

main().catch((error: unknown) => {
  process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
