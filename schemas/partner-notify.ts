/** Owns the shapes of a partner's message to a passenger (contract, POST notify): a template's id goes in, and nothing of an address comes out. */
import Type, { type Static } from "typebox";
import { manualTemplates } from "./notification.ts";
import { Urn } from "./urn.ts";
import { channels } from "./vocabulary.ts";

export const NotifyPassengerBody = Type.Object(
  {
    templateId: Type.Enum([...manualTemplates], {
      description: "What to tell. The words are the template's, in the passenger's language.",
      examples: ["voucher-issued"],
    }),
    channels: Type.Optional(
      Type.Array(Type.Enum([...channels]), {
        minItems: 1,
        maxItems: channels.length,
        uniqueItems: true,
        description: "In which to try it, in the order SMS, WhatsApp, e-mail. Default: all.",
      }),
    ),
  },
  {
    title: "NotifyPassenger",
    additionalProperties: false,
    description: "Any other member is refused: no word of yours is taken.",
  },
);
export type NotifyPassengerBody = Static<typeof NotifyPassengerBody>;

/** Why nobody was written to. */
export const notSentReasons = ["NOTHING_TO_TELL", "SENT_JUST_NOW", "OPTED_OUT", "NO_CONTACT"] as const;
export type NotSentReason = (typeof notSentReasons)[number];

export const PassengerNotified = Type.Object(
  {
    caseUrn: Urn("case"),
    passengerUrn: Urn("passenger"),
    templateId: NotifyPassengerBody.properties.templateId,
    status: Type.Enum(["QUEUED", "NOT_SENT"], {
      description: "QUEUED: it is being sent; whether it arrives is told to the airline's operators.",
    }),
    reasonCode: Type.Optional(
      Type.Enum([...notSentReasons], {
        description:
          "Of NOT_SENT. NOTHING_TO_TELL: what the template tells of is not there (a room, a ride), or is not so. SENT_JUST_NOW: the same is on its way, or was sent less than a minute ago. OPTED_OUT: the passenger wants nothing more in these channels. NO_CONTACT: there is no number or address in them.",
      }),
    ),
    messageUrn: Type.Optional(
      Type.String({ ...Urn("message"), description: "For questions to the airline." }),
    ),
    correlationUrn: Urn("correlation"),
  },
  { title: "PassengerNotified" },
);
export type PassengerNotified = Static<typeof PassengerNotified>;
