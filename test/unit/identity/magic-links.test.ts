// Links in messages against real documents: good ones whatever else comes from their address, each once, and guesses up to a limit.
import t from "tap";
import { createRefusedLinks } from "../../../actors/identity/login-attempts.ts";
import { exchangeMagicLink } from "../../../actors/identity/magic-links.ts";
import { sessionIndexes } from "../../../actors/identity/sessions.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { attemptLimitOf } from "../../../config/limits.ts";
import type { Query } from "../../../schemas/command.ts";
import { digestOfMagicLink, type MagicLinkFound, magicLinkToken } from "../../../schemas/magic-link.ts";
import { Problem } from "../../../schemas/problems.ts";
import { openDocuments } from "../../contract/documents/documents-under-test.ts";
import { evening, received, secondsLater } from "../../harness/given.ts";

const caseId = "XN-01KAMVW9G0CASECASECASECASE";
const closedCaseId = "XN-01KAMVW9G0CASECASECASEC1SD";

t.test("links", async (t) => {
  const { database } = await openDocuments(t);
  await database.collection("sessions").createIndexes([...sessionIndexes]);
  const sent = new Map<string, MagicLinkFound>();
  let links = 0;
  const linkTo = (more: Partial<MagicLinkFound> = {}): string => {
    const token = magicLinkToken("XN", Buffer.alloc(32, ++links));
    const found = { caseId, groupId: "G1", passengerUrn: "urn:passenger:XN-ADA" };
    sent.set(digestOfMagicLink(token), { ...found, madeAt: secondsLater(-60).toISOString(), ...more });
    return token;
  };
  let countsAnswer = true;
  const tenant = (code: string) => ({
    tenant: code,
    collection: (name: string) => {
      if (name === "loginAttempts" && !countsAnswer) throw new Error("the counts are away");
      return database.collection(name);
    },
  });
  const context = {
    documents: { tenant },
    clock: { now: () => evening },
    config: { loginAttempts: { link: attemptLimitOf("3/15m") }, sealKey: Buffer.alloc(32, 7) },
    log: { info: () => undefined },
    call: async (name: string, { params }: Query) => {
      const { digest = "", caseIds = [] } = params as { digest?: string; caseIds?: string[] };
      return name === "message.link" ? (sent.get(digest) ?? null) : caseIds.filter((id) => id === caseId);
    },
  } as unknown as ActorContext;
  const countRefused = createRefusedLinks(context);
  let ids = 0;
  const tries = async (token: string, address = "203.0.113.1"): Promise<number> => {
    const data = { token, address };
    const command = received("identity.exchange-magic-link", data, { id: `try ${++ids}` });
    try {
      const reply = await exchangeMagicLink(context, countRefused, command);
      return "ok" in reply ? 200 : 0;
    } catch (error) {
      if (error instanceof Problem) return error.status;
      throw error;
    }
  };
  const guess = () => magicLinkToken("XN", Buffer.alloc(32, 200 - ids));
  const used = linkTo();
  const expired = linkTo({ madeAt: secondsLater(-8 * 86_400).toISOString() });
  const closed = linkTo({ caseId: closedCaseId });

  t.same((await Promise.all([tries(used), tries(used)])).toSorted(), [200, 401], "once, also of two at once");
  for (const [what, token] of Object.entries({ used, expired, closed }))
    for (let time = 0; time < 4; time++) t.equal(await tries(token), 401, `${what} is no guess`);

  const atOnce = await Promise.all(
    [guess(), "no link", magicLinkToken("QZ", Buffer.alloc(32, 9))].map((token) => tries(token)),
  );
  t.same(atOnce, [401, 401, 401]);
  t.equal(await tries(guess()), 429, "guesses come to an end");
  t.equal(await tries(guess(), "203.0.113.2"), 401, "of one address");
  t.equal(await tries(linkTo()), 200, "a good link works behind whatever address");
  t.equal(await tries(used), 401, "and one that was good is answered as ever");

  countsAnswer = false;
  t.equal(await tries(linkTo()), 200, "no count can take a session away that the link was used up for");
  await t.rejects(tries(guess()), { message: "the counts are away" });
});
