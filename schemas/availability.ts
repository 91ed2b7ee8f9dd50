/** Owns the shapes of partners' availability (contract, "Limits"): what the gateways count, and how operators read it. */
import Type, { type Static } from "typebox";
import { Timestamp } from "./vocabulary.ts";

/** Contract, "Limits": partner availability (monthly), as shares. Tier 3 has no write target. */
export const availabilityTargets = {
  1: { read: 0.9995, write: 0.999 },
  2: { read: 0.999, write: 0.995 },
  3: { read: 0.99, write: undefined },
} as const;

/** Of one minute, tier and class of requests. */
export interface AvailabilityCount {
  tier: 1 | 2 | 3;
  rate: "read" | "write";
  requests: number;
  /** Of these, answered with a status of 500 or more. */
  failed: number;
}

/** The data of `metrics.note-availability`: what one gateway has counted of one airline's partners. */
export interface AvailabilityNote {
  /** Tells the gateways' processes apart. */
  gateway: string;
  minutes: { at: string; counts: AvailabilityCount[] }[];
}

/** A month. */
export const availabilityDaysMax = 31;

export const AvailabilityQuery = Type.Object({
  from: Type.String({ ...Timestamp, examples: ["2026-11-01T00:00:00Z"] }),
  to: Type.String({
    ...Timestamp,
    examples: ["2026-12-01T00:00:00Z"],
    description: `At most ${availabilityDaysMax} days after \`from\`.`,
  }),
});

const Class = (what: string) =>
  Type.Object(
    {
      requests: Type.Integer({ minimum: 0, examples: [18_240] }),
      failed: Type.Integer({
        minimum: 0,
        examples: [2],
        description: "Answered with a status of 500 or more.",
      }),
      availability: Type.Union([Type.Number(), Type.Null()], {
        examples: [0.99989],
        description: "The share that did not fail; null without requests.",
      }),
      target: Type.Optional(Type.Number({ examples: [0.9995], description: "Absent: there is none." })),
    },
    { description: what },
  );

export const AvailabilityView = Type.Object(
  {
    from: Timestamp,
    to: Timestamp,
    tiers: Type.Array(
      Type.Object({
        tier: Type.Integer({ minimum: 1, maximum: 3, examples: [1] }),
        reads: Class("Requests that read."),
        writes: Class("Requests that write."),
      }),
    ),
  },
  { title: "PartnerAvailability" },
);
export type AvailabilityView = Static<typeof AvailabilityView>;
