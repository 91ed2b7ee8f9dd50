/** Owns the partner row that has a passenger written to (contract, "Partner API"). */
import Type from "typebox";
import { NotifyPassengerBody, PassengerNotified } from "../../../schemas/partner-notify.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

export const partnerNotifyRoutes = [
  {
    id: "notifyPassenger",
    surface: "partner",
    method: "post",
    path: "/passengers/{passengerUrn}/notify",
    prefixes: ["/partner/v1"],
    summary: "Have a passenger written to",
    description:
      "From a template, about the passenger's newest open case. Nothing is told that is not so, nobody is written to in a channel that they have opted out of, and the same is not sent twice within a minute: the answer says NOT_SENT and why. Numbers and addresses are never shown. Bounded by the registration (by default 500 messages in 24 hours) and by the passenger, whichever partner asks (by default 5 in 24 hours); past it 429. A message that is not sent counts for neither.",
    scope: "passenger.notify",
    rate: "write",
    params: Type.Object({ passengerUrn: Urn("passenger") }),
    body: NotifyPassengerBody,
    command: "message.notify-passenger",
    success: 202,
    response: PassengerNotified,
    problems: ["not-found/resource", "conflict/state", "conflict/concurrent-write"],
  },
] as const satisfies readonly Route[];
