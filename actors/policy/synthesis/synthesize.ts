/** Owns `policy.synthesize`: from a prompt, and the case that it is for, to a draft that is kept. What it says is the readers'. */
import type { Command, Page } from "../../../schemas/command.ts";
import { currencyOfCountry } from "../../../schemas/currency.ts";
import type { CatalogueHotelView } from "../../../schemas/hotel-catalogue.ts";
import type { SynthesizePolicyBody } from "../../../schemas/policy.ts";
import { Problem } from "../../../schemas/problems.ts";
import { urn } from "../../../schemas/urn.ts";
import type { Tier } from "../../../schemas/vocabulary.ts";
import type { ActorContext, CommandFunction } from "../../runtime/host.ts";
import { type Model, ModelFailure, openModel } from "../../runtime/model.ts";
import type { SynthesizedDraft } from "../state.ts";
import { withoutContacts } from "./contact-details.ts";
import { type Circumstances, draftOf } from "./draft.ts";
import { Prompt } from "./folded.ts";
import { readByModel } from "./model-reader.ts";
import type { Reading } from "./reading.ts";
import { type RulesReading, readByRules, rulesName } from "./rules.ts";

type CaseCircumstances = { airport: string; tiers: Tier[] };

/** Pages of the catalogue that are looked through for chains. */
const hotelPagesMax = 5;

export const synthesize =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const known = await context.documents
      .tenant(command.tenant)
      .collection("policies")
      .findOne({ creation: command.id });
    // A repeat is answered by what it made: a model may say another thing now.
    if (known !== null) return dispatch("keep-draft", command);
    return dispatch("keep-draft", { ...command, data: await drafted(context, command) });
  };

/** @throws Problem validation/body when the prompt says nothing of a policy; what reading the case is refused with */
const drafted = async (context: ActorContext, command: Command): Promise<SynthesizedDraft> => {
  const { description, caseUrn } = command.data as SynthesizePolicyBody;
  const { tenant, principal } = command;
  const { name = tenant, homeCountry = "" } = context.tenants.byCode(tenant) ?? {};
  const airline = { urn: urn("airline", tenant), code: tenant, name };
  const ofCase =
    caseUrn === undefined
      ? undefined
      : await context.call<CaseCircumstances>("case.circumstances", asked(command, { caseUrn }));
  const prompt = new Prompt(withoutContacts(description));
  const rules = readByRules(prompt, airline);
  const model = openModel(context.config.model);
  const byModel = await readOpen(context, model, prompt, rules);
  const circumstances: Circumstances = {
    airlineUrn: airline.urn,
    homeCurrency: currencyOfCountry(homeCountry) ?? "USD",
    chains: rules.readings.some(({ says }) => says === "excludes-chain")
      ? await chainsKnown(context, command)
      : [],
    ...(ofCase === undefined ? {} : { ofCase }),
    ...(principal.airport === undefined ? {} : { ownAirport: principal.airport }),
  };
  const draft = draftOf(prompt, rules.readings, byModel ?? [], circumstances);
  if (draft === undefined) throw nothingUnderstood();
  const { body, unclear, confidence } = draft;
  const reader = model === undefined || byModel === undefined ? rulesName : `${rulesName}, ${model.name}`;
  const provenance = { source: "ai", confidence, prompt: prompt.original, reader } as const;
  return { body, unclear, provenance: { ...provenance, ...(caseUrn === undefined ? {} : { caseUrn }) } };
};

const nothingUnderstood = (): Problem =>
  new Problem("validation/body", "The description says nothing that a policy could hold.", {
    errors: [
      {
        pointer: "/description",
        detail:
          "say for whom it is, where, and which hotels: cabins, an airport, stars, a distance, a rate, amenities; as what always holds",
      },
    ],
  });

/** Undefined: it was not asked, or had no answer; the rules' reading stands. */
const readOpen = async (
  { log }: ActorContext,
  model: Model | undefined,
  prompt: Prompt,
  { open }: RulesReading,
): Promise<Reading[] | undefined> => {
  if (model === undefined || open.length === 0) return undefined;
  try {
    return await readByModel(model, prompt, open);
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    // Neither what was asked nor what was answered: both may hold anything.
    log.warn(
      { model: model.name, kind: error.kind, detail: error.message },
      "a prompt was read by rules alone",
    );
    return undefined;
  }
};

/** None where the catalogue has no answer: then each chain is asked about. */
const chainsKnown = async (context: ActorContext, command: Command): Promise<string[]> => {
  const chains = new Set<string>();
  let cursor: string | undefined;
  try {
    for (let page = 0; page < hotelPagesMax; page++) {
      const params = { limit: 200, ...(cursor === undefined ? {} : { cursor }) };
      const { items, nextCursor } = await context.call<Page<CatalogueHotelView>>(
        "vendor-adapter.hotels",
        asked(command, params),
      );
      for (const { chain } of items) if (chain !== undefined) chains.add(chain);
      if (nextCursor === null) break;
      cursor = nextCursor;
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    context.log.warn({ code: error.code }, "the catalogue of hotels has no answer: chains are asked about");
  }
  return [...chains];
};

const asked = (
  { tenant, principal, correlationUrn, traceparent }: Command,
  params: Record<string, unknown>,
) => ({
  tenant,
  principal,
  correlationUrn,
  traceparent,
  params,
});
