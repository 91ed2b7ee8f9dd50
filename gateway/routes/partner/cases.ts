/** Owns the partner rows about a case that stands: the disruption feed, its manifest amended, priority asked for (contract, "Partner API"). */
import Type from "typebox";
import { DisruptionFeed, DisruptionFeedQuery } from "../../../schemas/partner-disruptions.ts";
import { ManifestAmended, ManifestPatchBody } from "../../../schemas/partner-manifest.ts";
import { PriorityGranted, PriorityRequestBody } from "../../../schemas/partner-priority.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

export const partnerCaseRoutes = [
  {
    id: "listDisruptions",
    surface: "partner",
    method: "get",
    path: "/disruptions",
    prefixes: ["/partner/v1"],
    summary: "Read the disruption feed",
    description:
      "The events of `disruptions.events.subscribe`, and with `cases.events.subscribe` also `case.amended`: what a webhook would have been told, read in place of it, in the order of publishing. For who reads on: `resumeCursor`, or `since` with the URN of the last event.",
    scope: "disruptions.events.subscribe",
    rate: "read",
    querystring: DisruptionFeedQuery,
    query: "case.disruptions",
    success: 200,
    response: DisruptionFeed,
    problems: ["not-found/resource", "validation/replay-window"],
  },
  {
    id: "amendManifest",
    surface: "partner",
    method: "patch",
    path: "/cases/{caseUrn}/manifest",
    prefixes: ["/partner/v1"],
    summary: "Amend a case's manifest",
    description:
      "Adds passengers and corrects the next flight. Patches may come in any order and more than once: who is known is not added again, and of two next flights the one that was decided later counts. Whoever is added to a booking that waits still joins its group; who comes later has a group of their own.",
    scope: "disruptions.events.publish",
    rate: "write",
    params: caseParams,
    entity: "caseUrn",
    body: ManifestPatchBody,
    bodyBytesMax: 8 * 1024 * 1024,
    command: "case.amend-manifest",
    success: 202,
    response: ManifestAmended,
    problems: ["conflict/state", "conflict/concurrent-write"],
  },
  {
    id: "requestPriority",
    surface: "partner",
    method: "post",
    path: "/cases/{caseUrn}/priority-request",
    prefixes: ["/partner/v1"],
    summary: "Ask for priority",
    description:
      "For groups that have no room yet: they go first within their tier pass in the waves to come, and their open review items go one level up. Bounded for each partner: a share of the case's groups (by default 5 %, one at least; past it 409), and so many requests a day (by default 50; past it 429). Groups that go first already count once.",
    scope: "cases.priority.request",
    rate: "write",
    params: caseParams,
    entity: "caseUrn",
    body: PriorityRequestBody,
    command: "case.prioritise",
    success: 200,
    response: PriorityGranted,
    problems: ["conflict/state", "conflict/concurrent-write"],
  },
] as const satisfies readonly Route[];
