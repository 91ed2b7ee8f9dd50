/** Owns the operator rows about hotels: what is offered now, what the airline knows, where a case's groups are sent. */
import Type from "typebox";
import { CaseHotelView, CatalogueHotelView, HotelListQuery } from "../../../schemas/hotel-catalogue.ts";
import {
  HotelSearchBody,
  HotelSearchView,
  HotelsInvalidated,
  InvalidateHotelsQuery,
} from "../../../schemas/hotel-search.ts";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

export const hotelRoutes = [
  {
    id: "searchHotels",
    surface: "operator",
    method: "post",
    path: "/hotels/search",
    prefixes: ["/v1"],
    summary: "Search hotels",
    description:
      "Asks all of the airline's hotel vendors and its direct contracts at once, for at most two seconds; who was late or failed stands in `partialFailures`. Each hotel comes once, with every vendor's offer. Offers may be up to a minute old (`vendors[].askedAt`); those of contracts are as of now. Nothing is held.",
    role: "AIRPORT_OPERATOR",
    rate: "write",
    body: HotelSearchBody,
    bodyBytesMax: 64 * 1024,
    query: "wave.search-hotels",
    success: 200,
    response: HotelSearchView,
    problems: ["auth/foreign-airport", "not-found/resource"],
  },
  {
    id: "listHotels",
    surface: "operator",
    method: "get",
    path: "/hotels/list",
    prefixes: ["/v1"],
    summary: "List the hotels that the airline knows",
    description:
      "What vendors and contracts have told of so far, each hotel once. An operator scoped to one airport sees that airport's hotels alone.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    querystring: HotelListQuery,
    query: "vendor-adapter.hotels",
    success: 200,
    response: pageOf(CatalogueHotelView, "HotelPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    id: "listCaseHotels",
    surface: "operator",
    method: "get",
    path: "/hotels/cases/{caseUrn}",
    prefixes: ["/v1"],
    summary: "List the hotels of a case",
    description: "Where its groups are sent, with groups, passengers and rooms of each hotel.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: Type.Object({ caseUrn: Urn("case") }),
    querystring: Type.Object(PageQuery),
    query: "sub-case.hotels",
    success: 200,
    response: pageOf(CaseHotelView, "CaseHotelPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    id: "invalidateHotels",
    surface: "operator",
    method: "post",
    path: "/hotels/cache/invalidate",
    prefixes: ["", "/v1"],
    summary: "Force fresh hotel offers",
    description:
      "Forgets what vendors have told of hotels at the airport in the last minute, in every process: searches ask them anew. Waves always do.",
    role: "OPS_SUPERVISOR",
    rate: "write",
    querystring: InvalidateHotelsQuery,
    command: "vendor-adapter.invalidate-hotels",
    success: 200,
    response: HotelsInvalidated,
    problems: ["auth/foreign-airport"],
  },
] as const satisfies readonly Route[];
