/** Owns the commands of partner registrations that make a secret: it is made here, shown once, and kept only as a digest. */
import type { Command, Reply } from "../../schemas/command.ts";
import { systemPrincipal } from "../../schemas/command.ts";
import {
  type PartnerTier,
  type PartnerView,
  type RegisteredPartner,
  RegisterPartner,
} from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import { causedId, freshSecret, freshUuid } from "../runtime/clock.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import type { Begin } from "./decide.ts";
import { checkedBy } from "../runtime/input.ts";
import { showPartner } from "./queries.ts";
import { hashOf } from "./secrets.ts";
import type { Attributes } from "./state.ts";

const checkPartner = checkedBy(RegisterPartner);

/** A step of a longer command, under an id of its own. */
const step = (command: Command, verb: string, entity: string, data: unknown, attempt = ""): Command => ({
  ...command,
  id: causedId(command.id, verb, entity, attempt),
  name: `identity.${verb}`,
  entity,
  data,
});

/** The bookkeeping around a registration is the service's own; only its end is what the person did. */
const asService = (command: Command): Command => ({
  ...command,
  principal: systemPrincipal(command.tenant, "identity"),
});

const answer = async (reply: Promise<Reply>): Promise<{ ok: PartnerView; repeated?: boolean }> => {
  const got = await reply;
  if ("problem" in got) throw Problem.from(got.problem);
  return got as { ok: PartnerView; repeated?: boolean };
};

export const registrationCommands = (context: ActorContext) => {
  /** Create or change, by client id. The id follows the secret, so that a repeat with a new one isn't taken for the old. */
  const putSubscription = async (
    command: Command,
    clientId: string,
    { webhookUrl, scopes, contact }: Pick<Attributes, "webhookUrl" | "scopes" | "contact">,
    secret: string,
  ): Promise<void> => {
    await context.call("webhook.put-subscription", {
      ...asService(command),
      id: causedId(command.id, "webhook.put-subscription", clientId, hashOf(secret)),
      name: "webhook.put-subscription",
      entity: "",
      expectedVersion: undefined,
      data: { clientId, url: webhookUrl, scopes, secret, contact },
    });
  };

  /**
   * Begin, put the webhook, complete. Before the last step nobody has seen a secret and none is accepted, so whoever
   * finds a registration that a dead process left begun does it all again with new ones. An attempt holds the
   * registration for its time, so that two at once cannot mix their secrets.
   */
  const registerPartner: CommandFunction = async (command, dispatch): Promise<Reply<RegisteredPartner>> => {
    const { clientId: slug, tier, ...given } = checkPartner(command.data);
    if (context.tenants.byCode(command.tenant) === undefined) {
      throw new Problem("not-found/resource", "No such airline. Register it first.");
    }
    const attributes: Attributes = { ...given, tier: tier as PartnerTier };
    const clientId = `${command.tenant}-${slug}`;
    const attempt = freshUuid();
    const stepOf = (verb: string, data: object): Command =>
      step(command, verb, clientId, { attempt, ...data }, attempt);
    const begin: Omit<Begin, "attempt"> = { attributes, by: command.principal.urn };
    await answer(dispatch("begin-registration", asService(stepOf("begin-registration", begin))));
    const clientSecret = freshSecret();
    const webhookSecret = freshSecret();
    if (attributes.webhookUrl !== undefined) {
      try {
        await putSubscription(command, clientId, attributes, webhookSecret);
      } catch (error) {
        await dispatch("release-registration", asService(stepOf("release-registration", {})));
        throw error;
      }
    }
    const completion = stepOf("complete-registration", { hash: hashOf(clientSecret) });
    const { ok } = await answer(dispatch("complete-registration", completion));
    const shown = attributes.webhookUrl === undefined ? { clientSecret } : { clientSecret, webhookSecret };
    return { ok: { ...ok, ...shown } };
  };

  const rotateClientSecret: CommandFunction = async (
    command,
    dispatch,
  ): Promise<Reply<RegisteredPartner>> => {
    const { revokeFormer = false } = (command.data ?? {}) as { revokeFormer?: boolean };
    const clientSecret = freshSecret();
    const data = { hash: hashOf(clientSecret), revokeFormer: revokeFormer === true };
    const stored = await answer(
      dispatch("store-client-secret", step(command, "store-client-secret", command.entity, data)),
    );
    if (stored.repeated) {
      throw new Problem(
        "conflict/duplicate",
        "This rotation was done; its secret is shown only once. Rotate again.",
      );
    }
    return { ok: { ...stored.ok, clientSecret } };
  };

  /** The webhook's own dual-key window is the webhook actor's. */
  const rotateWebhookSecret: CommandFunction = async (
    command,
    dispatch,
  ): Promise<Reply<PartnerView & { webhookSecret: string }>> => {
    const found = await showPartner(context, command.tenant, command.entity);
    if (found.webhookUrl === undefined) throw new Problem("conflict/state", "This partner has no webhook.");
    const webhookSecret = freshSecret();
    await putSubscription(command, command.entity, found, webhookSecret);
    const noted = await answer(
      dispatch("note-webhook-secret", step(command, "note-webhook-secret", command.entity, {})),
    );
    return { ok: { ...noted.ok, webhookSecret } };
  };

  return {
    "register-partner": registerPartner,
    "rotate-client-secret": rotateClientSecret,
    "rotate-webhook-secret": rotateWebhookSecret,
  };
};
