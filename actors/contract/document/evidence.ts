/** Owns what is gathered of a document: each value with its place and confidence, and whether what was found agrees with itself. */
import type { Finding, Unclear } from "../../../schemas/contract-analysis.ts";
import { type Line, placeOf } from "./page-text.ts";

/** Recognised less certainly, a value is told and not taken. */
const certaintyMin = 0.6;
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

  /** @param confidence of the rule, 0 to 1. Undefined: recognised too badly to count. */
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
    if (this.found.length < findingsMax) this.found.push(finding);
    return finding;
  }

  doubt(pointer: string, detail: string, spot?: Spot): void {
    if (this.unclear.length >= unclearMax) return;
    if (spot === undefined) return void this.unclear.push({ pointer, detail });
    const { certainty: _, ...place } = placeOf(spot.line, spot.start, spot.end);
    this.unclear.push({ pointer, detail, ...place });
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
