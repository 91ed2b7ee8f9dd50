/** Owns the operator rows about direct contracts: seeing them and agreeing terms. */
import Type from "typebox";
import { ContractBody, ContractView } from "../../../schemas/contract.ts";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import type { Route } from "../../route.ts";

export const contractRoutes = [
  {
    id: "listContracts",
    surface: "operator",
    method: "get",
    path: "/contracts",
    prefixes: ["/v1"],
    summary: "List active direct contracts",
    description: "Those that haven't ended, newest first, each with the rooms left in the nights to come.",
    role: "OPS_SUPERVISOR",
    rate: "read",
    querystring: Type.Object(PageQuery),
    query: "contract.list",
    success: 200,
    response: pageOf(ContractView, "ContractPage"),
    problems: [],
  },
  {
    id: "putContract",
    surface: "operator",
    method: "post",
    path: "/contracts",
    prefixes: ["/v1"],
    summary: "Create or update a contract",
    description:
      "With `contractUrn` the terms of that contract are replaced as a whole; rooms that were taken stay taken, so a smaller block only stops new sales. Its rooms are sold under the vendor name `direct`.",
    role: "OPS_SUPERVISOR",
    rate: "write",
    idempotent: true,
    body: ContractBody,
    command: "contract.put",
    success: 201,
    successUnlessCreated: 200,
    response: ContractView,
    problems: ["auth/foreign-airport", "not-found/resource", "conflict/version", "conflict/concurrent-write"],
  },
] as const satisfies readonly Route[];
