/** Owns how the issuer's pages look: HTML without inline script or style, readable without either. What stands on them is decided elsewhere. */

import { escapedHtml } from "../../../schemas/html.ts";
import { passwordLength } from "./passwords.ts";
import type { FactorKind } from "./second-factor.ts";

/** HTML that is safe as it stands. */
class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | readonly Html[] | undefined;

const written = (part: Part): string => {
  if (part === undefined) return "";
  if (typeof part === "string") return escapedHtml(part);
  return part instanceof Html ? part.text : part.map(({ text }) => text).join("");
};

const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.reduce((text, string, i) => text + written(parts[i - 1]) + string));

export interface Page {
  title: string;
  body: Html;
  /** A script of ours that the page cannot do without. */
  script?: "passkey" | "submit";
}

/** The whole document. */
export const documentOf = ({ title, body, script }: Page): string =>
  `<!DOCTYPE html>${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Stopover</title>
<link rel="stylesheet" href="/assets/issuer.css">
${script && html`<script src="/assets/${script}.js" defer></script>`}
</head>
<body>
<main>
<p class="brand">Stopover</p>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`.text
  }`;

const problem = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : html`<p class="problem" role="alert" id="problem">${text}</p>`;

const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

const restart = html`<form method="post">${hidden("step", "restart")}
<button class="link">Sign in as somebody else</button></form>`;

export const passwordPage = (filled: { email: string; problem?: string }): Page => ({
  title: "Sign in",
  body: html`${problem(filled.problem)}
<form method="post">${hidden("step", "password")}
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${filled.email}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>`,
});

export const organizationPage = (
  places: readonly { airline: string; role: string }[],
  fault?: string,
): Page => ({
  title: "Choose your airline",
  body: html`${problem(fault)}
<form method="post">${hidden("step", "organization")}
<fieldset><legend>You work for several airlines. Which one is this session for?</legend>
${places.map(
  ({ airline, role }) =>
    html`<button name="airline" value="${airline}">${airline} <small>${role}</small></button>`,
)}
</fieldset></form>${restart}`,
});

const codeForm = (step: string, label: string, fault: string | undefined, mode: "numeric" | "text"): Html =>
  html`${problem(fault)}
<form method="post">${hidden("step", step)}
<label for="code">${label}</label>
<input id="code" name="code" inputmode="${mode}" autocomplete="one-time-code" required>
<button>Go on</button>
</form>`;

const passkeyForm = (step: string, act: "create" | "get", options: object, label: string): Html =>
  html`<form method="post" data-passkey="${act}">${hidden("step", step)}${hidden("response", "")}
<script type="application/json">${new Html(JSON.stringify(options).replaceAll("<", "\\u003c"))}</script>
<button>${label}</button>
<p role="status" aria-live="polite"></p>
<noscript><p class="problem">A passkey needs JavaScript in this browser.</p></noscript>
</form>`;

const factorNames: Readonly<Record<FactorKind, string>> = {
  passkey: "Use a passkey",
  totp: "Use the authenticator app",
  "recovery-code": "Use a recovery code",
  sms: "Neither is at hand: get a code by SMS",
};

export interface FactorPage {
  chosen: FactorKind;
  offered: readonly FactorKind[];
  /** For a passkey. */
  options?: object;
  /** A code is on its way. */
  isSent?: boolean;
  problem?: string | undefined;
}

export const factorPage = (page: FactorPage): Page => ({
  title: "Confirm that it is you",
  body: html`${factorForm(page)}
<ul class="others">${page.offered
    .filter((kind) => kind !== page.chosen)
    .map((kind) => html`<li><a href="?with=${kind}">${factorNames[kind]}</a></li>`)}</ul>${restart}`,
  ...(page.chosen === "passkey" && { script: "passkey" as const }),
});

const factorForm = ({ chosen, options = {}, isSent = false, problem: fault }: FactorPage): Html => {
  if (chosen === "totp") return codeForm("totp", "Six digits from your authenticator app", fault, "numeric");
  if (chosen === "recovery-code")
    return codeForm("recovery-code", "One of your recovery codes", fault, "text");
  if (chosen === "passkey")
    return html`${problem(fault)}${passkeyForm("passkey", "get", options, "Use the passkey")}`;
  if (isSent) return codeForm("sms", "Six digits from the message on your phone", fault, "numeric");
  return html`${problem(fault)}<form method="post">${hidden("step", "sms-send")}
<p>A message goes to the phone number that your administrator has noted.</p>
<button>Send the code</button></form>`;
};

export interface EnrolmentPage {
  /** A `data:` address of the QR code. */
  qrCode: string;
  /** Base32, for typing it in. */
  secret: string;
  passkeyOptions: object;
  problem?: string | undefined;
}

export const enrolmentPage = ({ qrCode, secret, passkeyOptions, problem: fault }: EnrolmentPage): Page => ({
  title: "Set up your second factor",
  script: "passkey",
  body: html`<p>Your role takes more than a password. Set up one of these once.</p>
<h2>Authenticator app</h2>
<p>Scan this with the app, or type the key in.</p>
<img src="${qrCode}" alt="QR code of the key below" width="220" height="220">
<p>Key: <code>${secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code></p>
${codeForm("enrol-totp", "Six digits that the app shows now", fault, "numeric")}
<h2>Passkey</h2>
<p>A security key, or this device's own fingerprint or PIN.</p>
${passkeyForm("enrol-passkey", "create", passkeyOptions, "Set up a passkey")}
${restart}`,
});

export const recoveryCodesPage = (codes: readonly string[]): Page => ({
  title: "Your recovery codes",
  body: html`<p>Each signs you in once if you lose your second factor. Keep them where you keep valuables: they are not shown again.</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<form method="post">${hidden("step", "continue")}<button>I have kept them</button></form>`,
});

export const invitationPage = (invited: { email: string; problem?: string | undefined }): Page => ({
  title: "Choose your password",
  body: html`${problem(invited.problem)}
<form method="post">
<label for="email">E-mail</label>
<input id="email" type="email" autocomplete="username" value="${invited.email}" readonly>
<label for="password">Password, at least ${String(passwordLength.min)} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${String(passwordLength.min)}" required>
<label for="again">The same again</label>
<input id="again" name="again" type="password" autocomplete="new-password" required>
<button>Set the password</button>
</form>`,
});

/** Something to read, and nothing to do here. */
export const notePage = (title: string, text: string): Page => ({ title, body: html`<p>${text}</p>` });

/** @param form oidc-provider's own, with its protection against forgery @param isAsked by the console, which needs no second question */
export const logoutPage = (form: string, isAsked: boolean): Page => ({
  title: "Sign out",
  body: html`${new Html(form)}
<p>This ends your session in this browser.</p>
<button form="op.logoutForm" name="logout" value="yes" ${isAsked ? new Html("data-submit") : undefined}>Sign out</button>`,
  ...(isAsked && { script: "submit" as const }),
});
