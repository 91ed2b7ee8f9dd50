// The failure of a start that the person at the terminal can mend; anything else that is thrown is a bug.

/** Its message is one line: what is wrong, and what to do about it. Scripts print it as `error: <message>` and exit 1. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
}
