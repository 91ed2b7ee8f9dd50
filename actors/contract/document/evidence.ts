/** Owns what is gathered of a document: each value with its place and confidence, and whether what was found agrees with itself. */
import type { Finding, Unclear } from "../../../schemas/contract-analysis.ts";
import { type Line, placeOf } from "./page-text.ts";
import { DocumentRefused } from "./refused.ts";

/** Recognised less certainly, a value is told and not taken. */
const certaintyMin = 0.6;
/** What was found is shown as a whole, in one message. */
const findingsMax = 300;
const unclearMax = 100;

export interface Spot {
  line: Line;
  start: number;
  end: number;
}

export class Evidence {
  readonly found: Finding[] = [];
  readonly unclear: Unclear[] = [];

  /**
   * Undefined: recognised too badly to count.
   * @param confidence of the rule, 0 to 1
   * @throws DocumentRefused for more than can be shown: what would be left out might contradict the rest
   */
  note(pointer: string, value: unknown, confidence: number, spot: Spot, note?: string): Finding | undefined {
    const { certainty, ...place } = placeOf(spot.line, spot.start, spot.end);
    if (certainty < certaintyMin) {
      this.doubt(pointer, `reads ${JSON.stringify(value)}, but was recognised with little certainty`, spot);
      return undefined;
    }
    const exact = Math.round(confidence * certainty * 100) / 100;
    const finding: Finding = {
      pointer,
      value,
      confidence: exact,
      ...(note === undefined ? {} : { note }),
      ...place,
    };
    if (this.found.length === findingsMax) throw tooManyTerms();
    this.found.push(finding);
    return finding;
  }

  doubt(pointer: string, detail: string, spot?: Spot): void {
    if (this.unclear.length >= unclearMax) return;
    if (spot === undefined) return void this.unclear.push({ pointer, detail });
    const { certainty: _, ...place } = placeOf(spot.line, spot.start, spot.end);
    this.unclear.push({ pointer, detail, ...place });
  }

  /** Whether anything was told of it, be it that it isn't plain. */
  speaksOf(pointer: string): boolean {
    return [...this.found, ...this.unclear].some((told) => told.pointer === pointer);
  }

  /** The one value that was found for it; what contradicts itself is doubted, and none. */
  agreed<Value>(pointer: string): Value | undefined {
    const values = this.found.filter((finding) => finding.pointer === pointer).map(({ value }) => value);
    const texts = [...new Set(values.map((value) => JSON.stringify(value)))];
    if (texts.length > 1)
      this.doubt(pointer, `the document says it in several ways: ${texts.join(", ").slice(0, 200)}`);
    return texts.length === 1 ? (values[0] as Value) : undefined;
  }
}

const tooManyTerms = (): DocumentRefused =>
  new DocumentRefused(
    "TOO_LONG",
    "The document agrees more than any one contract does: hand in the pages of each contract by themselves.",
  );
