/** Owns the planner with a model in it: what the model would rather have, costed and ranked by rule; without an answer, the rules' own plan. */
import type { Logger } from "pino";
import Type, { type Static } from "typebox";
import { proposalKinds, triageCauses } from "../../schemas/agent.ts";
import { checkedBy } from "../runtime/input.ts";
import { type Model, ModelFailure } from "../runtime/model.ts";
import { briefingOf, inPlainWords, instructions } from "./briefing.ts";
import { classify } from "./classify.ts";
import type { Facts } from "./facts.ts";
import type { Plan, Planner } from "./planner.ts";
import { type Choice, draftsOf, rulesPlanner } from "./rules.ts";
import { relaxable, Toolbox, toolList } from "./tools.ts";

/** With fewer left a model is not asked: a connection and a first word take as long. */
const leastMs = 250;
const turnsMax = 5;
const tokensMax = 700;
/** Of a whole triage, both ways. */
const tokensInAllMax = 16_000;
/** Of the three that an item recommends: the rules' best one is always among them. */
const choicesMax = 2;
const wordsCharsMax = 90;
const explanationCharsMax = 160;
/** As sure as a model's word may make anybody. */
const confidenceMax = 0.8;
/** From here on the rules need no second opinion of the cause. */
const sureFrom = 0.9;

/** Cut to a line before it is shown. */
const Text = Type.String({ maxLength: 20_000 });
const Answer = Type.Object({
  cause: Type.Enum([...triageCauses]),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  explanation: Type.Optional(Text),
  proposals: Type.Array(
    Type.Object({
      action: Type.Enum([...proposalKinds]),
      need: Type.String({ maxLength: 8 }),
      hotel: Type.String({ maxLength: 8 }),
      fields: Type.Optional(Type.Array(Type.String({ maxLength: 40 }), { maxItems: relaxable.length })),
      reason: Type.Optional(Text),
    }),
    { maxItems: 20 },
  ),
});
type Answer = Static<typeof Answer>;
const check = checkedBy(Answer);

/** @param model undefined: none is configured */
export const plannerWith = (model: Model | undefined, log: Pick<Logger, "warn">): Planner =>
  model === undefined
    ? rulesPlanner
    : { name: both(model), plan: (facts, withinMs) => planned(model, log, facts, withinMs) };

/** The model's choice, the rules' figures. */
const both = ({ name }: Model): string => `${rulesPlanner.name}, ${name}`;

const planned = async (
  model: Model,
  log: Pick<Logger, "warn">,
  facts: Facts,
  withinMs: number,
): Promise<Plan> => {
  const byRule = { ...classify(facts), planner: rulesPlanner.name };
  const toolbox = new Toolbox(facts);
  const rulesAlone = () => ({ ...byRule, drafts: draftsOf(facts, toolbox.options) });
  if (withinMs < leastMs || !isWorthAsking(facts, byRule, toolbox)) return rulesAlone();
  try {
    const answer = await model.ask({
      system: instructions,
      user: briefingOf(facts),
      check,
      tokensMax,
      withinMs,
      tools: {
        list: toolList,
        call: (name, text) => toolbox.call(name, text),
        turnsMax,
        tokensMax: tokensInAllMax,
      },
    });
    const choices = choicesOf(model, toolbox, answer);
    return {
      ...causeOf(byRule, answer),
      drafts: draftsOf(facts, toolbox.options, choices),
      planner: both(model),
    };
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    // Neither what it was told nor what it said: both may hold anything.
    log.warn(
      { model: model.name, kind: error.kind, detail: error.message },
      "an item was looked into by rules alone",
    );
    return rulesAlone();
  }
};

/** Where the cause is plain, nothing is to be chosen and nobody has said a word, no answer could change anything. */
const isWorthAsking = (
  { note }: Facts,
  { confidence }: Pick<Plan, "confidence">,
  { options }: Toolbox,
): boolean => options.length > 0 || confidence < sureFrom || note !== undefined;

const choicesOf = (model: Model, toolbox: Toolbox, { proposals }: Answer): Choice[] => {
  const choices = new Map<unknown, Choice>();
  for (const { fields = [], reason = "", ...rest } of proposals) {
    const option = toolbox.optionFor({ ...rest, fields });
    if (option === undefined || choices.has(option) || choices.size === choicesMax) continue;
    choices.set(option, { option, words: inPlainWords(reason, wordsCharsMax), planner: both(model) });
  }
  return [...choices.values()];
};

/** Causes of the rooms: for an item that is about none of them there is no doubt among these. */
const ofRooms: ReadonlySet<string> = new Set([
  "NO_INVENTORY",
  "POLICY_TOO_STRICT",
  "HOTELS_REFUSED",
  "VENDOR_OUTAGE",
]);

/** The model's word on the cause counts only where the rules are in doubt, and among what they are in doubt between. */
const causeOf = (byRule: Plan | Omit<Plan, "drafts">, answer: Answer): Omit<Plan, "drafts"> => {
  const words = inPlainWords(answer.explanation ?? "", explanationCharsMax);
  const evidence = words === "" ? byRule.evidence : [...byRule.evidence, `The model: “${words}”`];
  const isOpen = byRule.confidence < sureFrom && answer.cause !== "OTHER";
  if (!isOpen || !(byRule.cause === "OTHER" || ofRooms.has(answer.cause))) return { ...byRule, evidence };
  return { cause: answer.cause, confidence: Math.min(confidenceMax, answer.confidence), evidence };
};
