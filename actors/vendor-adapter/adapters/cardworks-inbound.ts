/** Owns the webhooks that CardWorks sends: each tells of one transaction, worded as in its lists. */
import Type from "typebox";
import { validatorOf } from "../http.ts";
import { checked, type InboundDialect, jsonOf, vendorSignature } from "../inbound.ts";
import { TransactionAnswer, transactionOf } from "./cardworks.ts";

const isEvent = validatorOf(
  Type.Object({
    id: Type.String({ minLength: 1, maxLength: 200 }),
    type: Type.String({ maxLength: 200 }),
    data: Type.Unknown(),
  }),
);
const isTransaction = validatorOf(TransactionAnswer);

export const cardworksInbound: InboundDialect = {
  signatureHeader: "x-vendor-signature",
  verify: vendorSignature,
  read: (request) => {
    const { type, data } = checked(jsonOf(request), isEvent);
    if (type !== "transaction.created") return { notices: [], passedOver: 1 };
    const { transaction } = transactionOf(checked(data, isTransaction));
    return transaction === undefined
      ? { notices: [], passedOver: 1 }
      : { notices: [{ kind: "card", transaction }], passedOver: 0 };
  },
};
