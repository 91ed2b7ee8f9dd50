// The subcommands that make partners' secrets anew, and tell which are due. A secret is printed once, here alone.
import type { PartnerView, RotatedPartner, RotationMode } from "../../schemas/partner-registration.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { allPartners } from "./partners.ts";
import { type Answer, airlineOf, needed, type Reach, type Subcommand, type Values } from "./subcommand.ts";
import { facts, table } from "./table.ts";

const options = {
  client: { type: "string" },
  "replace-newest": { type: "boolean" },
  "end-former": { type: "boolean" },
} as const;
const revoke = { "revoke-former": { type: "boolean" } } as const;
const whileTwo =
  "while two are good, say which one ends: --replace-newest the newest (its answer was lost, nobody has it), --end-former the former (the partner uses the newest)";
const choice = "[--replace-newest | --end-former";

export const partnerSecretSubcommands: Record<string, Subcommand> = {
  "partner rotate-client-secret": {
    usage: `partner rotate-client-secret --client XN-<name> ${choice} | --revoke-former]`,
    summary: `makes a new client secret and shows it, this once; the former is good for 14 days more; ${whileTwo}; --revoke-former: all others end at once, where one may have leaked`,
    options: { ...options, ...revoke },
    run: (values, _, reach) => rotate(reach, values, "client"),
  },
  "partner rotate-webhook-secret": {
    usage: `partner rotate-webhook-secret --client XN-<name> ${choice}]`,
    summary: `makes a new webhook secret and shows it, this once; the former signs beside it for 14 days more; ${whileTwo}`,
    options,
    run: (values, _, reach) => rotate(reach, values, "webhook"),
  },
  "partner rotate": {
    usage: `partner rotate --client XN-<name> [--webhook] ${choice} | --revoke-former]`,
    summary: "the same as rotate-client-secret, or with --webhook as rotate-webhook-secret",
    options: { ...options, ...revoke, webhook: { type: "boolean" } },
    run: (values, _, reach) => rotate(reach, values, values.webhook === true ? "webhook" : "client"),
  },
  "partner rotations": {
    usage: "partner rotations --airline XN [--within <days>]",
    summary:
      "lists the secrets that are to be rotated within so many days (default 14; every 90 days), and those overdue",
    options: { airline: { type: "string" }, within: { type: "string", default: "14" } },
    async run(values, _, reach) {
      const within = Number(needed(values, "within"));
      if (!Number.isInteger(within) || within < 0)
        throw new StartFailure(`--within ${values.within}: a number of days, 0 or more`);
      const partners = await allPartners(await reach.client(), airlineOf(values));
      const due = rotationsOf(partners, new Date(), within);
      const rows = due.map(({ clientId, secret, rotateBy, days, formerUntil }) => [
        clientId,
        secret,
        rotateBy.slice(0, 10),
        days < 0 ? `overdue for ${-days} days` : `due in ${days} days`,
        formerUntil?.slice(0, 10) ?? "",
      ]);
      return {
        json: due,
        text: table(["CLIENT", "SECRET", "ROTATE BY", "STATE", "FORMER GOOD UNTIL"], rows),
      };
    },
  },
};

/** One secret that is to be rotated. */
export interface DueRotation {
  clientId: string;
  secret: "client" | "webhook";
  createdAt: string;
  rotateBy: string;
  overdue: boolean;
  /** Whole days from now; negative: overdue for so many. */
  days: number;
  /** Of the client secret before it, while that is good. */
  formerUntil?: string;
}

const dayMs = 86_400_000;

/** Those due within `withinDays` from `now`, overdue ones included, the longest overdue first. */
export const rotationsOf = (partners: readonly PartnerView[], now: Date, withinDays: number): DueRotation[] =>
  partners
    .flatMap(({ clientId, clientSecrets, rotateBy, webhookSecretCreatedAt, webhookRotateBy }) => {
      const [newest, former] = clientSecrets;
      const until = former?.expiresAt;
      const isGood = until !== undefined && Date.parse(until) > now.getTime();
      const all: (Omit<DueRotation, "overdue" | "days"> | undefined)[] = [
        newest && rotateBy
          ? {
              ...{ clientId, secret: "client", createdAt: newest.createdAt, rotateBy },
              ...(isGood ? { formerUntil: until } : {}),
            }
          : undefined,
        webhookSecretCreatedAt && webhookRotateBy
          ? { clientId, secret: "webhook", createdAt: webhookSecretCreatedAt, rotateBy: webhookRotateBy }
          : undefined,
      ];
      return all.filter((one) => one !== undefined);
    })
    .map((one) => {
      const leftMs = Date.parse(one.rotateBy) - now.getTime();
      return { ...one, overdue: leftMs <= 0, days: Math.floor(leftMs / dayMs) };
    })
    .filter(({ days, overdue }) => overdue || days < withinDays)
    .sort((a, b) => a.rotateBy.localeCompare(b.rotateBy));

const rotate = async (reach: Reach, values: Values, which: "client" | "webhook"): Promise<Answer> => {
  const clientId = needed(values, "client");
  const mode = modeOf(values);
  if (which === "webhook" && mode === "REVOKE_FORMER")
    throw new StartFailure("--revoke-former: is for client secrets alone");
  const partner = await (await reach.client()).command<RotatedPartner>(`identity.rotate-${which}-secret`, {
    tenant: tenantOfId(clientId),
    entity: clientId,
    data: { mode },
  });
  return { json: partner, text: told(partner, which, mode) };
};

const modes: [option: string, mode: RotationMode][] = [
  ["replace-newest", "REPLACE_NEWEST"],
  ["end-former", "END_FORMER"],
  ["revoke-former", "REVOKE_FORMER"],
];

/** @throws StartFailure when more than one is given */
export const modeOf = (values: Values): RotationMode => {
  const given = modes.filter(([option]) => values[option] === true);
  if (given.length > 1)
    throw new StartFailure(`${given.map(([option]) => `--${option}`).join(" and ")}: one of them alone`);
  return given[0]?.[1] ?? "PLAIN";
};

const told = (partner: RotatedPartner, which: "client" | "webhook", mode: RotationMode): string => {
  const { clientId, clientSecret, webhookSecret, formerUntil, endedEarly } = partner;
  const former = which === "client" ? "is accepted" : "signs beside it";
  const notes = [
    "The new secret is not shown again.",
    ...(formerUntil === undefined ? [] : [`The former secret ${former} until ${formerUntil}.`]),
    ...(mode === "REVOKE_FORMER" ? ["Every former secret is refused from now on."] : []),
    ...(mode === "REPLACE_NEWEST" ? ["The one made last before this ended with this rotation."] : []),
    ...(endedEarly === undefined || mode === "REVOKE_FORMER"
      ? []
      : [`The one before it, which was good until ${endedEarly}, ended with this rotation.`]),
  ];
  const shown = facts({
    client: clientId,
    "client secret": clientSecret,
    "webhook secret": webhookSecret,
    "rotate by": which === "client" ? partner.rotateBy : partner.webhookRotateBy,
  });
  return `${shown}\n${notes.join("\n")}`;
};
