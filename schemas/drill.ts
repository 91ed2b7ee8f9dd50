/** Owns what drills and shadow cases are called, and the vendor that takes the place of real ones in them. */
import Type from "typebox";

/** DRILL: an exercise. SHADOW: runs beside a real night, to compare. In neither is anybody stranded. */
export const caseKinds = ["DRILL", "SHADOW"] as const;
export type CaseKind = (typeof caseKinds)[number];

export const CaseKind = Type.Enum([...caseKinds], {
  description:
    "Absent: a real case. Drills and shadow cases run as real ones do, with simulated vendors; no partner and no passenger hears of them, and no figure counts them.",
});

/** Built in, and every airline's: sells rooms, cards, rides and messages that nobody gets. */
export const drillVendor = "drill";
