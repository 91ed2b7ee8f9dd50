/** Owns the list of simulated vendors; one more is one more line here. Each is loaded by the process that runs it alone. */
import type { VendorDefinition } from "../vendor-server.ts";

const loaders: Readonly<Record<string, () => Promise<VendorDefinition>>> = {
  stayhub: async () => (await import("./stayhub.ts")).stayhub,
  roomlink: async () => (await import("./roomlink.ts")).roomlink,
  cardworks: async () => (await import("./cardworks.ts")).cardworks,
  sendwell: async () => (await import("./sendwell.ts")).sendwell,
  ridefleet: async () => (await import("./ridefleet.ts")).ridefleet,
  hotelbeds: async () => (await import("./hotelbeds.ts")).hotelbeds,
  rapid: async () => (await import("./rapid.ts")).rapid,
  "stripe-issuing": async () => (await import("./stripe-issuing.ts")).stripeIssuing,
  twilio: async () => (await import("./twilio.ts")).twilio,
  skywatch: async () => (await import("./skywatch.ts")).skywatch,
};

export const vendorNames: readonly string[] = Object.keys(loaders);

/** Those that stand where none are chosen; the others speak dialects of real vendors, and are chosen by `--vendors`. */
const defaultVendors: readonly string[] = ["stayhub", "roomlink", "cardworks", "sendwell", "ridefleet"];

/** What stands without `--vendors` and `--only`. */
export const defaultParts: readonly string[] = [...defaultVendors, "receiver"];

/** What `--only` takes. */
export const partNames: readonly string[] = [...vendorNames, "receiver"];

/** @param name one of `vendorNames`. */
export const loadVendor = (name: string): Promise<VendorDefinition> => loaders[name]!();
