/** Owns the airlines: kept in the platform database, announced to every process, audited in the airline's own trail. */
import type { Collection } from "mongodb";
import type { Command, EventRecord, Reply } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { reviewSlaDefault } from "../../schemas/review.ts";
import { airlineCodePattern, RegisterTenant, SetReviewSla } from "../../schemas/tenant.ts";
import { urn } from "../../schemas/urn.ts";
import { publish } from "../../streams/publish.ts";
import { internalSubject } from "../../streams/subjects.ts";
import type { Tenant } from "../../streams/tenant-directory.ts";
import { derivedId } from "../runtime/clock.ts";
import { ensureIndexes } from "../runtime/documents.ts";
import type { ActorContext } from "../runtime/host.ts";
import { checkedBy } from "../runtime/input.ts";

/** Lost races in a row before the caller is told to come back. */
const racesMax = 5;

type Profile = Omit<Tenant, "code" | "passengerHosts"> & {
  /** Absent instead of empty: an empty array would count as a value of the unique index. */
  passengerHosts?: string[];
};

interface TenantDocument extends Profile {
  _id: string;
  revision: number;
  /** What the last change was, until the audit has it. */
  unaudited?: {
    /** Absent: a registration. */
    action?: string;
    before: Profile | null;
    at: Date;
    principal: Command["principal"];
    correlationUrn: string;
    traceparent: string;
  };
}

/** One airline per passenger host: the host alone says whose passenger is asking. */
const indexes = [{ name: "host", key: { passengerHosts: 1 }, unique: true, sparse: true }] as const;
const checkTenant = checkedBy(RegisterTenant);
const checkSla = checkedBy(SetReviewSla);
const code = new RegExp(airlineCodePattern);

const tenantOf = ({
  _id,
  name,
  passengerHosts = [],
  homeCountry,
  language,
  reviewSla,
}: TenantDocument): Tenant => ({
  code: _id,
  name,
  passengerHosts,
  homeCountry,
  ...(language === undefined ? {} : { language }),
  ...(reviewSla === undefined ? {} : { reviewSla }),
});
const profileOf = ({ name, passengerHosts, homeCountry, language, reviewSla }: Profile): Profile => ({
  name,
  ...(passengerHosts === undefined ? {} : { passengerHosts }),
  homeCountry,
  ...(language === undefined ? {} : { language }),
  ...(reviewSla === undefined ? {} : { reviewSla }),
});

export class TenantRegister {
  readonly #context: ActorContext;
  readonly #collection: Collection<TenantDocument>;

  constructor(context: ActorContext) {
    this.#context = context;
    this.#collection = context.documents.platform.collection<TenantDocument>("tenants");
  }

  /** Announces what the database has: a process that died between the write and the announcement left it so. */
  async start(): Promise<void> {
    await ensureIndexes(this.#collection as never, indexes);
    for await (const document of this.#collection.find()) await this.#tell(document);
  }

  /**
   * Adds or changes the airline that the command's tenant names. The same again changes nothing, but is announced.
   * @throws Problem validation/body, conflict/duplicate, conflict/concurrent-write
   */
  async register(command: Command): Promise<Reply<Tenant>> {
    if (!code.test(command.tenant)) {
      throw new Problem("validation/body", "An airline's code is two or three of A–Z and 0–9.", {
        errors: [{ pointer: "/code", detail: "not an airline code" }],
      });
    }
    const { name, passengerHosts, homeCountry, language } = checkTenant(command.data);
    const wanted: Profile = {
      name,
      ...(passengerHosts.length === 0 ? {} : { passengerHosts }),
      homeCountry,
      ...(language === undefined ? {} : { language }),
    };
    return this.#change(command, (found) =>
      profileOf({ ...wanted, ...(found?.reviewSla === undefined ? {} : { reviewSla: found.reviewSla }) }),
    );
  }

  /**
   * Minutes per priority that the airline's review items may stay unresolved. Deadlines that run already stay.
   * @throws Problem validation/body, not-found/resource, conflict/concurrent-write
   */
  async setReviewSla(command: Command): Promise<Reply<Tenant>> {
    const minutes = checkSla(command.data);
    return this.#change(command, (found) => {
      if (found === null) throw new Problem("not-found/resource", "No such airline. Register it first.");
      return profileOf({ ...found, reviewSla: { ...reviewSlaDefault, ...found.reviewSla, ...minutes } });
    });
  }

  async #change(command: Command, wanted: (found: TenantDocument | null) => Profile): Promise<Reply<Tenant>> {
    for (let race = 0; race < racesMax; race++) {
      const found = await this.#collection.findOne({ _id: command.tenant });
      const document = await this.#put(command, found, wanted(found));
      if (document === undefined) continue;
      await this.#tell(document);
      return { ok: tenantOf(document), version: document.revision };
    }
    throw new Problem("conflict/concurrent-write", "Others keep changing this airline. Repeat.");
  }

  async list(): Promise<Tenant[]> {
    return (await this.#collection.find().sort({ _id: 1 }).toArray()).map(tenantOf);
  }

  /** Undefined when another writer was first. */
  async #put(
    command: Command,
    found: TenantDocument | null,
    wanted: Profile,
  ): Promise<TenantDocument | undefined> {
    if (found !== null && same(profileOf(found), wanted)) return found;
    const { principal, correlationUrn, traceparent } = command;
    const document: TenantDocument = {
      _id: command.tenant,
      ...wanted,
      revision: (found?.revision ?? 0) + 1,
      unaudited: {
        action: command.name,
        before: found === null ? null : profileOf(found),
        at: this.#context.clock.now(),
        principal,
        correlationUrn,
        traceparent,
      },
    };
    try {
      if (found === null) {
        await this.#collection.insertOne(document);
        return document;
      }
      // The last change is audited first: the document remembers only one.
      await this.#audit(found);
      const { _id, ...fields } = document;
      const result = await this.#collection.updateOne(
        { _id, revision: found.revision },
        { $set: fields, ...(wanted.passengerHosts === undefined ? { $unset: { passengerHosts: "" } } : {}) },
      );
      return result.matchedCount === 1 ? document : undefined;
    } catch (error) {
      if ((error as { code?: number }).code !== 11000) throw error;
      if ((await this.#collection.findOne({ _id: command.tenant }))?.revision !== found?.revision) {
        return undefined;
      }
      throw new Problem("conflict/duplicate", "Another airline's passengers use one of these hosts.", {
        errors: [{ pointer: "/passengerHosts", detail: "taken" }],
      });
    }
  }

  async #tell(document: TenantDocument): Promise<void> {
    const tenant = tenantOf(document);
    if (!same(this.#context.tenants.byCode(tenant.code), tenant))
      await this.#context.tenants.announce(tenant);
    await this.#audit(document);
  }

  /** Says what was changed once, or again under the same URN, which the trail takes once. */
  async #audit(document: TenantDocument): Promise<void> {
    const { _id, revision, unaudited } = document;
    if (unaudited === undefined) return;
    const { action = "identity.register-tenant", before, at, principal } = unaudited;
    const { correlationUrn, traceparent } = unaudited;
    const event: EventRecord = {
      urn: urn("event", derivedId(_id, `tenant:${revision}`, at)),
      type: "audit.recorded",
      occurred_at: at.toISOString(),
      tenant: urn("airline", _id),
      correlation_urn: correlationUrn,
      traceparent,
      data: {
        entityUrn: urn("airline", _id),
        action,
        principal: principal.urn,
        surface: principal.surface,
        role: principal.role,
        before,
        after: profileOf(document),
      },
    };
    await publish(this.#context.streams, {
      subject: internalSubject(_id, event.type, _id),
      payload: JSON.stringify(event),
      messageId: event.urn,
    });
    await this.#collection.updateOne({ _id, revision }, { $unset: { unaudited: "" } });
  }
}

const same = (a: object | undefined, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);
