/** Owns which requests a vendor's route takes: their addresses, keys and bodies. */
import type { Validator } from "../../schemas/formats.ts";
import { isOf, wrongIn } from "./told.ts";
import type { VendorRoute } from "./vendor-server.ts";

export interface CompiledRoute extends VendorRoute {
  pattern: RegExp;
  isBody: Validator<unknown> | undefined;
}

export const compileRoute = (route: VendorRoute): CompiledRoute => ({
  ...route,
  pattern: new RegExp(`^${route.path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
  isBody: route.body && isOf(route.body),
});

/** Undefined: nothing. */
export const whatIsWrong = (route: CompiledRoute, body: unknown, key: string): string | undefined => {
  if (route.write === true && !/^[\x21-\x7e]{1,255}$/.test(key))
    return "An Idempotency-Key header is needed.";
  return route.isBody === undefined || route.isBody(body) ? undefined : wrongIn(route.isBody);
};
