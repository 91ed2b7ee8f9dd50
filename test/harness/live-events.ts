// What the live channel tells, held against its published shapes.
import { Ajv } from "ajv";
import addFormats from "ajv-formats";
import { type OperatorEvent, operatorEvents } from "../../schemas/live.ts";
import { urnKeyword } from "../../schemas/urn.ts";

const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true }));
ajv.addKeyword(urnKeyword);
const fits = new Map(
  Object.entries(operatorEvents).map(([event, { payload }]) => [event, ajv.compile(payload)]),
);

/** @throws Error when it is no event of the channel, or has another payload */
export const checkLiveEvent = (event: string, payload: unknown): void => {
  const check = fits.get(event as OperatorEvent);
  if (check?.(payload) === true) return;
  throw new Error(`${event}: ${JSON.stringify(payload)}: ${ajv.errorsText(check?.errors)}`);
};
