/** Owns what a sub-case keeps of its cards: the one that pays its hotel, and the passengers' own. Having them issued is the saga's. */

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
  balanceMinor: number;
  currency: string;
}
