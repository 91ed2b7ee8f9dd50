/** Owns the errors that clients see, under MongoDB's own codes; which error fits where is decided by the callers. */
import type { Document } from "bson";

const NAMES = {
  1: "InternalError",
  2: "BadValue",
  9: "FailedToParse",
  14: "TypeMismatch",
  15: "Overflow",
  20: "IllegalOperation",
  26: "NamespaceNotFound",
  27: "IndexNotFound",
  28: "PathNotViable",
  40: "ConflictingUpdateOperators",
  43: "CursorNotFound",
  52: "DollarPrefixedFieldName",
  54: "NotSingleValueField",
  56: "EmptyFieldName",
  66: "ImmutableField",
  67: "CannotCreateIndex",
  72: "InvalidOptions",
  73: "InvalidNamespace",
  85: "IndexOptionsConflict",
  86: "IndexKeySpecsConflict",
  115: "CommandNotSupported",
  171: "CannotIndexParallelArrays",
  197: "InvalidIndexSpecificationOption",
  225: "TransactionTooOld",
  10334: "BSONObjectTooLarge",
  11000: "DuplicateKey",
  15975: "Location15975",
  31249: "Location31249",
  31253: "Location31253",
  31254: "Location31254",
} as const;

export type ErrorCode = keyof typeof NAMES;

/** A refusal: the statement that raised it changed nothing. `details` stand beside the message in the reply. */
export class CommandError extends Error {
  readonly code: ErrorCode;
  readonly details: Document;

  constructor(code: ErrorCode, message: string, details: Document = {}) {
    super(message);
    this.code = code;
    this.details = details;
  }

  /** The reply to a command that failed as a whole. */
  toReply(): Document {
    return { ok: 0, errmsg: this.message, code: this.code, codeName: NAMES[this.code], ...this.details };
  }

  /** The entry of `writeErrors` for the statement at `index` of its command. */
  toWriteError(index: number): Document {
    return { index, code: this.code, errmsg: this.message, ...this.details };
  }
}

/** What MongoDB has and this server leaves out on purpose; the README's promise names what stays. */
export const notSupported = (what: string, code: ErrorCode = 115): CommandError =>
  new CommandError(code, `The embedded document server does not support ${what}`);
