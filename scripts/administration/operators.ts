// The subcommands about operators' accounts at the embedded issuer. Links and secrets are printed once and kept as digests.

import { type Role, roles } from "../../schemas/vocabulary.ts";
import type { EndedSession } from "../../streams/revocations.ts";
import { ensureIssuerIndexes, type IssuerDocuments, issuerDocuments } from "../embedded/issuer/documents.ts";
import { type AirportOperatorRule, airportOperatorRules } from "../embedded/issuer/second-factor.ts";
import { owedEnding, oweEnding, settleEnding } from "../embedded/issuer/session-endings.ts";
import { invite, type Membership, putMembership, type User, userByEmail } from "../embedded/issuer/users.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { airlineOf, needed, type Reach, type Subcommand, type Values } from "./subcommand.ts";
import { facts, table } from "./table.ts";

const text = { type: "string" } as const;

export const operatorSubcommands: Record<string, Subcommand> = {
  "operator add": {
    usage: `operator add --airline XN --email <address> --name <name> --role ${roles.join("|")} [--airport JFK] [--phone +1…]`,
    summary:
      "gives somebody a role at an airline, or another one; prints the link by which they choose a password",
    options: { airline: text, email: text, name: text, role: text, airport: text, phone: text },
    run: addOperator,
  },
  "operator list": {
    usage: "operator list --airline XN",
    summary: "lists an airline's operators, and what they sign in with",
    options: { airline: text },
    run: listOperators,
  },
  "operator disable": {
    usage: "operator disable --email <address>",
    summary: "ends somebody's sessions and lets them sign in no more, at whichever airline",
    options: { email: text },
    run: async (values, _, reach) => {
      const { documents, user } = await userOf(values, reach);
      await documents.users.updateOne({ _id: user._id }, { $set: { disabledAt: new Date() } });
      await endSessions(documents, reach, user, user.memberships);
      return { json: { email: user.email, disabled: true }, text: `${user.email} is disabled` };
    },
  },
  "operator enable": {
    usage: "operator enable --email <address>",
    summary: "lets somebody sign in again",
    options: { email: text },
    run: async (values, _, reach) => {
      const { documents, user } = await userOf(values, reach);
      await documents.users.updateOne({ _id: user._id }, { $unset: { disabledAt: "" } });
      return { json: { email: user.email, disabled: false }, text: `${user.email} may sign in` };
    },
  },
  "operator reset-factors": {
    usage: "operator reset-factors --email <address>",
    summary: "takes away password and second factors and prints a new invitation link",
    options: { email: text },
    run: resetFactors,
  },
  "operator remove": {
    usage: "operator remove --airline XN --email <address>",
    summary: "takes somebody's role at an airline away; without another the account goes as well",
    options: { airline: text, email: text },
    run: removeOperator,
  },
  "operator second-factor": {
    usage: `operator second-factor --airline XN --when ${airportOperatorRules.join("|")}`,
    summary: "when an airline's AIRPORT_OPERATORs need a second factor; the other roles always do",
    options: { airline: text, when: text },
    run: async (values, _, reach) => {
      const airline = airlineOf(values);
      const when = needed(values, "when") as AirportOperatorRule;
      if (!airportOperatorRules.includes(when))
        throw new StartFailure(`--when ${when}: one of ${airportOperatorRules.join(", ")} is needed`);
      const { organizations } = await documentsOf(reach);
      await organizations.updateOne(
        { _id: airline },
        { $set: { airportOperatorRule: when } },
        { upsert: true },
      );
      return { json: { airline, when }, text: `${airline}: ${when}` };
    },
  },
};

async function documentsOf(reach: Reach): Promise<IssuerDocuments> {
  const { mongodb, databasePrefix } = await reach.documents();
  const documents = issuerDocuments(mongodb, databasePrefix);
  await ensureIssuerIndexes(documents);
  return documents;
}

async function userOf(values: Values, reach: Reach): Promise<{ documents: IssuerDocuments; user: User }> {
  const documents = await documentsOf(reach);
  const email = needed(values, "email");
  const user = await userByEmail(documents, email);
  if (user === undefined) throw new StartFailure(`nobody has the e-mail address ${email}`);
  return { documents, user };
}

async function addOperator(values: Values, _: string[], reach: Reach) {
  const place = placeOf(values);
  const documents = await documentsOf(reach);
  const { user, replaced } = await putMembership(documents, place, new Date());
  if (typeof values.phone === "string") await keepPhone(documents, reach, user, values.phone);
  // Who has another role now gets it with the next sign-in, and none of the old one's tokens is left.
  if (replaced !== undefined) await endSessions(documents, reach, user, [replaced]);
  const isPasswordEnough =
    place.role === "AIRPORT_OPERATOR" || user.totp !== undefined || user.passkeys.length > 0;
  if (!isPasswordEnough) await takePassword(documents, reach, user);
  const isInvited = user.passwordHash === undefined || !isPasswordEnough;
  const invitation = isInvited ? await linkFor(documents, reach, user) : undefined;
  const { email, airline, role, airport } = place;
  const json = { email, airline, role, ...(airport && { airport }), ...(invitation && { invitation }) };
  return {
    json,
    text: facts({
      email,
      airline,
      role,
      airport,
      invitation,
      ...(invitation && { valid: "72 hours, once" }),
    }),
  };
}

/** Without a factor yet, whoever knew the password could set up one and have the new role: an invitation comes first. */
async function takePassword(documents: IssuerDocuments, reach: Reach, user: User): Promise<void> {
  if (user.passwordHash === undefined) return;
  await documents.users.updateOne({ _id: user._id }, { $unset: { passwordHash: "" } });
  await endSessions(documents, reach, user, user.memberships);
}

function placeOf(values: Values) {
  const [email, role] = [needed(values, "email"), needed(values, "role") as Role];
  const { airport, phone } = values;
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email))
    throw new StartFailure(`--email ${email}: an address is needed`);
  if (!roles.includes(role)) throw new StartFailure(`--role ${role}: one of ${roles.join(", ")} is needed`);
  const airline = airlineOf(values);
  if (!/^[A-Z0-9]{2,3}$/.test(airline))
    throw new StartFailure(`--airline ${airline}: urn:airline:XN is needed`);
  if (airport !== undefined && (typeof airport !== "string" || !/^[A-Z]{3}$/.test(airport)))
    throw new StartFailure(`--airport ${airport}: a code such as JFK is needed`);
  if (phone !== undefined && (typeof phone !== "string" || !/^\+[1-9]\d{6,14}$/.test(phone)))
    throw new StartFailure("--phone: + and the whole number is needed");
  return { email: email.toLowerCase(), name: needed(values, "name"), airline, role, airport };
}

async function keepPhone({ users }: IssuerDocuments, reach: Reach, user: User, phone: string): Promise<void> {
  const { seal } = await import("../../actors/runtime/seal.ts");
  await users.updateOne({ _id: user._id }, { $set: { phone: seal(await reach.sealKey(), phone) } });
}

async function linkFor(documents: IssuerDocuments, reach: Reach, user: User): Promise<string> {
  return `${reach.operatorIssuer()}/invitation/${await invite(documents, user._id, new Date())}`;
}

async function listOperators(values: Values, _: string[], reach: Reach) {
  const airline = airlineOf(values);
  const { users } = await documentsOf(reach);
  const all = await users.find({ "memberships.airline": airline }).sort({ email: 1 }).toArray();
  const rows = all.map((user) => {
    const place = user.memberships.find((one) => one.airline === airline);
    const factors = [
      ...(user.totp ? ["app"] : []),
      ...(user.passkeys.length > 0 ? [`${user.passkeys.length} passkeys`] : []),
      ...(user.phone ? ["sms"] : []),
    ];
    const { email, name, disabledAt, passwordHash } = user;
    const status = disabledAt ? "DISABLED" : passwordHash ? "ACTIVE" : "INVITED";
    return { email, name, role: place?.role, airport: place?.airport ?? "", status, factors };
  });
  const lines = rows.map((row) => [
    row.email,
    row.name,
    row.role ?? "",
    row.airport,
    row.status,
    row.factors.join(", "),
  ]);
  return { json: rows, text: table(["E-MAIL", "NAME", "ROLE", "AIRPORT", "STATUS", "FACTORS"], lines) };
}

/** The password goes too: else whoever knows it, and has been refused for want of a factor, could set up one of their own. */
async function resetFactors(values: Values, _: string[], reach: Reach) {
  const { documents, user } = await userOf(values, reach);
  await documents.users.updateOne(
    { _id: user._id },
    { $set: { passkeys: [], recoveryCodes: [] }, $unset: { totp: "", passwordHash: "" } },
  );
  await documents.devices.deleteMany({ userId: user._id });
  await endSessions(documents, reach, user, user.memberships);
  const invitation = await linkFor(documents, reach, user);
  return {
    json: { email: user.email, invitation },
    text: facts({ email: user.email, invitation, valid: "72 hours, once" }),
  };
}

async function removeOperator(values: Values, _: string[], reach: Reach) {
  const { documents, user } = await userOf(values, reach);
  const airline = airlineOf(values);
  const place = user.memberships.find((one) => one.airline === airline);
  if (place === undefined) throw new StartFailure(`${user.email} has no role at ${airline}`);
  await documents.users.updateOne({ _id: user._id }, { $pull: { memberships: { subject: place.subject } } });
  await endSessions(documents, reach, user, [place]);
  const deleted = await documents.users.deleteOne({ _id: user._id, memberships: [] });
  if (deleted.deletedCount === 1) await documents.devices.deleteMany({ userId: user._id });
  return { json: { email: user.email, airline }, text: `${user.email} has no role at ${airline} any more` };
}

/** Owed first: if this process or NATS dies in between, the issuer does the rest. What was begun and not finished is over too. */
async function endSessions(
  documents: IssuerDocuments,
  reach: Reach,
  user: User,
  places: readonly Membership[],
): Promise<void> {
  const now = new Date();
  const endings = places.map(({ airline, subject }) => owedEnding({ tenant: airline, subject }, now));
  for (const ending of endings) await oweEnding(documents, ending);
  await documents.signIns.deleteMany({ userId: user._id });
  const { endSessionsOf } = await import("../../streams/revocations.ts");
  const streams = await reach.streams();
  const tell = (ended: EndedSession) => endSessionsOf(streams, ended);
  for (const ending of endings) await settleEnding(documents, ending, tell);
}
