/** Owns the revocation list: who may put an entry on it and take it off, and how each entry reaches the bucket that all gateways watch. */
import type { Document } from "mongodb";
import type { Command, Page, Principal, Query, Reply } from "../../schemas/command.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import { type RevocationBody, type RevocationView, subjectForm } from "../../schemas/revocation.ts";
import { idOf, parseUrn, tenantOfId, urn } from "../../schemas/urn.ts";
import { alignRevocation, listedRevocations, type Revocation } from "../../streams/revocations.ts";
import { freshId } from "../runtime/clock.ts";
import type { Change, Decider, Received } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction, QueryFunction } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";

type Target = { subject: string } | { tokenId: string };

interface RevocationState {
  target: Target;
  /** The target in one text, as long as the entry holds: no two entries are about the same. */
  holds?: string;
  reason: string;
  createdAt: Date;
  createdBy: string;
  /** The command that made it. */
  creation: string;
  liftedAt?: Date;
}

type RevocationEvent =
  | {
      type: "identity.access-revoked";
      data: { target: Target; reason: string; at: Date; by: string; creation: string };
    }
  | { type: "identity.revocation-lifted"; data: { at: Date } };

const collection = "revocations";
const schemaVersion = 1;
const stateOf = (document: Document): RevocationState =>
  loadedOf<RevocationState>(document, { schemaVersion }).state;

export const revocations: Decider<RevocationState, RevocationEvent> = {
  actor: "identity",
  kind: "revocation",
  collection,
  schemaVersion,
  commands: ["revoke-access", "lift-revocation"],
  indexes: [{ name: "holds", key: { holds: 1 }, unique: true, sparse: true }],
  decide: (state, command) => {
    requireWholeAirline(command.principal);
    return command.name === "identity.revoke-access" ? revoke(state, command) : lift(state, command);
  },
  evolve: (state, event) => {
    if (event.type === "identity.access-revoked") {
      const { target, reason, at, by, creation } = event.data;
      return { target, holds: textOf(target), reason, createdAt: at, createdBy: by, creation };
    }
    const { holds: _, ...entry } = state as RevocationState;
    return { ...entry, liftedAt: event.data.at };
  },
  outgoing: (_event, _state, _command, id) => [
    { to: "command", name: "identity.publish-revocation", entity: id, data: {} },
  ],
  locate: ({ data }) => ({ holds: textOf(targetOf(data as RevocationBody)) }),
  create: ({ name, tenant, now }) => (name === "identity.revoke-access" ? freshId(tenant, now) : undefined),
  view: (state, { id, command }) => ({
    entry: revocationView(id, state),
    created: state.creation === command.id,
  }),
  audit: ({ command, before, after }: Change<RevocationState, RevocationEvent>) => {
    const shown = { ...after.target, reason: after.reason };
    return before === undefined
      ? { action: command.name, before: null, after: shown }
      : { action: command.name, before: shown, after: null };
  },
};

/** What is there already stays as it is, with the reason that it was given. */
const revoke = (state: RevocationState | undefined, command: Received): RevocationEvent[] => {
  const { reason, ...body } = command.data as RevocationBody;
  const target = targetOf(body);
  if ("subject" in target) requireOther(command, target.subject);
  if (state !== undefined) return [];
  const { now: at, principal, id: creation } = command;
  return [{ type: "identity.access-revoked", data: { target, reason, at, by: principal.urn, creation } }];
};

const lift = (state: RevocationState | undefined, { now }: Received): RevocationEvent[] => {
  if (state === undefined) throw new Problem("not-found/resource", "No such revocation.");
  return state.holds === undefined ? [] : [{ type: "identity.revocation-lifted", data: { at: now } }];
};

/** @throws Problem validation/body when it names none, or both */
const targetOf = ({ subject, tokenId }: Pick<RevocationBody, "subject" | "tokenId">): Target => {
  if (subject !== undefined && tokenId === undefined) return { subject: subjectForm(subject) };
  if (tokenId !== undefined && subject === undefined) return { tokenId };
  const detail = subject === undefined ? "is required where tokenId is absent" : "excludes tokenId";
  throw refused({ pointer: "/subject", detail });
};

const textOf = (target: Target): string =>
  "subject" in target ? `subject ${target.subject}` : `token ${target.tokenId}`;

/** An entry shuts out tokens of the administrator's own airline only, and never the administrator. */
const requireOther = ({ tenant, principal }: Received, subject: string): void => {
  const owner = parseUrn(subject)?.tenant;
  if (owner !== undefined && owner !== tenant)
    throw new Problem("auth/foreign-tenant", `${subject} belongs to another airline.`);
  const own = [principal.urn, principal.subject ?? idOf(principal.urn)].map(subjectForm);
  if (own.includes(subject))
    throw refused({ pointer: "/subject", detail: "is yourself: ask another administrator" });
};

const refused = (error: FieldError): Problem =>
  new Problem("validation/body", `The member ${error.pointer.slice(1)} ${error.detail}.`, {
    errors: [error],
  });

/** @throws Problem auth/foreign-airport */
const requireWholeAirline = ({ airport }: Principal): void => {
  if (airport === undefined) return;
  throw new Problem("auth/foreign-airport", `The list is the whole airline's; you are scoped to ${airport}.`);
};

const revocationView = (id: string, state: RevocationState): RevocationView => ({
  urn: urn("revocation", id),
  ...state.target,
  reason: state.reason,
  createdAt: state.createdAt.toISOString(),
  createdBy: state.createdBy,
  ...(state.liftedAt === undefined ? {} : { liftedAt: state.liftedAt.toISOString() }),
});

const documentsOf = ({ documents }: ActorContext, tenant: string) =>
  documents.tenant(tenant).collection<Document>(collection);

/** The entry as its document has it now; undefined when it holds no more. */
const published = async (context: ActorContext, id: string): Promise<Revocation | undefined> => {
  const tenant = tenantOfId(id);
  const found = await documentsOf(context, tenant).findOne({ _id: id as never });
  // An entry goes only by hand: one whose document is lost (a restored backup) still shuts out.
  if (found === null) throw new Error(`no document of revocation ${id}`);
  const { holds, target } = stateOf(found);
  return holds === undefined ? undefined : { tenant, ...target };
};

export const revocationCommands = (
  context: ActorContext,
): Record<"revoke-access" | "lift-revocation" | "publish-revocation", CommandFunction> => {
  const shown = (reply: Reply): Reply => {
    if ("problem" in reply) return reply;
    const { entry, created } = reply.ok as { entry: RevocationView; created: boolean };
    return { ...reply, ok: entry, created };
  };
  return {
    "revoke-access": async (command, dispatch) => shown(await dispatch("revoke-access", command)),
    "lift-revocation": async (command, dispatch) => shown(await dispatch("lift-revocation", command)),
    "publish-revocation": async ({ entity }: Command) => {
      await alignRevocation(context.streams, entity, () => published(context, entity));
      return { ok: null };
    },
  };
};

/** GET /v1/admin/revocations: what holds, newest first by `_id`; there are a handful. */
export const listRevocations =
  (context: ActorContext): QueryFunction =>
  ({ tenant, principal, params }: Query): Promise<Page<RevocationView>> => {
    requireWholeAirline(principal);
    return readPage(
      documentsOf(context, tenant),
      { filter: { holds: { $exists: true } }, params },
      (document) => revocationView(String(document._id), stateOf(document)),
    );
  };

/** Brings the whole bucket into line with the documents, whatever was lost of it meanwhile. */
export const alignAllRevocations = async (context: ActorContext): Promise<void> => {
  const { streams, tenants, log } = context;
  const ids = new Set(await listedRevocations(streams));
  for (const { code } of tenants.all()) {
    const holding = documentsOf(context, code).find({ holds: { $exists: true } });
    for await (const { _id } of holding) ids.add(String(_id));
  }
  for (const id of ids) {
    await alignRevocation(streams, id, () => published(context, id)).catch((error) =>
      log.error({ revocation: id, err: error }, "revocation not compared with its document"),
    );
  }
};
