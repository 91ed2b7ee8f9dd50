/** Owns setting up a second factor during a sign-in: an authenticator app or a passkey, and the recovery codes that come with it. */
import { seal, unseal } from "../../../actors/runtime/seal.ts";
import { enrolmentPage, type Page } from "./pages.ts";
import { askForNewPasskey, enrolPasskey } from "./passkeys.ts";
import { issueRecoveryCodes } from "./recovery-codes.ts";
import type { SignInParts } from "./sign-in.ts";
import type { SignIn } from "./sign-in-state.ts";
import { enrolTotp, sealedTotpSecret, totpUri } from "./totp.ts";
import type { User } from "./users.ts";

export class Enrolment {
  readonly #parts: SignInParts;

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  /** The same secret as long as the sign-in lasts: a mistyped code needs no new scan. */
  async page(signIn: SignIn, user: User, problem?: string): Promise<Page> {
    const { documents, party, sealKey } = this.#parts;
    const pendingTotp = signIn.pendingTotp ?? sealedTotpSecret(sealKey);
    const { options, challenge } = await askForNewPasskey(party, user);
    await documents.signIns.updateOne({ _id: signIn._id }, { $set: { pendingTotp, challenge } });
    const secret = unseal(sealKey, pendingTotp);
    const { toDataURL } = await import("qrcode");
    const qrCode = await toDataURL(totpUri(secret, user.email), { margin: 1, width: 220 });
    return enrolmentPage({ qrCode, secret, passkeyOptions: options, problem });
  }

  /** @returns what is wrong with the answer; undefined: it is enrolled, and counts as answered */
  async take(signIn: SignIn, user: User, form: URLSearchParams): Promise<string | undefined> {
    const { documents, party, sealKey, log, now } = this.#parts;
    const isTotp = form.get("step") === "enrol-totp";
    const code = (form.get("code") ?? "").slice(0, 20);
    const { pendingTotp, challenge } = signIn;
    if (isTotp) {
      if (
        pendingTotp === undefined ||
        !(await enrolTotp(documents, pendingTotp, sealKey, user._id, code, now()))
      )
        return "That code does not fit. Is the time on your phone right?";
    } else {
      const answer = { response: form.get("response") ?? "", challenge: challenge ?? "" };
      if (challenge === undefined || !(await enrolPasskey(documents, party, user._id, answer, now())))
        return "That passkey could not be set up.";
    }
    // What was lost must not open the account any more.
    if (signIn.factor === "recovery-code") {
      await documents.users.updateOne(
        { _id: user._id },
        {
          $pull: { passkeys: { id: { $in: user.passkeys.map(({ id }) => id) } } },
          ...(!isTotp && { $unset: { totp: "" } }),
        },
      );
    }
    const codes = await issueRecoveryCodes(documents, user._id);
    await documents.signIns.updateOne(
      { _id: signIn._id },
      {
        $set: {
          factor: isTotp ? "totp" : "passkey",
          enrolled: true,
          recoveryCodes: seal(sealKey, JSON.stringify(codes)),
        },
        $unset: { pendingTotp: "", challenge: "" },
      },
    );
    log.info({ user: user._id, factor: isTotp ? "totp" : "passkey" }, "second factor set up");
    return undefined;
  }
}
