// A real night that is over (one group has declined, one accepted, six have their offers, some of them in rooms of a contract of
// the airline's own), its service stopped, and the means to put one thing at a time wrong in it, and right again. What must be
// found then is the test's business.
import type { Collection, Document } from "mongodb";
import type { Test } from "tap";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import { CardWorks } from "../../actors/vendor-adapter/adapters/cardworks.ts";
import { RoomLink } from "../../actors/vendor-adapter/adapters/roomlink.ts";
import { StayHub } from "../../actors/vendor-adapter/adapters/stayhub.ts";
import { directVendor } from "../../schemas/contract.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { CheckOptions } from "../../scripts/administration/consistency.ts";
import { expectStatus } from "../../scripts/demonstration/http.ts";
import { decideOffers } from "../../scripts/demonstration/passengers.ts";
import type { SandboxVendor } from "../../scripts/sandbox/remote-part.ts";
import { jfkBlock } from "../../scripts/soaking/block.ts";
import { publish } from "../../streams/publish.ts";
import { eventSubject } from "../../streams/subjects.ts";
import { untilQuiet } from "../fault/agreement.ts";
import { smallFlight, startInstance, type TestInstance, travellersOf } from "../harness/instance.ts";
import { eventually } from "../harness/patience.ts";

export type SubCase = SubCaseState & { _id: string };

interface CaseRow {
  _id: string;
  groups: { groupId: string; subCaseId: string }[];
  progress: string;
}

const roomsPerNight = 3;

export async function startNight(t: Test) {
  const night = await startInstance(t);
  const [xn] = night.airlines;
  const contract = {
    method: "POST",
    path: "/v1/contracts",
    token: await night.operatorToken(xn.urn, "OPS_SUPERVISOR"),
    body: jfkBlock(new Date(), roomsPerNight),
  } as const;
  expectStatus(await night.ask(contract), 201, "a contract");
  const flight = smallFlight("XN", "check", 8);
  const { caseUrn } = await night.push(xn, flight);
  await night.events.untilCount("subcase.offer-ready", 8, { caseUrn });
  await decideOffers(night.instance, xn, travellersOf(flight.passengers).slice(0, 2), 1);
  await night.events.untilCount("subcase.resolved", 1, { caseUrn });
  const stored = (name: string) => night.documents.tenant("XN").collection<Document & { _id: string }>(name);
  await eventually("the rollback", async () =>
    (await stored("subCases").findOne({ status: "DECLINED" })) === null ? "under way" : undefined,
  );
  await untilQuiet(night, "XN");
  // What follows is put wrong behind the back of the service, which would else put some of it right.
  await night.services[0]?.stop();
  const kept = (await stored("cases").findOne({ _id: idOf(caseUrn) })) as unknown as CaseRow;
  const subCases = (await stored("subCases").find({}).toArray()) as unknown as SubCase[];
  return {
    ...{ night, caseUrn, caseId: kept._id, stored },
    ...groupsOf(subCases),
    ...tamperingWith(stored, kept),
    ...eventsOf(night, caseUrn),
    ...(await accounts(night)),
  };
}

const groupsOf = (subCases: SubCase[]) => {
  const of = (wanted: string) => subCases.filter(({ status }) => status === wanted);
  const offered = of("OFFER_READY");
  const pair = offered.find(({ passengers }) => passengers.length === 2);
  const isDirect = ({ reservation }: SubCase) => reservation?.vendor === directVendor;
  const single = offered.filter(
    (subCase) => subCase !== pair && subCase.payment === undefined && !isDirect(subCase),
  );
  return {
    declined: of("DECLINED")[0] as SubCase,
    resolved: of("RESOLVED")[0] as SubCase,
    /** A group of two with an offer. */
    pair: pair as SubCase,
    /** Two more groups with an offer, whose hotels took a guarantee. */
    one: single[0] as SubCase,
    other: single[1] as SubCase,
    /** One with an offer of a room of the airline's own contract. */
    direct: offered.find((subCase) => subCase !== pair && isDirect(subCase)) as SubCase,
  };
};

export interface Corruption {
  what: string;
  /** Gives the way back. */
  seed(): Promise<() => Promise<unknown>>;
  options?: Partial<CheckOptions>;
  /** Undefined: it is not a fault. */
  finding(): string | undefined;
}

type Stored = (name: string) => Collection<Document & { _id: string }>;

const tamperingWith = (stored: Stored, { _id: caseId, groups, progress }: CaseRow) => {
  const indexOf = ({ _id }: SubCase): number => groups.findIndex(({ subCaseId }) => subCaseId === _id);
  const setProgress = (letters: string) =>
    stored("cases").updateOne({ _id: caseId }, { $set: { progress: letters } });
  const restoreLetters = () => setProgress(progress);
  const change = ({ _id }: SubCase, update: Document) => stored("subCases").updateOne({ _id }, update);
  /** As it was found at first. */
  const restore = (subCase: SubCase) =>
    stored("subCases").replaceOne({ _id: subCase._id }, subCase as unknown as Document);
  const ofSubCase = (
    what: string,
    subCase: SubCase,
    update: Document,
    finding: string | undefined,
    more?: () => Promise<unknown>,
  ): Corruption => ({
    what,
    seed: async () => {
      await change(subCase, update);
      await more?.();
      return async () => {
        await restore(subCase);
        await restoreLetters();
      };
    },
    finding: () => finding,
  });
  return {
    /** As a finding names it. */
    ofGroup: (kind: string, subCase: SubCase, detail: string): string =>
      `${kind} XN ${urn("case", caseId)} group ${groups[indexOf(subCase)]?.groupId}: ${detail}`,
    ...{ change, restore, restoreLetters, ofSubCase },
    setLetter: (subCase: SubCase, letter: string) => {
      const at = indexOf(subCase);
      return setProgress(progress.slice(0, at) + letter + progress.slice(at + 1));
    },
  };
};

const eventsOf = ({ streams, events }: TestInstance, caseUrn: string) => {
  const eventOf = (type: string, subCase?: SubCase) => {
    const event = events
      .of(type, caseUrn)
      .find(({ data }) => subCase === undefined || data.subCaseUrn === urn("sub-case", subCase._id));
    if (event === undefined) throw new Error(`no ${type}`);
    return event;
  };
  const publishEvent = (event: object, type: string, messageId: string) =>
    publish(streams, {
      subject: eventSubject("XN", type, idOf(caseUrn)),
      payload: JSON.stringify(event),
      messageId,
    });
  return {
    eventOf,
    publishEvent,
    /** Takes an event off its stream; undone, it stands there again. */
    lose: async (type: string, subCase?: SubCase) => {
      const { stream, sequence, ...event } = eventOf(type, subCase);
      await streams.manager.streams.deleteMessage(stream, sequence);
      return () => publishEvent(event, type, `${event.urn} again`);
    },
  };
};

/** The airline's own accounts at the sandbox's vendors. */
const accounts = async ({ sandbox }: TestInstance) => {
  const announced = await fetch(sandbox?.url ?? "").then((answer) => answer.json());
  const { vendors } = announced as { vendors: SandboxVendor[] };
  const at = (wanted: string) => {
    const { baseUrl = "", apiKey = "" } = vendors.find(({ name }) => name === wanted) ?? {};
    return { baseUrl, apiKey, timeoutMs: 8000 };
  };
  return {
    hotelOf: (name: string) =>
      name === "stayhub" ? new StayHub(name, at(name)) : new RoomLink(name, at(name)),
    cards: new CardWorks(at("cardworks")),
  };
};
