// Where a row alone does not tell what a caller meets: reviewed one by one, each with its reason. A line that holds for nothing
// fails the matrix.
import type { ProblemCode } from "../../../schemas/problems.ts";

export interface Exception {
  route: string;
  /** The column's name. */
  column: string;
  expects: ProblemCode | "passes" | "success";
  why: string;
}

const lists = (route: string): Exception => ({
  route,
  column: "ADMIN of another airport",
  expects: "passes",
  why: "An operator of one airport sees that airport's items alone; naming another one is refused.",
});

export const exceptions: readonly Exception[] = [
  lists("listCases"),
  lists("listManualReview"),
  lists("listReviewItems"),
  lists("listContracts"),
  lists("listDemandFreezes"),
  lists("listHotels"),
  lists("getMetrics"),
  {
    route: "getPartnerAvailability",
    column: "ADMIN of another airport",
    expects: "passes",
    why: "How the gateways answer partners is of no airport.",
  },
  {
    route: "getPolicy",
    column: "ADMIN of another airport",
    expects: "passes",
    why: "Which rules are in force is read by all of the airline's operators; changing them is not.",
  },
  {
    route: "receiveVendorWebhook",
    column: "nonsense in the path",
    expects: "auth/bad-signature",
    why: "Nobody learns from an answer which vendors there are.",
  },
  {
    route: "getEntityAudit",
    column: "an unknown URN in the path",
    expects: "success",
    why: "A trail may be of something that is gone; of nothing there are no entries.",
  },
];
