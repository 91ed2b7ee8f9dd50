/** Owns the address that vendors send their webhooks to (contract, "Inbound vendor webhooks"). Whether one is theirs is the vendor-adapter's to say. */
import { systemPrincipal } from "../../schemas/command.ts";
import type { ReceivedWebhook } from "../../schemas/vendor-webhook.ts";
import { commandOf, type Dispatch, type RawRequest } from "../dispatch.ts";
import type { Handler } from "./handlers.ts";

/** @param baseUrl what vendors know this service by: some sign the address that they call */
export const createReceiveVendorWebhook = (dispatch: Dispatch, baseUrl: string): Handler => {
  const base = baseUrl.replace(/\/+$/, "");
  return async (request) => {
    const { headers, body, target } = request.raw as RawRequest;
    const data: ReceivedWebhook = {
      vendor: String(request.params.vendor),
      headers,
      rawBody: body.toString("base64"),
      url: base + target,
    };
    const command = commandOf(request, { name: "vendor-adapter.receive-webhook", entity: undefined });
    // Of no airline yet: those are found by their secrets.
    const principal = systemPrincipal("", "gateway");
    await dispatch.command(command.name, { ...command, tenant: "", principal, data });
    return { status: request.route.success, headers: [["Cache-Control", "no-store"]], body: undefined };
  };
};
