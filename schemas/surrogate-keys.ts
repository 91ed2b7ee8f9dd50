/**
 * Owns by which names a cache before the gateway (an edge) knows the passengers' reads that it keeps, so that it can let go of what has
 * changed: the header `Surrogate-Key` of each read, and the internal event `cache.purged`.
 */
import { markOfPassenger, markOfSession } from "./passenger-session.ts";

export const surrogateKeyHeader = "Surrogate-Key";

/** What the group of this session's token is shown. */
const groupKey = (caseId: string, groupId: string): string => `group/${caseId}/${groupId}`;
/** What this passenger is shown, whichever group they are in by now. */
const passengerKey = (mark: string): string => `passenger/${mark}`;

/** Of a read with this session. */
export const keysOfSession = ({
  urn,
  caseId = "",
  groupId = "",
}: {
  urn: string;
  caseId?: string;
  groupId?: string;
}): string => `${groupKey(caseId, groupId)} ${passengerKey(markOfSession(urn))}`;

/** Of every read in which a change of this group shows: of sessions that were opened for it, and of who has come from another. */
export const keysOfGroup = (caseId: string, groupId: string, passengerUrns: readonly string[]): string[] => [
  groupKey(caseId, groupId),
  ...passengerUrns.map((urn) => passengerKey(markOfPassenger(urn))),
];
