// What passengers have where vendors of every kind are: a card, a ride that may be asked for, and a stay that has begun. In this world
// nobody sells any: the simulated vendor of drills takes their place.
import type { Document } from "mongodb";
import { drillVendor } from "../../../schemas/drill.ts";
import { idOf } from "../../../schemas/urn.ts";
import type { Clients } from "../../harness/clients.ts";
import { dayFromNow } from "./terms.ts";

/** Every group of these cases. */
export const endow = async ({ documents }: Clients, caseUrns: readonly string[]): Promise<void> => {
  const groups = documents.tenant("XN").collection<Document>("subCases");
  for (const { _id, round } of await groups.find({ caseId: { $in: caseUrns.map(idOf) } }).toArray()) {
    const vendor = drillVendor;
    const money = { balanceMinor: 5_000, loadedMinor: 5_000, currency: "USD", last4: "4821" };
    const card = {
      cardId: `card-${_id}`,
      vendor,
      reference: `${_id}.card.${round}`,
      status: "ACTIVE",
      ...money,
    };
    const ride = { vendor, reference: `${_id}.ride.${round}`, status: "declined", vehicleType: "SHUTTLE" };
    const assignment = {
      "assignment.terms.vendors.transport": vendor,
      "assignment.terms.rides.onDemand": true,
      "assignment.stay.checkIn": dayFromNow(-1),
    };
    await groups.updateOne({ _id }, { $set: { card, ride, ...assignment }, $inc: { revision: 1 } });
  }
};
