/** Owns saying no to a document. */
import type { DocumentRefusal } from "../../../schemas/contract-analysis.ts";

/** The document is not read, and why; the message is for whoever handed it in. */
export class DocumentRefused extends Error {
  readonly reason: DocumentRefusal;

  constructor(reason: DocumentRefusal, detail: string) {
    super(detail);
    this.reason = reason;
  }
}
