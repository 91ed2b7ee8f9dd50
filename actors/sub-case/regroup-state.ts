/** Owns what a sub-case keeps of a change of its group, and of having been let go. */
import { languageOf, normalPnr } from "../../schemas/passenger.ts";
import type { Regrouped } from "../../schemas/regroup.ts";
import type { Released, SubCaseState } from "./state.ts";

/** Hotels were sought for the group as it was; without a saga under way they are forgotten. */
export const evolveRegrouped = (
  state: SubCaseState,
  { shape, passengers, tier, mergedInto, moved }: Regrouped,
): SubCaseState => {
  const here = new Set(passengers.map(({ urn }) => urn));
  const before = (state.moved ?? []).map(({ passengerUrns, subCaseId }) => ({
    passengerUrns: passengerUrns.filter((urn) => !here.has(urn)),
    subCaseId,
  }));
  const changed: SubCaseState = {
    ...state,
    shape,
    passengers,
    pnrs: [...new Set(passengers.flatMap(({ pnr }) => (pnr === undefined ? [] : normalPnr(pnr))))],
    language: passengers.length === 0 ? state.language : languageOf(passengers),
    tier: tier ?? state.tier,
    moved: [...moved, ...before.filter(({ passengerUrns }) => passengerUrns.length > 0)],
    ...(mergedInto === undefined ? {} : { mergedInto }),
  };
  if (state.status !== "PENDING" && state.status !== "FAILED") return changed;
  const { assignment: _, cameBack: _b, ...waiting } = changed;
  return { ...waiting, status: "PENDING" };
};

/** A stuck rollback stays with the person who has it; once it has ended nothing more is required. */
export const evolveReleased = (state: SubCaseState, { cause }: { cause: Released }): SubCaseState => ({
  ...state,
  status: state.status === "COMPENSATION_FAILED" ? state.status : "ROLLING_BACK",
  released: cause,
  offer: { ...state.offer, state: state.offer.state === "DECLINED" ? "DECLINED" : "WITHDRAWN" },
});
