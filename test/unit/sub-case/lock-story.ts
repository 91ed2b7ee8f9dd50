// A group that waits, and one that the operator bo has locked, with the commands that tables of locks are made of.
import type { Received } from "../../../actors/runtime/decider.ts";
import type { Principal } from "../../../schemas/command.ts";
import { evening, eventsOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import { assign, lockLeaseMs, opened, rules } from "./group-story.ts";

export const operator = (name: string, more: Partial<Principal> = {}): Principal => ({
  ...supervisor,
  role: "AIRPORT_OPERATOR",
  urn: `urn:user:${name}`,
  ...more,
});
export const bo = operator("bo");
export const cy = operator("cy");
export const leaseSeconds = lockLeaseMs / 1000;
export const msLater = (ms: number): Date => new Date(evening.getTime() + ms);

/** What of a command a row may set. */
export type Sent = Omit<Partial<Received>, "data"> & { data?: object };
let sent = 0;
export const by = (principal: Principal, name: string, more: Sent = {}): Received => {
  const { data = {}, ...rest } = more;
  return received(`sub-case.${name}`, data, { id: `api:${++sent}`, principal, ...rest });
};
export const lapse = (dueAt: Date, now = dueAt): Received =>
  received("sub-case.lapse-lock", { dueAt: dueAt.toISOString() }, { now });

export const waiting = eventsOf(rules, [opened()], assign({ book: false }));
export const held = eventsOf(rules, waiting, by(bo, "lock"));
export const lapsesAt = secondsLater(leaseSeconds);
