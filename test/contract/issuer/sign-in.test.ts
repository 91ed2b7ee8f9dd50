// Signing in page by page: each way in, and what is refused on the way.
import { request } from "node:http";
import { decodeJwt } from "jose";
import t from "tap";
import { issueRecoveryCodes } from "../../../scripts/embedded/issuer/recovery-codes.ts";
import { totpCode } from "../../../scripts/embedded/issuer/totp.ts";
import { acceptInvitation, invite } from "../../../scripts/embedded/issuer/users.ts";
import { Authenticator } from "../../harness/authenticator.ts";
import { Browser } from "../../harness/browser.ts";
import { OperatorConsole, passkeyOptions } from "../../harness/operator-console.ts";
import { type Person, password, startIssuerUnderTest } from "./fixture.ts";

const under = await startIssuerUnderTest(t);
const { issuer, documents } = under;
const open = async (person: Person, browser?: Browser) => {
  const console = new OperatorConsole(issuer, browser);
  await console.begin({ login_hint: person.email });
  const shown = await console.step({ step: "password", email: person.email, password });
  return { console, shown };
};
const titled = (title: string) => ({ status: 200, text: new RegExp(`<h1>${title}`) });
const isBack = { status: 303, location: /^http:\/\/127\.0\.0\.1:5173\/callback\?code=/ };

t.test("the pages: nothing foreign on them, and no script in them", async (t) => {
  const console = new OperatorConsole(issuer);
  const shown = await console.begin({ login_hint: '"><b>ana' });
  t.match(shown, { status: 200, text: /value="&quot;&gt;&lt;b&gt;ana"/ });
  t.match(shown.headers, {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-security-policy":
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self' http://127.0.0.1:5173; frame-ancestors 'none'; base-uri 'none'",
  });
  t.notMatch(shown.text, /<script(?! src="\/assets)|style=/);
  t.match((await console.browser.get(`${issuer}/assets/passkey.js`)).headers, {
    "content-type": /javascript/,
  });
  t.match(
    await new Browser().get(console.page),
    { status: 400, text: /This page is over/ },
    "without its cookie",
  );
  const foreign = { Origin: "https://evil.example" };
  t.match(await console.browser.post(console.page, { step: "password" }, foreign), { status: 403 });
  t.match(await console.browser.post(console.page, { step: "x".repeat(40_000) }), { status: 413 });
});

t.test("request targets that are no path of ours end no process", async (t) => {
  const { hostname, port } = new URL(issuer);
  for (const path of ["//", "//:x", "///", "/\\", "//[", "/%", "/..%2f"]) {
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        { host: hostname, port, path, headers: { Host: new URL(issuer).host } },
        (response) => {
          response.resume().on("end", () => resolve(response.statusCode ?? 0));
        },
      );
      sent.on("error", reject).end();
    });
    t.ok(status >= 400 && status < 500, `${path}: ${status}`);
  }
});

t.test("a sign-in that was begun before the factors were reset is over", async (t) => {
  const eve = await under.person("eve", { places: [["XN", "ADMIN"]] });
  const { console, shown } = await open(eve);
  t.match(shown, { status: 200, text: /<h1>/ });
  await under.change(eve, {
    $set: { passkeys: [], recoveryCodes: [] },
    $unset: { totp: "", passwordHash: "" },
  });
  t.match(await console.step({ step: "enrol-totp", code: "000000" }), { text: /name="password"/ });
  t.match(await console.browser.get(console.page), { text: /name="password"/ });
});

t.test("what the console may ask for", async (t) => {
  const console = new OperatorConsole(issuer);
  const isTold = async (changes: Record<string, string>, error: string) => {
    const { location = "" } = await console.begin(changes);
    t.equal(new URL(location.replace("#", "?")).searchParams.get("error"), error, JSON.stringify(changes));
  };
  await isTold({ code_challenge: "", code_challenge_method: "" }, "invalid_request");
  await isTold({ code_challenge_method: "plain" }, "invalid_request");
  await isTold({ resource: "urn:somebody:else" }, "invalid_target");
  await isTold({ prompt: "none" }, "login_required");
  await isTold({ response_type: "id_token" }, "unsupported_response_type");
  for (const redirect_uri of [
    "http://127.0.0.1:5173/other",
    "https://evil.example/callback",
    "http://127.0.0.1.evil.example/callback",
  ])
    t.match(await console.begin({ redirect_uri }), {
      status: 400,
      location: undefined,
      text: /redirect_uri/,
    });
  t.match(
    await console.begin({ redirect_uri: "http://127.0.0.1:60001/callback" }),
    { status: 200 },
    "any port",
  );
  t.match(await console.begin({ client_id: "somebody" }), { status: 400, location: undefined });
});

t.test("password and authenticator app; a code is taken once", async (t) => {
  const ana = await under.person("ana", { places: [["XN", "ADMIN"]], phone: "+15550100" });
  const { console, shown } = await open(ana);
  t.match(shown, titled("Confirm that it is you"));
  t.notMatch(shown.text, /SMS/, "never offered to an ADMIN");
  t.match(await console.choose("sms"), { text: /authenticator app/ }, "nor given");
  await console.step({ step: "sms-send" });
  t.strictSame(under.texts, []);
  const code = ana.code();
  const wrong = code === "000000" ? "000001" : "000000";
  t.match(await console.step({ step: "totp", code: wrong }), { status: 401, text: /role="alert".*wrong/s });
  t.match(await console.step({ step: "totp", code }), isBack);
  const again = await open(ana);
  t.match(await again.console.step({ step: "totp", code }), { status: 401 }, "replayed");
  under.aheadMs += 30_000;
  t.match(await again.console.step({ step: "totp", code: ana.code() }), isBack);
});

t.test("a wrong password, an unknown address and too many tries look the same for both", async (t) => {
  const bo = await under.person("bo", { places: [["XN", "ADMIN"]] });
  const tries = async (email: string) => {
    const console = new OperatorConsole(issuer);
    await console.begin();
    const answers: string[] = [];
    for (let i = 0; i < 7; i++) {
      const { status, text } = await console.step({
        step: "password",
        email,
        password: `wrong ${i} password`,
      });
      answers.push(
        `${status} ${/role="alert"[^>]*>([^<]*)/.exec(text)?.[1]}`.replace(/\d+ seconds/, "N seconds"),
      );
    }
    return { console, answers };
  };
  const [known, unknown] = await Promise.all([tries(bo.email), tries("nobody@example.com")]);
  t.strictSame(known.answers, unknown.answers);
  t.match(known.answers, [
    ...Array(5).fill("401 The e-mail address or the password is wrong."),
    ...Array(2).fill("429 Too many attempts. Try again in N seconds."),
  ]);
  const right = { step: "password", email: bo.email, password };
  t.match(await known.console.step(right), { status: 429 }, "the right one has to wait as well");
  under.aheadMs += 31_000;
  t.match(await known.console.step(right), titled("Confirm that it is you"));
});

t.test("strangers who guess don't lock the user's own browser out", async (t) => {
  const lee = await under.person("lee", { places: [["XN", "AIRPORT_OPERATOR"]] });
  const { console } = await open(lee);
  t.match(await console.step({ step: "totp", code: lee.code() }), isBack);
  const stranger = new OperatorConsole(issuer);
  await stranger.begin();
  const guess = { step: "password", email: lee.email, password: "a guess of somebody" };
  for (let i = 0; i < 5; i++) t.match(await stranger.step(guess), { status: 401 });
  t.match(await stranger.step({ ...guess, password }), { status: 429 });
  const own = new OperatorConsole(issuer, console.browser);
  await own.begin({ prompt: "login" });
  const shown = await own.step({ step: "password", email: lee.email, password });
  t.match(shown, titled("Confirm that it is you"), "but such a night is unusual");
});

t.test("somebody else signs in at the same browser", async (t) => {
  const max = await under.person("max", { places: [["XN", "ADMIN"]] });
  const nia = await under.person("nia", { places: [["XN", "ADMIN"]] });
  const first = await open(max);
  t.match(await first.console.step({ step: "totp", code: max.code() }), isBack);
  const console = new OperatorConsole(issuer, first.console.browser);
  t.match(await console.begin(), isBack, "who asks for no sign-in goes on as who is signed in");
  await console.begin({ prompt: "login" });
  await console.step({ step: "password", email: nia.email, password });
  const switching = await console.step({ step: "totp", code: nia.code() });
  const xsrf = /name="xsrf" value="([\w-]+)"/.exec(switching.text)?.[1] ?? "";
  const left = await console.confirmLogout({ xsrf, logout: "yes" });
  t.match(under.logouts.splice(0), [{ subject: /./ }], "the other one is signed out first");
  const tokens = await console.exchange(await console.browser.follow(left, issuer));
  t.equal(decodeJwt(String(tokens.body.id_token)).email, nia.email);
});

t.test("codes are counted like passwords", async (t) => {
  const cy = await under.person("cy", { places: [["XN", "ADMIN"]] });
  const { console } = await open(cy);
  const wrong = await Promise.all(
    Array.from({ length: 8 }, () => console.step({ step: "totp", code: "12345x" })),
  );
  const statuses = wrong.map(({ status }) => status).sort();
  t.strictSame(statuses, [401, 401, 401, 401, 401, 429, 429, 429], "many at once, too");
  t.match(await console.step({ step: "totp", code: cy.code() }), { status: 429 });
});

t.test("who belongs nowhere, or was disabled, hears it after the right password", async (t) => {
  const dee = await under.person("dee", { places: [["XN", "ADMIN"]] });
  await under.change(dee, { $set: { memberships: [] } });
  t.match((await open(dee)).shown, { status: 403, text: /belong to no airline/ });
  await under.change(dee, { $set: { disabledAt: new Date() } });
  t.match((await open(dee)).shown, { status: 403, text: /access was withdrawn/ });
});

t.test("several airlines: the user chooses, and the role there counts", async (t) => {
  const ed = await under.person("ed", {
    places: [
      ["XN", "AIRPORT_OPERATOR", "JFK"],
      ["QZ", "FINANCE_AUDIT"],
    ],
  });
  const { console, shown } = await open(ed);
  t.match(shown, titled("Choose your airline"));
  t.match(await console.step({ step: "organization", airline: "LM" }), titled("Choose your airline"));
  t.match(await console.step({ step: "organization", airline: "QZ" }), titled("Confirm that it is you"));
  t.match(await console.step({ step: "totp", code: ed.code() }), isBack);
});

t.test("AIRPORT_OPERATOR: asked when something is unusual, unless the airline says otherwise", async (t) => {
  const flo = await under.person("flo", { places: [["LM", "AIRPORT_OPERATOR"]] });
  const first = await open(flo);
  t.match(first.shown, titled("Confirm that it is you"), "a new device");
  t.match(await first.console.step({ step: "totp", code: flo.code() }), isBack);
  const { browser } = first.console;
  const again = new OperatorConsole(issuer, browser);
  await again.begin({ prompt: "login" });
  t.match(await again.step({ step: "password", email: flo.email, password }), isBack, "the same device");
  const rule = (airportOperatorRule: "never" | "always") =>
    documents.organizations.updateOne({ _id: "LM" }, { $set: { airportOperatorRule } }, { upsert: true });
  await rule("always");
  await again.begin({ prompt: "login" });
  t.match(
    await again.step({ step: "password", email: flo.email, password }),
    titled("Confirm that it is you"),
  );
  await rule("never");
  t.match((await open(flo)).shown, isBack);
});

t.test("without a factor one has to be set up, with recovery codes", async (t) => {
  const gil = await under.person("gil", {
    places: [["XN", "FINANCE_AUDIT"]],
    without: "totp",
    phone: "+15550101",
  });
  const { console, shown } = await open(gil);
  t.match(shown, titled("Set up your second factor"));
  const secret = /Key: <code>([A-Z2-7 ]+)</.exec(shown.text)?.[1]?.replaceAll(" ", "") ?? "";
  const now = () => new Date(Date.now() + under.aheadMs);
  t.match(await console.step({ step: "enrol-totp", code: "000000x" }), { status: 401, text: /does not fit/ });
  const enrolledBy = totpCode(secret, now());
  const codes = await console.step({ step: "enrol-totp", code: enrolledBy });
  t.match(codes, titled("Your recovery codes"));
  const listed = [...codes.text.matchAll(/<li><code>([\w-]{19})</g)].map(([, code = ""]) => code);
  t.equal(new Set(listed).size, 10);
  t.match(await console.step({ step: "continue" }), isBack);
  const later = await open(gil);
  t.match(await later.console.step({ step: "totp", code: enrolledBy }), { status: 401 }, "used to enrol");
  t.match(
    await later.console.step({ step: "recovery-code", code: listed[3]!.toUpperCase() }),
    titled("Set up"),
  );
  const third = await open(gil);
  t.match(await third.console.step({ step: "recovery-code", code: listed[3]! }), { status: 401 }, "once");
});

t.test("passkeys", async (t) => {
  const hal = await under.person("hal", { places: [["XN", "ADMIN"]], without: "totp" });
  const { console, shown } = await open(hal);
  const key = new Authenticator(issuer);
  const phished = new Authenticator("https://evil.example");
  type Creation = Parameters<Authenticator["create"]>[0];
  type Asking = Parameters<Authenticator["get"]>[0];
  const bad = { step: "enrol-passkey", response: phished.create(passkeyOptions<Creation>(shown)) };
  const again = await console.step(bad);
  t.match(again, { status: 401, text: /could not be set up/ }, "made for another site");
  const response = key.create(passkeyOptions<Creation>(again));
  t.match(await console.step({ step: "enrol-passkey", response }), titled("Your recovery codes"));
  t.match(await console.step({ step: "continue" }), isBack);

  const next = await open(hal);
  const answer = key.get(passkeyOptions<Asking>(next.shown));
  t.match(await next.console.step({ step: "passkey", response: answer }), isBack);
  const third = await open(hal);
  const refused = await third.console.step({ step: "passkey", response: answer });
  t.match(refused, { status: 401, text: /not accepted/ }, "replayed");
  const stranger = new Authenticator(issuer).get(passkeyOptions<Asking>(refused));
  t.match(await third.console.step({ step: "passkey", response: stranger }), { status: 401 });
  t.match(await third.console.step({ step: "passkey", response: "{" }), { status: 401 });
});

t.test("SMS as the last resort of a supervisor", async (t) => {
  const ida = await under.person("ida", { places: [["XN", "OPS_SUPERVISOR"]], phone: "+15550102" });
  const { console, shown } = await open(ida);
  t.match(shown.text, /Six digits from your authenticator app.*by SMS/s);
  t.match(await console.choose("sms"), { text: /Send the code/ });
  t.match(await console.step({ step: "sms-send" }), { status: 200, text: /on your phone/ });
  t.match(under.texts, [
    { phone: "+15550102", text: /^\d{6} is your Stopover sign-in code.*\n\n@localhost #\d{6}$/s },
  ]);
  const code = under.texts[0]!.text.slice(0, 6);
  const wrong = code === "000000" ? "000001" : "000000";
  t.match(await console.step({ step: "sms", code: wrong }), { status: 401 });
  under.aheadMs += 5 * 60_000;
  t.match(await console.step({ step: "sms", code }), { status: 401 }, "too old");
  await console.step({ step: "sms-send" });
  t.match(await console.step({ step: "sms", code: under.texts.at(-1)!.text.slice(0, 6) }), isBack);
  const later = await open(ida);
  t.match(await later.console.step({ step: "sms-send" }), { status: 200 });
  t.match(await later.console.step({ step: "sms-send" }), { status: 429, text: /Too many/ });
  t.equal(under.texts.length, 3);
});

t.test("an invitation sets the password once", async (t) => {
  const jo = await under.person("jo", { places: [["XN", "ADMIN"]] });
  await under.change(jo, { $unset: { passwordHash: "" } });
  t.match((await open(jo)).shown, { status: 401 }, "no password yet");
  const link = `${issuer}/invitation/${await invite(documents, jo.id, new Date())}`;
  const browser = new Browser();
  t.match(await browser.get(link), { status: 200, text: /value="jo@example\.com"/ });
  const set = (first: string, again: string) => browser.post(link, { password: first, again });
  t.match(await set("short", "short"), { status: 422, text: /at least 12/ });
  t.match(await set("one long password", "another long one"), { status: 422, text: /not the same/ });
  t.match(await set(password, password), titled("Your password is set"));
  t.match(await set(password, password), { status: 404, text: /This link is over/ });
  t.match((await open(jo)).shown, titled("Confirm that it is you"));
  const old = await invite(documents, jo.id, new Date(Date.now() - 73 * 3_600_000));
  t.match(await browser.get(`${issuer}/invitation/${old}`), { status: 404 }, "73 hours old");
  const newer = await invite(documents, jo.id, new Date());
  t.notOk(await acceptInvitation(documents, old, "x"), "a newer one stands");
  t.match(await browser.get(`${issuer}/invitation/${newer}`), { status: 200 });
});

t.test("recovery codes are issued anew as a whole", async (t) => {
  const kit = await under.person("kit", { places: [["XN", "ADMIN"]] });
  const [first = ""] = await issueRecoveryCodes(documents, kit.id);
  await issueRecoveryCodes(documents, kit.id);
  const { console } = await open(kit);
  t.match(await console.step({ step: "recovery-code", code: first }), { status: 401 });
});

t.test("the log names nobody and holds no secret", async (t) => {
  const log = under.log();
  t.match(log, /second factor accepted/);
  t.notMatch(log, /@example\.com|\+1555|correct horse/);
});
