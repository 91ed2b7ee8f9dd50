/** Owns a sign-in from the first page to the last: what each step checks and what comes next. Rules are its neighbours', HTTP is server.ts's. */

import type { Logger } from "pino";
import { unseal } from "../../../actors/runtime/seal.ts";
import { addressBlock } from "../../../gateway/http/address.ts";
import { Attempts } from "./attempts.ts";
import type { IssuerDocuments } from "./documents.ts";
import { Enrolment } from "./enrolment.ts";
import { networksOfDevice } from "./known-devices.ts";
import { factorPage, organizationPage, type Page, passwordPage, recoveryCodesPage } from "./pages.ts";
import { acceptPasskey, askForPasskey, type RelyingParty } from "./passkeys.ts";
import { verifyPassword } from "./passwords.ts";
import { acceptRecoveryCode } from "./recovery-codes.ts";
import { type FactorKind, networkOf, riskSignals } from "./second-factor.ts";
import { type SignIn, type Stage, signInLifetimeSeconds, stageOf } from "./sign-in-state.ts";
import { newSmsCode, type SendText, smsCodeLifetimeMs, smsText } from "./sms-codes.ts";
import { acceptTotp } from "./totp.ts";
import {
  airportOperatorRuleOf,
  digestOf,
  type Membership,
  normalEmail,
  type User,
  userByEmail,
} from "./users.ts";

export interface Browser {
  address: string;
  /** Of the cookie; undefined: it has none. */
  deviceToken: string | undefined;
}

export type SignInAnswer =
  | { kind: "page"; status: number; page: Page }
  /** The step is done: show what comes next. */
  | { kind: "next" }
  | { kind: "finished"; user: User; membership: Membership; signIn: SignIn };

export interface SignInParts {
  documents: IssuerDocuments;
  sealKey: Buffer;
  party: RelyingParty;
  /** Undefined: no codes by SMS. */
  sendText: SendText | undefined;
  log: Logger;
  now: () => Date;
}

interface Standing {
  id: string;
  signIn: SignIn | undefined;
  user: User | undefined;
  stage: Stage;
}

type Form = URLSearchParams;

const refused = (status: number, page: Page): SignInAnswer => ({ kind: "page", status, page });

export class SignInDesk {
  readonly #parts: SignInParts;
  readonly #attempts: Attempts;
  readonly #enrolment: Enrolment;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#attempts = new Attempts(parts.documents);
    this.#enrolment = new Enrolment(parts);
  }

  /** @param chosen the kind of factor that the user asked for */
  async show(id: string, chosen: string | null, hint = ""): Promise<SignInAnswer> {
    return this.#page(await this.#standing(id), { chosen, hint });
  }

  /** @param form what the page sent, in which `step` says what it is */
  async take(id: string, form: Form, browser: Browser): Promise<SignInAnswer> {
    const step = form.get("step") ?? "";
    const { documents } = this.#parts;
    if (step === "restart") {
      await documents.signIns.deleteOne({ _id: id });
      return { kind: "next" };
    }
    if (step === "password") return this.#takePassword(id, form, browser);
    const standing = await this.#standing(id);
    const { signIn, user, stage } = standing;
    if (signIn === undefined || user === undefined) return { kind: "next" };
    if (step === "organization" && stage.at === "organization")
      return this.#change(signIn, { airline: form.get("airline") ?? "" });
    if (step === "continue" && stage.at === "recovery-codes") {
      await documents.signIns.updateOne({ _id: id }, { $unset: { recoveryCodes: "" } });
      return { kind: "next" };
    }
    if (stage.at === "enrolment" && step.startsWith("enrol-"))
      return this.#takeEnrolment(standing, signIn, user, form);
    if (stage.at === "second-factor") return this.#takeFactor(standing, signIn, user, stage.offered, form);
    return { kind: "next" };
  }

  async #standing(id: string): Promise<Standing> {
    const { documents, now } = this.#parts;
    const found = await documents.signIns.findOne({ _id: id });
    const signIn = found !== null && found.expiresAt > now() ? found : undefined;
    const user =
      signIn === undefined
        ? undefined
        : ((await documents.users.findOne({ _id: signIn.userId })) ?? undefined);
    const place = user?.memberships.find(
      ({ airline }) => user.memberships.length === 1 || airline === signIn?.airline,
    );
    const rule = await airportOperatorRuleOf(documents, place?.airline ?? "");
    return { id, signIn, user, stage: stageOf(signIn, user, rule) };
  }

  async #page(
    { signIn, user, stage }: Standing,
    { chosen, hint = "" }: { chosen: string | null; hint?: string },
  ): Promise<SignInAnswer> {
    const page = (shown: Page): SignInAnswer => ({ kind: "page", status: 200, page: shown });
    if (signIn === undefined || user === undefined || stage.at === "password")
      return page(passwordPage({ email: hint }));
    if (stage.at === "organization") return page(organizationPage(stage.memberships));
    if (stage.at === "second-factor") {
      const kind = stage.offered.find((one) => one === chosen) ?? stage.offered[0];
      return page(await this.#factorPage(signIn, user, stage.offered, kind as FactorKind));
    }
    if (stage.at === "enrolment") return page(await this.#enrolment.page(signIn, user));
    if (stage.at === "recovery-codes") {
      const codes = JSON.parse(unseal(this.#parts.sealKey, signIn.recoveryCodes ?? "")) as string[];
      return page(recoveryCodesPage(codes));
    }
    return { kind: "finished", user, membership: stage.membership, signIn };
  }

  async #takePassword(id: string, form: Form, browser: Browser): Promise<SignInAnswer> {
    const { documents, now, log } = this.#parts;
    const email = (form.get("email") ?? "").slice(0, 320);
    const at = now();
    const again = (status: number, problem: string) => refused(status, passwordPage({ email, problem }));
    const account = normalEmail(email);
    const user = await userByEmail(documents, email);
    const networks = await networksOfDevice(documents, user?._id ?? "nobody", browser.deviceToken, at);
    // The user's own browser is counted apart: strangers who guess must not lock the user out.
    const guesser = networks === undefined ? account : `${account} at ${browser.deviceToken}`;
    const address = addressBlock(browser.address);
    const failures = await this.#failuresOf(account, guesser, user, at);
    const until =
      (await this.#attempts.begin("address", address, at)) ??
      (await this.#attempts.begin("account", guesser, at));
    if (until !== undefined) return again(429, waitText(until, at));
    if (!(await verifyPassword(form.get("password") ?? "", user?.passwordHash)) || user === undefined)
      return again(401, "The e-mail address or the password is wrong.");
    await this.#attempts.forgive("account", guesser);
    await this.#attempts.takeBack("address", address);
    if (user.disabledAt !== undefined)
      return again(403, "Your access was withdrawn. Talk to your administrator.");
    if (user.memberships.length === 0)
      return again(403, "You belong to no airline here, so you cannot sign in. Talk to your administrator.");
    const signals = riskSignals(
      {
        deviceNetworks: networks,
        network: networkOf(browser.address),
        recentFailures: failures,
        lastSignInAt: user.lastSignInAt,
      },
      at,
    );
    log.info({ user: user._id, signals }, "password accepted");
    const expiresAt = new Date(at.getTime() + signInLifetimeSeconds * 1000);
    await documents.signIns.replaceOne(
      { _id: id },
      { userId: user._id, signals, expiresAt },
      { upsert: true },
    );
    return { kind: "next" };
  }

  /** Passwords and codes that were wrong lately, from wherever. */
  async #failuresOf(account: string, guesser: string, user: User | undefined, at: Date): Promise<number> {
    const counts = await Promise.all([
      this.#attempts.countOf("account", account, at),
      guesser === account ? 0 : this.#attempts.countOf("account", guesser, at),
      user === undefined ? 0 : this.#attempts.countOf("factor", user._id, at),
    ]);
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async #takeEnrolment(standing: Standing, signIn: SignIn, user: User, form: Form): Promise<SignInAnswer> {
    const at = this.#parts.now();
    const until = await this.#attempts.begin("factor", user._id, at);
    const problem =
      until === undefined ? await this.#enrolment.take(signIn, user, form) : waitText(until, at);
    if (problem === undefined) {
      await this.#attempts.forgive("factor", user._id);
      return { kind: "next" };
    }
    const fresh = await this.#standing(standing.id);
    return refused(
      until === undefined ? 401 : 429,
      await this.#enrolment.page(fresh.signIn ?? signIn, user, problem),
    );
  }

  async #takeFactor(
    { id }: Standing,
    signIn: SignIn,
    user: User,
    offered: readonly FactorKind[],
    form: Form,
  ): Promise<SignInAnswer> {
    const at = this.#parts.now();
    const step = form.get("step") ?? "";
    const kind = offered.find((one) => one === step.replace(/-send$/, ""));
    if (kind === undefined) return { kind: "next" };
    const again = async (status: number, problem: string | undefined, isSent = false) =>
      refused(status, await this.#factorPage(signIn, user, offered, kind, { problem, isSent }));
    if (step === "sms-send") {
      const problem = await this.#sendSms(signIn, user, at);
      return problem === undefined ? again(200, undefined, true) : again(429, problem);
    }
    const until = await this.#attempts.begin("factor", user._id, at);
    if (until !== undefined) return again(429, waitText(until, at), kind === "sms");
    if (!(await this.#accepts(kind, signIn, user, form))) {
      const problem =
        kind === "passkey" ? "That passkey was not accepted." : "That code is wrong, or was used before.";
      return again(401, problem, kind === "sms");
    }
    await this.#attempts.forgive("factor", user._id);
    this.#parts.log.info({ user: user._id, factor: kind }, "second factor accepted");
    await this.#parts.documents.signIns.updateOne({ _id: id }, { $set: { factor: kind } });
    return { kind: "next" };
  }

  async #accepts(kind: FactorKind, signIn: SignIn, user: User, form: Form): Promise<boolean> {
    const { documents, sealKey, party, now } = this.#parts;
    const code = (form.get("code") ?? "").slice(0, 100);
    if (kind === "totp") return acceptTotp(documents, sealKey, user, code, now());
    if (kind === "recovery-code") return acceptRecoveryCode(documents, user._id, code);
    if (kind === "sms") {
      const { _id, smsCode } = signIn;
      if (smsCode === undefined || smsCode.expiresAt <= now() || smsCode.hash !== digestOf(_id + code.trim()))
        return false;
      const taken = await documents.signIns.updateOne(
        { _id, "smsCode.hash": smsCode.hash },
        { $unset: { smsCode: "" } },
      );
      return taken.matchedCount === 1;
    }
    // The challenge goes with the first answer, right or wrong.
    const { challenge } =
      (await documents.signIns.findOneAndUpdate(
        { _id: signIn._id, challenge: { $exists: true } },
        { $unset: { challenge: "" } },
      )) ?? {};
    if (challenge === undefined) return false;
    return acceptPasskey(documents, party, user, { response: form.get("response") ?? "", challenge });
  }

  /** @returns what stood in the way; undefined: it is sent */
  async #sendSms(signIn: SignIn, user: User, at: Date): Promise<string | undefined> {
    const { sendText, sealKey, documents, party, log } = this.#parts;
    const failed = "The code could not be sent. Try again, or use a recovery code.";
    if (sendText === undefined || user.phone === undefined) return failed;
    const until = await this.#attempts.begin("sms", user._id, at);
    if (until !== undefined) return waitText(until, at);
    const code = newSmsCode();
    const expiresAt = new Date(at.getTime() + smsCodeLifetimeMs);
    const smsCode = { hash: digestOf(signIn._id + code), expiresAt };
    await documents.signIns.updateOne({ _id: signIn._id }, { $set: { smsCode } });
    try {
      await sendText(unseal(sealKey, user.phone), smsText(code, party.id));
    } catch (error) {
      log.warn({ err: error, user: user._id }, "a code by SMS was not sent");
      return failed;
    }
    return undefined;
  }

  async #factorPage(
    signIn: SignIn,
    user: User,
    offered: readonly FactorKind[],
    chosen: FactorKind,
    more: { problem?: string | undefined; isSent?: boolean } = {},
  ): Promise<Page> {
    const { documents, party, sendText } = this.#parts;
    const possible = offered.filter((kind) => kind !== "sms" || sendText !== undefined);
    if (chosen !== "passkey") return factorPage({ chosen, offered: possible, ...more });
    const { options, challenge } = await askForPasskey(party, user);
    await documents.signIns.updateOne({ _id: signIn._id }, { $set: { challenge } });
    return factorPage({ chosen, offered: possible, options, ...more });
  }

  async #change({ _id }: SignIn, change: Partial<SignIn>): Promise<SignInAnswer> {
    await this.#parts.documents.signIns.updateOne({ _id }, { $set: change });
    return { kind: "next" };
  }
}

const waitText = (until: Date, now: Date): string => {
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  const wait = seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  return `Too many attempts. Try again in ${wait}.`;
};
