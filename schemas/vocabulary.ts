/** Owns the closed lists of the contract (states, categories, codes) and the small types that many resources share. */
import Type, { type Static } from "typebox";

export const disruptionTypes = [
  "CANCELLED",
  "DELAYED",
  "DIVERTED",
  "MISSED_CONNECTION",
  "DENIED_BOARDING",
] as const;
export type DisruptionType = (typeof disruptionTypes)[number];

/** An unknown reason is read as OTHER and its raw value kept. */
export const disruptionReasons = [
  "WEATHER",
  "TECHNICAL",
  "CREW",
  "ATC",
  "SECURITY",
  "STRIKE",
  "AIRPORT",
  "OTHER",
] as const;
export type DisruptionReason = (typeof disruptionReasons)[number];

export const cabins = ["ECONOMY", "PREMIUM_ECONOMY", "BUSINESS", "FIRST", "CREW"] as const;
export type Tier = (typeof cabins)[number];

export const loyaltyTiers = ["STANDARD", "SILVER", "GOLD", "PLATINUM"] as const;
export type LoyaltyTier = (typeof loyaltyTiers)[number];

export const languages = ["en", "es", "pt", "fr", "de"] as const;
export type Language = (typeof languages)[number];

/** What a passenger needs that not every room or vehicle has; needs are gates, never scores. */
export const accessNeeds = [
  "WHEELCHAIR",
  "REDUCED_MOBILITY",
  "VISUAL",
  "HEARING",
  "SERVICE_ANIMAL",
  "INFANT_COT",
] as const;
export type AccessNeed = (typeof accessNeeds)[number];

export const caseStatuses = ["OPEN", "MANUAL_REVIEW", "CLOSED"] as const;
export type CaseStatus = (typeof caseStatuses)[number];

export const subCaseStatuses = [
  "PENDING",
  "PROCESSING",
  "OFFER_READY",
  "RESOLVED",
  "ROLLING_BACK",
  "DECLINED",
  "FAILED",
  "COMPENSATION_FAILED",
  "NOT_REQUIRED",
] as const;
export type SubCaseStatus = (typeof subCaseStatuses)[number];

export const demandTypes = ["INITIAL", "INCREMENTAL"] as const;
export type DemandType = (typeof demandTypes)[number];
export const demandStates = ["REQUESTED", "APPROVED", "FULFILLED", "PARTIAL", "REJECTED"] as const;
export type DemandState = (typeof demandStates)[number];

export const policyStatuses = ["DRAFT", "ACTIVE", "ARCHIVED"] as const;
export type PolicyStatus = (typeof policyStatuses)[number];

export const offerStates = ["PENDING", "READY", "ACCEPTED", "DECLINED", "WITHDRAWN"] as const;
export type OfferState = (typeof offerStates)[number];

export const reservationStatuses = [
  "PENDING",
  "IN_DOUBT",
  "CONFIRMED",
  "CHECKED_IN",
  "CHECKED_OUT",
  "CANCELLED",
  "NO_SHOW",
  "FAILED",
] as const;
export type ReservationStatus = (typeof reservationStatuses)[number];

export const reviewCategories = [
  "ALLOCATION_FAILED",
  "BOOKING_FAILED",
  "PAYMENT_FAILED",
  "PARTIAL_FULFILLMENT",
  "POLICY_VIOLATION",
  "MIXED_TIER_GROUP",
  "DATA_INCOMPLETE",
] as const;
export type ReviewCategory = (typeof reviewCategories)[number];

export const priorities = ["HIGH", "MEDIUM", "LOW"] as const;
export type Priority = (typeof priorities)[number];

/** Contract, table of manual review categories. */
export const priorityOf: Readonly<Record<ReviewCategory, Priority>> = {
  ALLOCATION_FAILED: "HIGH",
  BOOKING_FAILED: "HIGH",
  PAYMENT_FAILED: "MEDIUM",
  PARTIAL_FULFILLMENT: "MEDIUM",
  POLICY_VIOLATION: "LOW",
  MIXED_TIER_GROUP: "LOW",
  DATA_INCOMPLETE: "LOW",
};

export const amenities = [
  "24H_RECEPTION",
  "AIRPORT_SHUTTLE",
  "BREAKFAST",
  "RESTAURANT",
  "WIFI",
  "PARKING",
  "ACCESSIBLE_ROOMS",
  "PETS_ALLOWED",
  "FAMILY_ROOMS",
  "AIR_CONDITIONING",
] as const;
export type Amenity = (typeof amenities)[number];

export const paymentMethods = ["GUARANTEE", "CARD"] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

export const vehicleTypes = ["SHUTTLE", "PRIVATE_CAR", "WHEELCHAIR_VAN"] as const;
export type VehicleType = (typeof vehicleTypes)[number];

export const directions = ["AIRPORT_TO_HOTEL", "HOTEL_TO_AIRPORT"] as const;
export type Direction = (typeof directions)[number];

export const channels = ["SMS", "EMAIL", "WHATSAPP"] as const;
export type Channel = (typeof channels)[number];

export const roles = ["ADMIN", "OPS_SUPERVISOR", "AIRPORT_OPERATOR", "FINANCE_AUDIT"] as const;
export type Role = (typeof roles)[number];

export const scopes = [
  "cases.read",
  "cases.events.subscribe",
  "bookings.read",
  "vouchers.read",
  "disruptions.events.subscribe",
  "disruptions.events.publish",
  "policies.read",
  "metrics.read",
  "passenger.notify",
  "cases.priority.request",
  "wallet.events.subscribe",
] as const;
export type Scope = (typeof scopes)[number];

export const AirportCode = Type.String({ pattern: "^[A-Z]{3}$", examples: ["JFK"] });
export const Timestamp = Type.String({
  format: "date-time",
  maxLength: 40,
  examples: ["2026-11-21T21:30:00Z"],
});
/** A whole number of the currency's minor unit. */
export const Money = Type.Object({
  amountMinor: Type.Integer(),
  currency: Type.String({ pattern: "^[A-Z]{3}$", description: "ISO 4217" }),
});
export type Money = Static<typeof Money>;
export const Reason = Type.String({
  minLength: 1,
  maxLength: 500,
  examples: ["Confirmed with the duty manager"],
});

export const GroupId = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,63}$",
  examples: ["K7QX2M"],
  description: "Opaque.",
});
