/** Owns the headers of every page: nothing is loaded from elsewhere, framed, cached or told to the next site. */

/** @param formTargets origins that a form's answer may redirect to, beside our own (browsers check those as well) */
export const pageHeaders = (formTargets: readonly string[] = []): Record<string, string> => ({
  "Content-Security-Policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    ["form-action 'self'", ...formTargets].join(" "),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Permissions-Policy": "publickey-credentials-get=(self), publickey-credentials-create=(self)",
});
