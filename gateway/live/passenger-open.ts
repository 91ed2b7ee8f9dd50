/** Owns putting the passengers' streams of a gateway together. */
import type { Accepted } from "../../schemas/command.ts";
import { systemPrincipal } from "../../schemas/command.ts";
import type { PassengerSnapshot } from "../../schemas/passenger-events.ts";
import type { Dispatch } from "../dispatch.ts";
import { beginTrace } from "../trace.ts";
import { streamLimits } from "./passenger-places.ts";
import { type PassengerStreamParts, PassengerStreams, type ReadGroup } from "./passenger-streams.ts";

export type OpenPassengerStreams = Omit<PassengerStreamParts, "readGroup" | "limits">;

export const openPassengerStreams = (dispatch: Dispatch, parts: OpenPassengerStreams): PassengerStreams => {
  const readGroup: ReadGroup = async (tenant, whose) => {
    const isNamed = "subCaseId" in whose;
    const query = {
      ...beginTrace("", parts.now()),
      tenant,
      principal: isNamed ? systemPrincipal(tenant, "gateway") : whose.principal,
      params: isNamed ? whose : {},
    };
    const { ok } = (await dispatch.query(
      "sub-case.passenger-snapshot",
      query,
    )) as Accepted<PassengerSnapshot>;
    return ok;
  };
  return new PassengerStreams({ ...parts, readGroup, limits: streamLimits });
};
