/** Owns the list of simulated vendors; one more is one more line here. */
import type { VendorDefinition } from "../vendor-server.ts";
import { cardworks } from "./cardworks.ts";
import { ridefleet } from "./ridefleet.ts";
import { roomlink } from "./roomlink.ts";
import { sendwell } from "./sendwell.ts";
import { stayhub } from "./stayhub.ts";

export const vendors: readonly VendorDefinition[] = [stayhub, roomlink, cardworks, sendwell, ridefleet];

/** What `--only` takes. */
export const partNames: readonly string[] = [...vendors.map((vendor) => vendor.name), "receiver"];
