/** Owns the webhooks that Stripe sends of Issuing: which of them are taken, and how they are signed (docs.stripe.com/webhooks). */
import { checked, type InboundDialect, jsonOf, timestampedSignature } from "../inbound.ts";
import {
  authorizationTypes,
  isAuthorization,
  isEvent,
  isTransaction,
  transactionTypes,
  usesOfAuthorization,
  usesOfTransaction,
} from "./stripe-events.ts";

export const stripeInbound: InboundDialect = {
  signatureHeader: "stripe-signature",
  verify: timestampedSignature("stripe-signature"),
  read: (request) => {
    const { type, created, data } = checked(jsonOf(request), isEvent);
    const uses = authorizationTypes.includes(type)
      ? usesOfAuthorization(checked(data.object, isAuthorization), created)
      : transactionTypes.includes(type)
        ? usesOfTransaction(checked(data.object, isTransaction))
        : [];
    const notices = uses.map((transaction) => ({ kind: "card", transaction }) as const);
    return { notices, passedOver: notices.length === 0 ? 1 : 0 };
  },
};
