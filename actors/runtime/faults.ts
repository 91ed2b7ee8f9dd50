/** Owns the named points at which a fault test lets a process die; without KILL_POINT they do nothing. */

export const killPoints = ["after-commit", "after-publish", "after-vendor-answer", "before-ack"] as const;
export type KillPoint = (typeof killPoints)[number];

/** @param what the command, event or operation under way, so that a test can choose which of them dies */
export type Faults = (point: KillPoint, what: string) => void;

/**
 * Reads `<point>` or `<point>@<what>` or `<point>@<what>#<count>`: the process kills itself, uncaught and unflushed,
 * the count-th time (default the first) that it comes by. A `<what>` that begins with `*` is a name's end: `*.book` is
 * any vendor's booking.
 */
export const faultsOf = (setting: string | undefined): Faults => {
  if (setting === undefined) return () => undefined;
  const [, point, wanted, count] = /^([a-z-]+)(?:@([^#]+))?(?:#(\d+))?$/.exec(setting) ?? [];
  if (!killPoints.includes(point as KillPoint)) throw new Error(`KILL_POINT: unknown point in ${setting}`);
  let left = Number(count ?? 1);
  return (at, what) => {
    if (at !== point || !isWanted(what, wanted)) return;
    left -= 1;
    if (left === 0) process.kill(process.pid, "SIGKILL");
  };
};

const isWanted = (what: string, wanted: string | undefined): boolean => {
  if (wanted === undefined) return true;
  return wanted.startsWith("*") ? what.endsWith(wanted.slice(1)) : what === wanted;
};
