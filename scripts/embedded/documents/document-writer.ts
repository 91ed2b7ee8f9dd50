/** Owns building encoded documents byte by byte in one growing buffer; what goes into them is the callers'. */
import { TYPE } from "./encoded-fields.ts";

const initialBytes = 64 * 1024;
/** What one large document needed isn't kept for the small ones that follow. */
const keptBytesMax = 1024 * 1024;

/** Everything here is synchronous, so one writer serves every call, as long as each is finished before the next begins. */
export class DocumentWriter {
  #bytes = Buffer.allocUnsafe(initialBytes);
  #used = 0;

  /** A document of the elements that `fill` writes. */
  build(fill: () => void): Buffer {
    this.#used = 0;
    this.#enclose(fill);
    const built = Buffer.from(this.#bytes.subarray(0, this.#used));
    if (this.#bytes.length > keptBytesMax) this.#bytes = Buffer.allocUnsafe(initialBytes);
    return built;
  }

  /** An element whose value is a document or an array of the elements that `fill` writes. */
  nested(kind: "document" | "array", name: string, fill: () => void): void {
    this.#head(TYPE[kind], name);
    this.#enclose(fill);
  }

  /** Elements as they are encoded, in one piece. */
  copy(source: Uint8Array, from = 0, to = source.length): void {
    this.#reserve(to - from);
    this.#bytes.set(from === 0 && to === source.length ? source : source.subarray(from, to), this.#used);
    this.#used += to - from;
  }

  /** An element whose value is encoded already; `type` is BSON's. */
  element(type: number, name: string, value: Uint8Array, from = 0, to = value.length): void {
    this.#head(type, name);
    this.copy(value, from, to);
  }

  document(name: string, bytes: Uint8Array): void {
    this.element(TYPE.document, name, bytes);
  }

  #enclose(fill: () => void): void {
    const start = this.#used;
    this.#reserve(4);
    this.#used += 4;
    fill();
    this.#reserve(1);
    this.#bytes[this.#used++] = 0;
    this.#bytes.writeInt32LE(this.#used - start, start);
  }

  #head(type: number, name: string): void {
    this.#reserve(name.length * 3 + 2);
    this.#bytes[this.#used++] = type;
    this.#used += this.#bytes.write(name, this.#used);
    this.#bytes[this.#used++] = 0;
  }

  #reserve(sizeBytes: number): void {
    if (this.#used + sizeBytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#used + sizeBytes));
    this.#bytes.copy(grown, 0, 0, this.#used);
    this.#bytes = grown;
  }
}
