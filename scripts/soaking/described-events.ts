/** Owns holding public events against what is published of them: a body that partners were not told of is a fault. */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { EventRecord } from "../../schemas/command.ts";
import { type PublicEventType, publicEventTypes } from "../../schemas/events.ts";
import { webhookBody } from "../../schemas/events-described.ts";
import { urnKeyword } from "../../schemas/urn.ts";

const ajv = addFormats.default(new Ajv({ strict: false }));
ajv.addKeyword(urnKeyword);

const compiled = new Map<string, ValidateFunction>();

/** A member that no description has is one, too. */
const closed = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (_key, value: unknown) =>
    value !== null && typeof value === "object" && "properties" in value
      ? { ...value, additionalProperties: false }
      : value,
  );

/** Undefined: the event is as described. */
export const eventFault = ({ urn, traceparent: _, ...body }: EventRecord): string | undefined => {
  const { type } = body;
  if (!publicEventTypes.has(type)) return `${urn}: ${type} is in no catalogue`;
  const fits = compiled.get(type) ?? ajv.compile(closed(webhookBody(type as PublicEventType)) as object);
  compiled.set(type, fits);
  if (fits(body)) return undefined;
  const [first] = fits.errors ?? [];
  return `${type} ${urn}: ${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`;
};
