/** Owns telling the service that somebody signs out, so that it closes the live session and releases what that holds. */
import { randomUUID } from "node:crypto";
import { freshId, mintTraceparent } from "../../../actors/runtime/clock.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import { urn } from "../../../schemas/urn.ts";
import type { Streams } from "../../../streams/connection.ts";
import { publish } from "../../../streams/publish.ts";
import { internalSubject } from "../../../streams/subjects.ts";
import type { Membership } from "./users.ts";

const type = "operator.logged-out";

/**
 * The first step of a logout (contract, "Logout order"). On `INTERNAL`, `int.<airline>.operator.logged-out.<sub>`, with
 * `{ subject, operatorUrn }`: live sessions of tokens issued up to `occurred_at` are over.
 * @throws Error when the stream hasn't stored it: the session then stays as it is
 */
export const publishLoggedOut = async (
  streams: Streams,
  { airline, subject }: Membership,
  grantId: string | undefined,
  now: Date,
): Promise<void> => {
  const event: EventRecord = {
    urn: urn("event", freshId(airline, now)),
    type,
    occurred_at: now.toISOString(),
    tenant: urn("airline", airline),
    correlation_urn: urn("correlation", randomUUID()),
    traceparent: mintTraceparent(),
    data: { subject, operatorUrn: urn("user", subject) },
  };
  await publish(streams, {
    subject: internalSubject(airline, type, subject),
    payload: JSON.stringify(event),
    messageId: grantId === undefined ? event.urn : `logged-out:${grantId}`,
  });
};
