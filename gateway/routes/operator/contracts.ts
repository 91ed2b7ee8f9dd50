/** Owns the operator rows about direct contracts: seeing them and agreeing terms. */
import { ContractBody, ContractListQuery, ContractView } from "../../../schemas/contract.ts";
import { pageOf } from "../../../schemas/page.ts";
import type { Route } from "../../route.ts";

export const contractRoutes = [
  {
    id: "listContracts",
    surface: "operator",
    method: "get",
    path: "/contracts",
    prefixes: ["/v1"],
    summary: "List active direct contracts",
    description:
      "Those that haven't ended, newest first, each with the rooms left in the nights to come. With `status` a page may hold fewer than `limit`; `hasMore` tells.",
    role: "OPS_SUPERVISOR",
    rate: "read",
    querystring: ContractListQuery,
    query: "contract.list",
    success: 200,
    response: pageOf(ContractView, "ContractPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    id: "putContract",
    surface: "operator",
    method: "post",
    path: "/contracts",
    prefixes: ["/v1"],
    summary: "Create or update a contract",
    description:
      "With `contractUrn` the terms of that contract are replaced as a whole; rooms that were taken stay taken, so a smaller block only stops new sales. Its rooms are sold under the vendor name `direct`. `analysisUrn` names the document that the terms were read from, and confirms them.",
    role: "OPS_SUPERVISOR",
    rate: "write",
    body: ContractBody,
    command: "contract.put",
    success: 201,
    successUnlessCreated: 200,
    response: ContractView,
    problems: [
      "auth/foreign-airport",
      "not-found/resource",
      "conflict/state",
      "conflict/version",
      "conflict/concurrent-write",
    ],
  },
] as const satisfies readonly Route[];
