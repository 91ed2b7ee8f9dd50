/** Owns the table of what vendors call: one address for each, which their signature alone opens. */
import Type from "typebox";
import { signatureHeaders, webhookBytesMax } from "../../schemas/vendor-webhook.ts";
import type { Route } from "../route.ts";

export const vendorRoutes = [
  {
    id: "receiveVendorWebhook",
    surface: "platform",
    public: true,
    describedIn: ["operator"],
    method: "post",
    path: "/webhooks/vendors/{vendor}",
    prefixes: ["/v1"],
    summary: "Receive a vendor's webhook",
    description:
      "For vendors, who know the address from their account. Each signs as its dialect says; those that have no scheme of their own send `X-Vendor-Signature: t=<Unix seconds>,v1=<hex>`, an HMAC-SHA256 of `<t>.<body>` with the webhook secret, at most 300 s old. Told twice it is one. 204 once it is kept; anything else is to be sent again. A vendor without such a secret, or that nobody has configured, is answered like a bad signature.",
    params: Type.Object({
      vendor: Type.String({
        minLength: 1,
        maxLength: 64,
        description: "As the airline has named it in its configuration.",
        examples: ["cardworks"],
      }),
    }),
    rawBody: {
      description: "As the vendor words it, JSON or a form.",
      bytesMax: webhookBytesMax,
      signedIn: signatureHeaders,
    },
    // A vendor sends for thousands of passengers from one address: only what is not signed counts, for that address.
    rate: "exempt",
    handler: "receiveVendorWebhook",
    success: 204,
    response: Type.Object({}),
    problems: ["auth/bad-signature", "validation/body", "rate/exceeded", "upstream/unavailable"],
  },
] as const satisfies readonly Route[];
