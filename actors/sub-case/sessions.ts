/** Owns finding the group that a passenger's session is in: its own, or where its passenger has gone since. */
import type { Collection, Document } from "mongodb";
import type { Principal } from "../../schemas/command.ts";
import { isSessionOf } from "../../schemas/passenger-session.ts";
import { Problem } from "../../schemas/problems.ts";
import type { SubCaseState } from "./state.ts";

type Followed = Pick<SubCaseState, "passengers" | "moved" | "mergedInto">;

/** Where the session's passenger is now; undefined: here. One of a former member stays with the group that it was opened for. */
export const movedTo = (
  { passengers, moved = [], mergedInto }: Followed,
  session: string,
): string | undefined => {
  if (passengers.some(({ urn }) => isSessionOf(session, urn))) return undefined;
  const gone = moved.find(({ passengerUrns }) => passengerUrns.some((urn) => isSessionOf(session, urn)));
  return gone?.subCaseId ?? mergedInto?.subCaseId;
};

/** More changes of one group than anybody makes. */
const movesMax = 20;

/**
 * One read for a session whose group has not changed, which is nearly all of them.
 * @param projection must leave `passengers`, `moved` and `mergedInto`
 * @throws Problem not-found/resource
 */
export const documentOf = async (
  subCases: Collection<Document>,
  { caseId, groupId, urn }: Principal,
  projection?: Document,
): Promise<Document> => {
  const options = projection === undefined ? {} : { projection };
  let found = await subCases.findOne({ caseId, groupId }, options);
  for (let moves = 0; found !== null && moves < movesMax; moves++) {
    const next = movedTo(found as unknown as Followed, urn);
    if (next === undefined) return found;
    found = await subCases.findOne({ _id: next as never }, options);
  }
  throw new Problem("not-found/resource", "This session's group is not known any more, or is being changed.");
};
