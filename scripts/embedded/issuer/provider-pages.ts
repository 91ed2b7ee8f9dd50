/** Owns the pages that oidc-provider itself shows: errors, signing out and signed out. */
import type { ErrorOut, KoaContextWithOIDC } from "oidc-provider";
import { documentOf, logoutPage, notePage, type Page } from "./pages.ts";
import { pageHeaders } from "./security-headers.ts";

const render = (ctx: KoaContextWithOIDC, page: Page, formTargets: readonly string[] = []): void => {
  ctx.set(pageHeaders(formTargets));
  ctx.type = "html";
  ctx.body = documentOf(page);
};

/** What went wrong as the protocol names it, and nothing of what was asked. */
export const renderError = (ctx: KoaContextWithOIDC, out: ErrorOut): void => {
  const isOver =
    out.error === "invalid_request" && /session|interaction|expired/.test(out.error_description ?? "");
  const text = isOver
    ? "This sign-in is over. Go back to the console and start again."
    : `This did not work (${out.error}${out.error_description ? `: ${out.error_description}` : ""}).`;
  render(ctx, notePage("Something went wrong", text));
};

export const renderLogout = (ctx: KoaContextWithOIDC, form: string): void => {
  const { state } = ctx.oidc.session ?? {};
  const back = (state as { postLogoutRedirectUri?: string } | undefined)?.postLogoutRedirectUri;
  // Anybody's ID token would do else, and sign out whoever follows a link.
  const hint = ctx.oidc.entities.IdTokenHint?.payload.sub;
  const isAsked = hint !== undefined && hint === ctx.oidc.session?.accountId;
  render(ctx, logoutPage(form, isAsked), back === undefined ? [] : [new URL(back).origin]);
};

export const renderLoggedOut = (ctx: KoaContextWithOIDC): void => {
  clearSite(ctx);
  render(ctx, notePage("Signed out", "You are signed out. You can close this page."));
};

/**
 * The last step of a logout (contract, "Logout order"). The session's cookie is taken away by name, not by `"cookies"`: that
 * would also make this browser a stranger, and every next sign-in an unusual one.
 */
export const clearSite = (ctx: KoaContextWithOIDC): void => ctx.set("Clear-Site-Data", '"cache", "storage"');
