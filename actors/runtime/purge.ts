/** Owns the word to caches before the gateway that what they keep of a group's reads is old. */
import { keysOfGroup } from "../../schemas/surrogate-keys.ts";
import type { Outgoing } from "./decider.ts";

/** @param passengerUrns who is, or was, in the group */
export const cachePurged = (
  id: string,
  { caseId, groupId }: { caseId: string; groupId: string },
  passengerUrns: readonly string[],
): Outgoing => ({
  to: "internal",
  type: "cache.purged",
  id,
  caseId,
  data: { surrogateKeys: keysOfGroup(caseId, groupId, [...new Set(passengerUrns)]) },
});
