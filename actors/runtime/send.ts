/** Owns sending a command through JetStream: its id is its message id, so the same command twice is one. */
import { type Command, systemPrincipal } from "../../schemas/command.ts";
import type { Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import { commandSubject } from "../../streams/subjects.ts";

/**
 * @param messageId what the server tells repeats by, where that must not be the command's id
 * @throws when the server doesn't confirm; sending again is safe
 */
export const sendCommand = async (
  streams: Streams,
  command: Command,
  messageId: string = command.id,
): Promise<void> => {
  await publish(streams, {
    subject: commandSubject(command.tenant, command.name, command.entity),
    payload: JSON.stringify(command),
    messageId,
    traceparent: command.traceparent,
  });
};

/** A command that the service itself issues, as `actor`, following what is given. */
export const systemCommand = (
  actor: string,
  following: Pick<Command, "tenant" | "correlationUrn" | "traceparent">,
  command: { id: string; name: string; entity: string; data: unknown; now: Date },
): Command => ({
  id: command.id,
  name: command.name,
  tenant: following.tenant,
  entity: command.entity,
  principal: systemPrincipal(following.tenant, actor),
  correlationUrn: following.correlationUrn,
  traceparent: following.traceparent,
  issuedAt: command.now.toISOString(),
  data: command.data,
});
