// Ends a child when the process that started it dies, even by SIGKILL; how the child ends is its own business.

/** The environment variable by which a parent announces that it holds the child's stdin open for as long as it lives. */
export const parentHoldsStdin = { STOP_WITH_PARENT: "1" } as const;

/**
 * Calls `onStop` once when the parent has died or closed our stdin. Does nothing in a process started by hand or by a
 * container runtime, whose stdin may be at its end from the beginning: only a parent that sets `parentHoldsStdin`
 * is watched. Watching keeps the event loop alive.
 */
export function stopWithParent(onStop: () => void): void {
  if (process.env.STOP_WITH_PARENT !== "1") return;
  process.stdin.once("close", onStop);
  process.stdin.once("error", () => process.stdin.destroy());
  process.stdin.resume();
}
