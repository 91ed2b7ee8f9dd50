// Operators at a whole instance: invited, signing in, calling the API with what they got, and losing it again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { decodeJwt, jwtVerify } from "jose";
import { pino } from "pino";
import t from "tap";
import { openIssuerKeys } from "../../gateway/auth/issuer-keys.ts";
import { operatorSubcommands } from "../../scripts/administration/operators.ts";
import { type DemoOperator, provisionOperators } from "../../scripts/demonstration/operators.ts";
import { connectDocuments } from "../../scripts/embedded/issuer/documents.ts";
import { owedEnding, oweEnding } from "../../scripts/embedded/issuer/session-endings.ts";
import { totpCode } from "../../scripts/embedded/issuer/totp.ts";
import { parentHoldsStdin } from "../../scripts/supervisor/parent-watch.ts";
import { internalSubject } from "../../streams/subjects.ts";
import { openAdministration } from "../harness/administration.ts";
import { startInstance } from "../harness/instance.ts";
import { OperatorConsole, type TokenAnswer, type Tokens } from "../harness/operator-console.ts";
import { eventually, takesLong } from "../harness/patience.ts";

takesLong(t);
const host = await startInstance(t, { issuer: true });
const { instance, dataDir, databasePrefix, streams } = host;
const issuer = instance.operatorIssuer;
const { documents, close } = await connectDocuments(instance.mongodbUrl, databasePrefix);
t.teardown(close);
const place = {
  mongodbUrl: instance.mongodbUrl,
  databasePrefix,
  sealKeyFile: `${instance.keysDir}/seal.key`,
};
const operators = await provisionOperators(place, host.airlines);
const operatorOf = (role: string): DemoOperator => {
  const found = operators.find((one) => one.role === role && one.airline === "urn:airline:XN");
  if (found === undefined) throw new Error(`no ${role}`);
  return found;
};

const administration = openAdministration(t, { dataDir, databasePrefix }, operatorSubcommands);

const tokensOf = ({ body }: TokenAnswer): Tokens => body as unknown as Tokens;
const passwordStep = ({ email, password }: { email: string; password: string }) => ({
  step: "password",
  email,
  password,
});

const signIn = async (
  operator: DemoOperator,
): Promise<Tokens & { console: OperatorConsole; subject: string }> => {
  const console = new OperatorConsole(issuer);
  await console.begin();
  await console.step(passwordStep(operator));
  const code = totpCode(operator.totpSecret, new Date());
  const tokens = tokensOf(await console.exchange(await console.step({ step: "totp", code })));
  return { ...tokens, console, subject: decodeJwt(tokens.access_token).sub ?? "" };
};
const statusWith = async (token: string): Promise<number> =>
  (await host.ask({ method: "GET", path: "/v1/cases", token })).status;
const watched = Object.entries(parentHoldsStdin).map(([name, value]) => `${name}=${value}`);
const isRefused = { status: 400, body: { error: "invalid_grant" } };

t.test("invited, set up, signed in", async (t) => {
  const email = "ana@xn.example";
  const named = ["--airline", "urn:airline:XN", "--email", email, "--name", "Ana", "--role", "ADMIN"];
  const { invitation } = (await administration("operator", "add", ...named)).json as { invitation: string };
  const console = new OperatorConsole(issuer);
  const password = "correct horse battery";
  t.match(await console.browser.post(invitation, { password, again: password }), { status: 200 });
  await console.begin();
  const shown = await console.step(passwordStep({ email, password }));
  const secret = /Key: <code>([A-Z2-7 ]+)</.exec(shown.text)?.[1]?.replaceAll(" ", "") ?? "";
  t.match(await console.step({ step: "enrol-totp", code: totpCode(secret, new Date()) }), {
    text: /recovery codes/,
  });
  const { access_token } = tokensOf(await console.exchange(await console.step({ step: "continue" })));
  t.equal(await statusWith(access_token), 200);
  t.equal(decodeJwt(access_token).iss, issuer);
  t.equal(
    await statusWith(await host.operatorToken("urn:airline:XN", "ADMIN")),
    200,
    "as is scripts/token's",
  );
  const { resolve, close } = openIssuerKeys({ OPERATOR_ISSUER: issuer }, pino({ level: "silent" }));
  t.teardown(close);
  const { payload } = await jwtVerify(access_token, resolve, { issuer, audience: "stopover-operator" });
  t.equal(payload.iss, issuer, "its keys are found by its address alone");
});

t.test("a refresh token that comes twice: 400, and the next call is 401", async (t) => {
  const { console, access_token, refresh_token } = await signIn(operatorOf("OPS_SUPERVISOR"));
  const second = tokensOf(await console.refresh(refresh_token));
  t.strictSame([await statusWith(access_token), await statusWith(second.access_token)], [200, 200]);
  t.match(await console.refresh(refresh_token), isRefused);
  t.strictSame([await statusWith(access_token), await statusWith(second.access_token)], [401, 401]);
  t.match(await console.refresh(second.refresh_token), isRefused);
  const again = await signInOnceMore(operatorOf("OPS_SUPERVISOR"));
  let { refresh_token: next } = again;
  await eventually("a new sign-in is good", async () => {
    const tokens = tokensOf(await again.console.refresh(next));
    next = tokens.refresh_token;
    const status = await statusWith(tokens.access_token);
    return status === 200 ? undefined : status;
  });
});

/** The period's code is used up: as if half a minute had passed. */
const signInOnceMore = async (operator: DemoOperator) => {
  await documents.users.updateOne({ email: operator.email }, { $set: { "totp.lastStep": 0 } });
  return signIn(operator);
};

t.test("a logout is on the stream, and withdraws nothing", async (t) => {
  const { console, access_token, refresh_token, id_token, subject } = await signIn(
    operatorOf("AIRPORT_OPERATOR"),
  );
  t.match(await console.confirmLogout(await console.askLogout(id_token)), { status: 303 });
  const told = await streams.manager.streams.getMessage("INTERNAL", {
    last_by_subj: internalSubject("XN", "operator.logged-out", subject),
  });
  const event = { type: "operator.logged-out", tenant: "urn:airline:XN", data: { subject } };
  t.match(told?.json(), event);
  t.match(await console.refresh(refresh_token), isRefused);
  t.equal(await statusWith(access_token), 200, "for its quarter of an hour");
});

t.test("an issuer that ended before it told the gateways does so when it is back", async (t) => {
  const { console, access_token, refresh_token, subject } = await signIn(operatorOf("ADMIN"));
  process.kill(host.issuer?.pid ?? 0, "SIGINT");
  t.match(await host.issuer?.exited, { code: 0, signal: null }, "in order");
  await oweEnding(documents, owedEnding({ tenant: "XN", subject }, new Date()));
  t.equal(await statusWith(access_token), 200);
  await host.issuer?.restart();
  await eventually("what was owed is done", async () => {
    const status = await statusWith(access_token);
    return status === 401 && (await documents.endings.countDocuments({})) === 0 ? undefined : status;
  });
  t.match(await console.refresh(refresh_token), isRefused);
});

t.test("a code by SMS through the messaging vendor; a disabled account", async (t) => {
  const { email, password } = operatorOf("OPS_SUPERVISOR");
  const asked = ["--airline", "XN", "--email", email, "--name", "Ida", "--role", "OPS_SUPERVISOR"];
  await administration("operator", "add", ...asked, "--phone", "+15550102");
  const console = new OperatorConsole(issuer);
  await console.begin();
  await console.step(passwordStep({ email, password }));
  t.match(await console.step({ step: "sms-send" }), { status: 200 });
  const { entries } = await host.ledger("sendwell");
  const [text = ""] = entries.flatMap(({ details: { to, body } }) =>
    to === "+15550102" ? [String(body)] : [],
  );
  const tokens = tokensOf(
    await console.exchange(await console.step({ step: "sms", code: text.slice(0, 6) })),
  );
  t.equal(await statusWith(tokens.access_token), 200);

  t.match((await administration("operator", "disable", "--email", email)).json, { disabled: true });
  await eventually("its tokens are over", async () =>
    (await statusWith(tokens.access_token)) === 401 ? undefined : "still good",
  );
  t.match(await console.refresh(tokens.refresh_token), isRefused);
  await console.begin();
  t.match(await console.step(passwordStep({ email, password })), { status: 403, text: /withdrawn/ });
});

t.test("a process that is told to stop, or whose parent is gone, ends in order", async (t) => {
  const [service] = host.services;
  await service?.stop();
  t.match(await service?.exited, { code: 0, signal: null }, "SIGTERM");
  const orphan = `
    import { runAsProcess } from ${JSON.stringify(import.meta.resolve("../../scripts/supervisor/own-process.ts"))};
    await runAsProcess({
      name: "nothing",
      settings: { properties: {} },
      readConfig: () => ({ LOG_LEVEL: "silent" }),
      roleOf: () => "test",
      readyWord: "ready",
      start: async () => ({ address: "nowhere", stop: async () => console.log("stopped") }),
    });`;
  const child = spawn(
    "/usr/bin/env",
    [...watched, process.execPath, "--input-type=module", "--eval", orphan],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  t.teardown(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    child.stdin.end();
  }
  t.strictSame(
    [await ended, lines],
    [
      [0, null],
      ["ready nowhere", "stopped"],
    ],
    "parent gone",
  );
});
