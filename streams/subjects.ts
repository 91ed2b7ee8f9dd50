/** Owns the grammar of NATS subjects: every subject is built and parsed here, and nothing that would break the grammar passes. */

const token = /^[A-Za-z0-9_-]+$/;

/** Stands where a message concerns no single case or entity. */
const none = "-";

const checked = (text: string, part: string): string => {
  if (!token.test(text)) throw new TypeError(`not a subject token (${part}): ${text.slice(0, 60)}`);
  return text;
};

/** Splits `<first>.<second>` at the first dot: a command into actor and verb, an event type into entity and what. */
export const splitName = (name: string): [string, string] => {
  const dot = name.indexOf(".");
  if (dot < 0) throw new TypeError(`not a name of two words: ${name.slice(0, 60)}`);
  return [checked(name.slice(0, dot), "first word"), checked(name.slice(dot + 1), "second word")];
};

/** `cmd.<tenant>.<actor>.<verb>.<entity id>`; an empty entity is written `-`. */
export const commandSubject = (tenant: string, name: string, entity: string): string => {
  const [actor, verb] = splitName(name);
  return `cmd.${checked(tenant, "tenant")}.${actor}.${verb}.${checked(entity || none, "entity")}`;
};

/** All commands of one tenant to one actor. */
export const commandFilter = (tenant: string, actor: string): string =>
  `cmd.${checked(tenant, "tenant")}.${checked(actor, "actor")}.>`;

/** All commands of one tenant, to whichever actor. */
export const tenantCommandFilter = (tenant: string): string => `cmd.${checked(tenant, "tenant")}.>`;

/** `evt.<tenant>.<entity>.<what>.<case id>`: the public catalogue only. */
export const eventSubject = (tenant: string, type: string, caseId: string | undefined): string =>
  `evt.${checked(tenant, "tenant")}.${splitName(type).join(".")}.${checked(caseId ?? none, "case")}`;

/** `int.<tenant>.<entity>.<what>.<id>`: refusals, saga steps, audit entries, locks. */
export const internalSubject = (tenant: string, type: string, id: string): string =>
  `int.${checked(tenant, "tenant")}.${splitName(type).join(".")}.${checked(id || none, "id")}`;

/** Filter for one type of event, of one tenant or (undefined) of all. */
export const typeFilter = (stream: "evt" | "int", type: string, tenant?: string): string =>
  `${stream}.${tenant === undefined ? "*" : checked(tenant, "tenant")}.${splitName(type).join(".")}.*`;

/** Where a message that cannot be handled is put: `dead.<tenant>.<actor>.<verb or event>`. */
export const deadSubject = (tenant: string, actor: string, what: string): string =>
  `dead.${checked(tenant, "tenant")}.${checked(actor, "actor")}.${checked(what.replaceAll(".", "_"), "what")}`;

/** All dead letters of one tenant or (undefined) of all. */
export const deadFilter = (tenant?: string): string =>
  tenant === undefined ? "dead.>" : `dead.${checked(tenant, "tenant")}.>`;

export interface ParsedSubject {
  root: "cmd" | "evt" | "int" | "dead";
  tenant: string;
  /** Actor of a command or dead letter, entity of an event. */
  owner: string;
  /** Verb of a command, second word of an event type. */
  what: string;
  /** Undefined where the subject says `-`. */
  id: string | undefined;
}

/** Reads any subject of ours; undefined for a foreign one. */
export const parseSubject = (subject: string): ParsedSubject | undefined => {
  const [root, tenant, owner, what, id, ...rest] = subject.split(".");
  if (root !== "cmd" && root !== "evt" && root !== "int" && root !== "dead") return undefined;
  if (!tenant || !owner || !what || rest.length > 0 || (root !== "dead" && !id)) return undefined;
  return { root, tenant, owner, what, id: id === none ? undefined : id };
};
