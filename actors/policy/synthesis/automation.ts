/** Owns reading how much runs without a person, and when: approval, waves, booking, detection, buffers, weights. */
import { readQuantities } from "./bounds.ts";
import type { Prompt } from "./folded.ts";
import { asks, is, type Reader, type Reading } from "./reading.ts";

const exactOnly = "Which figure exactly?";
const negation = "(?:no|not|never|without|don't|do not|sin|nunca|nao|sem)";

/** What a phrase alone says. */
const phrases: readonly [source: string, pointer: string, value: unknown][] = [
  [
    "(?:incremental|additional|extra) (?:demand|rooms?|requests?) (?:always )?(?:needs?|requires?|must have|waits? for) (?:manual |a supervisor's |supervisor )?approval|approval for (?:incremental|additional) (?:demand|rooms)|(?:la )?demanda (?:incremental|adicional) (?:requiere|necesita|exige) (?:de )?aprobacion|(?:a )?demanda (?:incremental|adicional) (?:requer|exige|precisa(?: de)?|necessita(?: de)?) aprovacao|quartos adicionais (?:requerem|exigem|precisam de) aprovacao|habitaciones adicionales (?:requieren|necesitan) aprobacion",
    "/incrementalRequiresApproval",
    true,
  ],
  [
    `(?:${negation} )(?:auto(?:matic(?:ally)?)?[- ]?(?:approv(?:e|al|als|ed)|approve)(?: demand)?|approve (?:demand |anything )?automatically|aprob(?:ar|acion)(?: la demanda)? automatica(?:mente)?|apro(?:var|vacao)(?: a demanda)? automatica(?:mente)?)`,
    "/autoApproveDemand",
    false,
  ],
  [
    "(?:demand (?:always )?(?:needs|requires) (?:manual )?approval|manual approval(?: of demand| only)?|a supervisor approves (?:all|every) demands?|(?:la )?demanda (?:siempre )?(?:requiere|necesita) aprobacion|aprobacion manual|(?:a )?demanda (?:sempre )?(?:requer|exige|precisa de) aprovacao|aprovacao manual)",
    "/autoApproveDemand",
    false,
  ],
  [
    `(?:${negation} )(?:auto(?:matic(?:ally)?)?[- ]?book(?:ing)?(?: rooms)?|book (?:rooms )?automatically|reserv(?:ar|e|en|as?)(?: \\p{L}+)? automatica(?:mente|s)?)`,
    "/autoBook",
    false,
  ],
  [
    "auto(?:matic(?:ally)?)?[- ]?book(?:ing)?(?: rooms)?|book (?:the |rooms )*automatically|reserv(?:ar|e|en|as?)(?: \\p{L}+)? automatica(?:mente|s)?",
    "/autoBook",
    true,
  ],
  [
    "on[- ]demand (?:waves?|mode|allocation)|(?:waves?|allocation|mode) on[- ]demand|mode: on[- ]demand|modo (?:a|bajo|sob) demanda|(?:asignacion|alocacao|ondas?|olas?) (?:a|bajo|sob) demanda",
    "/mode",
    "ON_DEMAND",
  ],
];

export const readAutomation: Reader = (prompt) => [
  ...readDetection(prompt),
  ...readPhrases(prompt),
  ...readApproval(prompt),
  ...readWaves(prompt),
  ...readBuffers(prompt),
  ...readWeights(prompt),
];

const readPhrases = (prompt: Prompt): Reading[] =>
  phrases.flatMap(([source, pointer, value]) =>
    [...prompt.matches(new RegExp(`(?<![\\p{L}])(?:${source})(?![\\p{L}])`, "gu"))].map(({ span }) => {
      prompt.take(span);
      return is(span, pointer, value);
    }),
  );

const readDetection = (prompt: Prompt): Reading[] => {
  const form = {
    after: "(?:\\s?%|\\s?(?:percent|per cent|por ciento|por cento)(?![\\p{L}])|(?![\\d%]))",
    topics:
      "(?:disruption )?detection(?: threshold)?|threshold|probabilit(?:y|ies)|likelihood|confidence|umbral|(?:de )?deteccion|probabilidad(?:e)?|limiar|(?:de )?deteccao|(?:react|act|open (?:a )?cases?|alert)(?: (?:when|if))?|disruptions?|disrupcion(?:es)?|(?:actuar|avisar|abrir (?:un )?casos?)(?: (?:cuando|si|quando|se))?|interrupcoes|interrupcao|with|whose|con|com|cuando|quando|when",
  };
  return readQuantities(
    prompt,
    form,
    ({ span, topics, values, isUncertain, bound, unit: [, unit = ""] }): Reading[] => {
      if (!/detecti|detecci|detecca|probabili|likelihood/.test(topics)) return [];
      prompt.take(span);
      const pointer = "/detectionThreshold";
      const isClear = !isUncertain && values.length === 1 && !["about", "at-most"].includes(bound);
      const share = (values[0] ?? 0) / (unit.trim() === "" ? 1 : 100);
      return [
        isClear ? is(span, pointer, Math.round(share * 10_000) / 10_000) : asks(span, exactOnly, pointer),
      ];
    },
  );
};

const approve =
  "(?:(?:may |can )?be |are |get )?approved without (?:a |any )?(?:supervisor|human|person)|auto(?:matic(?:ally)?)?[- ]?approv(?:e|es|ed|al)(?: (?:demand|for))*|approv(?:e|ed|al)(?: demand)? automatically|automatic approval|aprob(?:ar|ad[oa]s?|acion)(?: la demanda)? automatica(?:mente)?|aprobacion automatica|autoaprobar|aprov(?:ar|ad[oa]s?|acao)(?: a demanda)? automatica(?:mente)?|aprovacao automatica";

const readApproval = (prompt: Prompt): Reading[] => {
  const form = {
    after:
      "(?:rooms?|habitacion(?:es)?|quartos?|cuartos?)(?![\\p{L}])(?!\\s*(?:per|por) (?:group|passenger|grupo))",
    topics: `${approve}|(?:per|a|in (?:a|one|each)|por|em cada|en cada|cada) (?:wave|ola|onda|rodada|ronda|oleada)|(?:automatic )?(?:waves?|olas?|ondas?)|demand|demanda|automatic(?:ally)?|automatica(?:mente|s)?|without (?:a )?(?:supervisor|human|approval)|sin (?:supervisor|aprobacion)|sem (?:supervisor|aprovacao)`,
  };
  const named = readQuantities(prompt, form, ({ span, topics, bound, values, isUncertain }): Reading[] => {
    const isApproval = new RegExp(`(?:${approve})|automatic|without|sin |sem `, "u").test(topics);
    if (!isApproval && !/wave|ola|onda|rodada|ronda|oleada/.test(topics)) return [];
    const head = prompt.open.slice(Math.max(0, span.from - 12), span.from);
    const isDenied = new RegExp(`(?<![\\p{L}])${negation}\\s+$`, "u").test(head);
    prompt.take(span);
    const pointer = "/maxAutomaticRoomsPerWave";
    if (isDenied || isUncertain || values.length > 1 || !["exactly", "at-most"].includes(bound))
      return [asks(span, "Up to how many rooms is demand to be approved automatically?", pointer)];
    return [is(span, pointer, values[0]), ...(isApproval ? [is(span, "/autoApproveDemand", true)] : [])];
  });
  const plain = new RegExp(
    `(?<![\\p{L}])(?<!${negation} )(?:${approve})(?: (?:all |any |toda (?:la |a )?)?(?:demand|demanda))?(?![\\p{L}])`,
    "gu",
  );
  const unbounded = [...prompt.matches(plain)].flatMap(({ span }): Reading[] => {
    prompt.take(span);
    const stated = named.some(({ says }) => says === "is");
    const question = "Up to how many rooms is demand to be approved automatically? Without a figure none is.";
    return [
      is(span, "/autoApproveDemand", true),
      ...(stated ? [] : [asks(span, question, "/maxAutomaticRoomsPerWave")]),
    ];
  });
  return [...named, ...unbounded];
};

const minutes = "(?:minutes?|mins?|minutos?|hours?|hrs?|h|horas?)(?![\\p{L}])";
const inMinutes = (value: number, unit: string): number => Math.round(value * (/^\s*h/.test(unit) ? 60 : 1));

const readWaves = (prompt: Prompt): Reading[] => {
  const topics =
    "every|each|cada|a cada|waves?|batch(?:es)?|in batches|batch mode|lotes?|por lotes|em lotes|en lotes|olas?|oleadas?|ondas?|run|runs|allocat(?:e|ion)|asign(?:ar|acion)|alocar|alocacao|mode|modo|interval|intervalo";
  const named = readQuantities(
    prompt,
    { after: minutes, topics },
    ({ span, topics: said, values, isUncertain, unit: [, unit = ""] }): Reading[] => {
      if (!/wave|batch|lote|ola|onda/.test(said)) return [];
      prompt.take(span);
      if (isUncertain || values.length > 1) return [asks(span, exactOnly, "/batchIntervalMinutes")];
      const interval = inMinutes(values[0] as number, unit);
      return [is(span, "/mode", "BATCH"), is(span, "/batchIntervalMinutes", interval)];
    },
  );
  const plain =
    /(?<![\p{L}])(?:in batches|batch mode|mode:? batch|por lotes|en lotes|em lotes|modo (?:batch|lotes))(?![\p{L}])/gu;
  return [
    ...named,
    ...[...prompt.matches(plain)].map(({ span }) => {
      prompt.take(span);
      return is(span, "/mode", "BATCH");
    }),
  ];
};

const bufferWords: readonly [string, string][] = [
  [
    "/buffers/lateCheckoutMinutes",
    "late check-?\\s?outs?|(?:check-?out|salida) (?:tardi[oa]|tarde)|saida tardia|late departure",
  ],
  [
    "/buffers/earlyCheckInMinutes",
    "early check-?\\s?ins?|(?:check-?in|entrada) (?:temprano|temprana|anticipad[oa]|antecipad[oa]|cedo)|early arrival",
  ],
];

const bufferForm = (words: string) => ({
  after: minutes,
  topics: `${words}|allow|buffer|permitir|margen|margem`,
});

const readBuffers = (prompt: Prompt): Reading[] =>
  bufferWords.flatMap(([pointer, words]) =>
    readQuantities(
      prompt,
      bufferForm(words),
      ({ span, topics, values, isUncertain, bound, unit: [, unit = ""] }) => {
        if (!new RegExp(words, "u").test(topics)) return [];
        prompt.take(span);
        const isClear = !isUncertain && values.length === 1 && ["exactly", "at-most"].includes(bound);
        return [
          isClear ? is(span, pointer, inMinutes(values[0] as number, unit)) : asks(span, exactOnly, pointer),
        ];
      },
    ),
  );

const weightWords: readonly [string, string][] = [
  ["/allocationWeights/cost", "costs?|price|costes?|costos?|custos?|precio|preco"],
  ["/allocationWeights/distance", "distance|distancia"],
  ["/consolidationWeight", "consolidation|consolidacion|consolidacao"],
];

/** Shares of one, only beside the word for a weight. */
const readWeights = (prompt: Prompt): Reading[] => {
  if (!/\b(?:weights?|weigh(?:ed|ting)?|peso|pesos)\b/.test(prompt.plain)) return [];
  return weightWords.flatMap(([pointer, words]) => {
    const figure = "(?<figure>0?[.,]\\d{1,4}|[01]|\\d{1,3}\\s?%)";
    const pattern = new RegExp(
      `(?<![\\p{L}])(?:(?:weights?|pesos?)\\s*(?:of|for|:|de|del|da|do|de la)?\\s*)?(?:the |el |la |o |a )?(?:${words})(?: weight| peso)?\\s*(?:of|is|=|:|at|con peso|con|com peso|com|de|por)?\\s*${figure}(?![\\d.,]?\\d)`,
      "gu",
    );
    return [...prompt.matches(pattern)].map(({ match, span }) => {
      prompt.take(span);
      const text = match.groups?.figure ?? "";
      const share = Number(text.replace(",", ".").replace(/\s?%/, "")) / (text.endsWith("%") ? 100 : 1);
      return is(span, pointer, share);
    });
  });
};
