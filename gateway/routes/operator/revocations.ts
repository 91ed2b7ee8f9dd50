/** Owns the operator rows of the revocation list: who and what is shut out of the airline's surfaces. */
import Type from "typebox";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { LiftRevocationQuery, RevocationBody, RevocationView } from "../../../schemas/revocation.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const row = { surface: "operator", prefixes: ["/v1"], role: "ADMIN" } as const;

export const revocationRoutes = [
  {
    ...row,
    id: "listRevocations",
    method: "get",
    path: "/admin/revocations",
    summary: "List withdrawn access",
    description: "Every entry that holds, newest first.",
    rate: "read",
    querystring: Type.Object(PageQuery),
    query: "identity.revocations",
    success: 200,
    response: pageOf(RevocationView, "RevocationPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    ...row,
    id: "revokeAccess",
    method: "post",
    path: "/admin/revocations",
    summary: "Withdraw access",
    description:
      "For a compromised account or a lost token, not for a logout: every token of the `subject`, or the one with that `tokenId`, is refused with 401 on all surfaces of the airline within a second, and until the entry is removed. An entry that stands already is answered as it is, with 200. Nobody can withdraw their own access.",
    rate: "write",
    body: RevocationBody,
    command: "identity.revoke-access",
    success: 201,
    successUnlessCreated: 200,
    response: RevocationView,
    problems: ["auth/foreign-airport", "conflict/concurrent-write"],
  },
  {
    ...row,
    id: "liftRevocation",
    method: "delete",
    path: "/admin/revocations/{revocationUrn}",
    summary: "Give access back",
    description: "Removes the entry. Tokens that it has shut out and that live still are good again.",
    rate: "write",
    params: Type.Object({ revocationUrn: Urn("revocation") }),
    querystring: LiftRevocationQuery,
    command: "identity.lift-revocation",
    entity: "revocationUrn",
    success: 200,
    response: RevocationView,
    problems: ["auth/foreign-airport", "conflict/version", "conflict/concurrent-write"],
  },
] as const satisfies readonly Route[];
