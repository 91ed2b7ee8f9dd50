/** Owns the list of simulated vendors; one more is one more line here. Each is loaded by the process that runs it alone. */
import type { VendorDefinition } from "../vendor-server.ts";

const loaders: Readonly<Record<string, () => Promise<VendorDefinition>>> = {
  stayhub: async () => (await import("./stayhub.ts")).stayhub,
  roomlink: async () => (await import("./roomlink.ts")).roomlink,
  cardworks: async () => (await import("./cardworks.ts")).cardworks,
  sendwell: async () => (await import("./sendwell.ts")).sendwell,
  ridefleet: async () => (await import("./ridefleet.ts")).ridefleet,
};

export const vendorNames: readonly string[] = Object.keys(loaders);

/** What `--only` takes. */
export const partNames: readonly string[] = [...vendorNames, "receiver"];

/** @param name one of `vendorNames`. */
export const loadVendor = (name: string): Promise<VendorDefinition> => loaders[name]!();
