/** Owns what a sub-case keeps of its cards: the one that pays its hotel, and the passengers' own. Having them issued is the saga's. */
import type { CardUse } from "./card-use.ts";

/** The card that pays a hotel which takes no guarantee; the passengers never see it. */
export interface PaymentCard {
  cardId: string;
  vendor: string;
  reference: string;
  status: "ACTIVE" | "CANCELLED";
  /** All that was ever put on it. */
  loadedMinor?: number;
}

/** The passengers' card for incidentals. */
export interface PassengerCard extends PaymentCard {
  last4: string;
  /** As the vendor told when it was issued or loaded. */
  balanceMinor: number;
  currency: string;
  /** What the vendor has told of its use, in the order of arrival. Absent: nothing. */
  uses?: CardUse[];
}
