/** Owns the commands of partner registrations that make a secret: it is made here, shown once, and kept only as a digest. */
import type { Command, Reply } from "../../schemas/command.ts";
import { systemPrincipal } from "../../schemas/command.ts";
import {
  ChangePartner,
  mustAllowRotation,
  type PartnerTier,
  type PartnerView,
  type RegisteredPartner,
  RegisterPartner,
  RotateClientSecret,
  type RotatedPartner,
  RotateWebhookSecret,
  type RotationMode,
} from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import type { SubscriptionView } from "../../schemas/webhook.ts";
import { causedId, freshSecret, freshUuid } from "../runtime/clock.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { checkedBy } from "../runtime/input.ts";
import type { Begin, StoreChanges } from "./decide.ts";
import { showPartner } from "./queries.ts";
import { hashOf, webhookWindowOf } from "./secrets.ts";
import type { Attributes } from "./state.ts";

const checkPartner = checkedBy(RegisterPartner);
const checkChange = checkedBy(ChangePartner);
const checkClientRotation = checkedBy(RotateClientSecret);
const checkWebhookRotation = checkedBy(RotateWebhookSecret);

const alignGoesMax = 5;

const isAligned = (put: PartnerView, registered: PartnerView): boolean =>
  put.webhookUrl === registered.webhookUrl &&
  put.contact === registered.contact &&
  put.scopes.join() === registered.scopes.join();

/** A step of a longer command, under an id of its own. */
const step = (command: Command, verb: string, entity: string, data: unknown, attempt = ""): Command => ({
  ...command,
  id: causedId(command.id, verb, entity, attempt),
  name: `identity.${verb}`,
  entity,
  data,
});

const dateOf = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : new Date(text);

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
  /**
   * Create or change, by client id. The id follows what is put, so that a repeat with a new secret isn't taken for the old; but of a
   * rotation the command alone: sent again it must not end a second secret.
   * @throws Problem conflict/duplicate for a rotation that was done
   */
  const putSubscription = (
    command: Command,
    clientId: string,
    { webhookUrl, scopes, contact }: Pick<Attributes, "webhookUrl" | "scopes" | "contact">,
    made: { secret?: string | undefined; rotation?: RotationMode } = {},
    mark: string | undefined = undefined,
  ): Promise<SubscriptionView> => {
    const data = { clientId, url: webhookUrl, scopes, contact, ...made };
    return context.call<SubscriptionView>("webhook.put-subscription", {
      ...asService(command),
      id: causedId(command.id, "webhook.put-subscription", clientId, mark ?? hashOf(JSON.stringify(data))),
      name: "webhook.put-subscription",
      entity: "",
      expectedVersion: undefined,
      data,
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
        // It hears nothing before it is registered: whatever dies on the way leaves nobody listening.
        const silent = { ...attributes, scopes: [] };
        await putSubscription(command, clientId, silent, {
          secret: webhookSecret,
          rotation: "REVOKE_FORMER",
        });
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

  /** @throws Problem not-found/resource, conflict/state */
  const activePartner = async (tenant: string, clientId: string): Promise<PartnerView> => {
    const found = await showPartner(context, tenant, clientId);
    if (found.status === "ACTIVE") return found;
    throw new Problem("conflict/state", "No partner is registered there yet. Register it first.", {
      state: found.status,
    });
  };

  const rotateClientSecret: CommandFunction = async (command, dispatch): Promise<Reply<RotatedPartner>> => {
    const { mode = "PLAIN" } = checkClientRotation(command.data ?? {});
    const clientSecret = freshSecret();
    const before = await showPartner(context, command.tenant, command.entity);
    const data = { hash: hashOf(clientSecret), mode };
    const stored = await answer(
      dispatch("store-client-secret", step(command, "store-client-secret", command.entity, data)),
    );
    if (stored.repeated) {
      throw new Problem(
        "conflict/duplicate",
        "This rotation was done; its secret is shown only once. If it is lost, rotate again to replace it.",
      );
    }
    const formerUntil = stored.ok.clientSecrets[1]?.expiresAt;
    return {
      ok: {
        ...stored.ok,
        clientSecret,
        ...(formerUntil === undefined ? {} : { formerUntil }),
        ...endedEarly(mode, before.clientSecrets[1]?.expiresAt),
      },
    };
  };

  /** @param until when the former secret's time would have been over */
  const endedEarly = (mode: RotationMode, until: string | undefined): { endedEarly?: string } =>
    mode === "REPLACE_NEWEST" || until === undefined || Date.parse(until) <= context.clock.now().getTime()
      ? {}
      : { endedEarly: until };

  /** The webhook's own dual-key window is the webhook actor's: when the secrets were made is known here. */
  const rotateWebhookSecret: CommandFunction = async (command, dispatch): Promise<Reply<RotatedPartner>> => {
    const { tenant, entity: clientId } = command;
    const { mode = "PLAIN" } = checkWebhookRotation(command.data ?? {});
    const found = await activePartner(tenant, clientId);
    if (found.webhookUrl === undefined) throw new Problem("conflict/state", "This partner has no webhook.");
    const params = { clientId };
    const before = await context.call<SubscriptionView>("webhook.subscription", { ...command, params });
    const webhookSecret = freshSecret();
    const known = {
      newestAt: dateOf(found.webhookSecretCreatedAt),
      formerAt: dateOf(found.formerWebhookSecretCreatedAt),
    };
    const window = webhookWindowOf(known, dateOf(before.dualKeyUntil), context.clock.now());
    mustAllowRotation(mode, window);
    const made = { secret: webhookSecret, rotation: mode };
    const { dualKeyUntil } = await putSubscription(command, clientId, found, made, "rotation");
    const formerAt = mode === "REPLACE_NEWEST" ? window?.formerAt : (window?.newestAt ?? known.newestAt);
    const noted = await answer(
      dispatch(
        "note-webhook-secret",
        step(command, "note-webhook-secret", clientId, { formerAt: formerAt?.toISOString() }),
      ),
    );
    return {
      ok: {
        ...noted.ok,
        webhookSecret,
        ...(dualKeyUntil === undefined ? {} : { formerUntil: dualKeyUntil }),
        ...endedEarly(mode, before.dualKeyUntil),
      },
    };
  };

  /**
   * The webhook is asked whether it would take this, then the registration changes, which sends `align-webhook`: the
   * subscription follows and is never ahead. A first webhook's secret is made here, so its subscription is put before; with no
   * scopes, by which it hears nothing until it is registered.
   */
  const changePartner: CommandFunction = async (command, dispatch): Promise<Reply<RotatedPartner>> => {
    const { entity: clientId, tenant } = command;
    const { tier, ...given } = checkChange(command.data);
    const before = await activePartner(tenant, clientId);
    const wanted = { ...before, ...given };
    const newWebhook = before.webhookUrl === undefined && given.webhookUrl !== undefined;
    const secret = newWebhook ? freshSecret() : undefined;
    if (wanted.webhookUrl !== undefined) {
      const { webhookUrl: url, contact } = wanted;
      const params = { clientId, url, contact };
      await context.call("webhook.check-subscription", { ...asService(command), params });
      // One that an attempt before this has left was seen by nobody.
      const made = { secret, rotation: "REVOKE_FORMER" as const };
      if (newWebhook) await putSubscription(command, clientId, { ...wanted, scopes: [] }, made);
    }
    const changes: StoreChanges = {
      ...given,
      ...(tier === undefined ? {} : { tier: tier as PartnerTier }),
      newWebhook,
    };
    const { ok, repeated } = await answer(
      dispatch("store-changes", step(command, "store-changes", clientId, changes)),
    );
    return { ok: { ...ok, ...(secret === undefined || repeated ? {} : { webhookSecret: secret }) } };
  };

  /**
   * The subscription becomes what is registered; it keeps its secret. Two at once may end in either order, so each looks
   * again whether what it has put is still what is registered.
   */
  const alignWebhook: CommandFunction = async (command): Promise<Reply> => {
    const { tenant, entity: clientId } = command;
    const registered = () => showPartner(context, tenant, clientId);
    const put = async (found: PartnerView, goes: number): Promise<void> => {
      if (found.webhookUrl === undefined) return;
      await putSubscription({ ...command, id: causedId(command.id, goes) }, clientId, found);
      const now = await registered();
      if (isAligned(found, now)) return;
      if (goes === alignGoesMax)
        throw new Problem("conflict/concurrent-write", "The registration is changing all the time.");
      await put(now, goes + 1);
    };
    await put(await registered(), 1);
    return { ok: null };
  };

  return {
    "register-partner": registerPartner,
    "rotate-client-secret": rotateClientSecret,
    "rotate-webhook-secret": rotateWebhookSecret,
    "change-partner": changePartner,
    "align-webhook": alignWebhook,
  };
};
