/** Owns which requests a vendor's route takes: their addresses, keys and bodies. */
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { VendorRoute } from "./vendor-server.ts";

const ajv = new Ajv({ strict: true });
// ajv-formats is CommonJS: its callable stands under `default` for the type checker alone.
(addFormats as unknown as (instance: Ajv) => void)(ajv);

export interface CompiledRoute extends VendorRoute {
  pattern: RegExp;
  isBody: ValidateFunction | undefined;
}

export const compileRoute = (route: VendorRoute): CompiledRoute => ({
  ...route,
  pattern: new RegExp(`^${route.path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
  isBody: route.body && ajv.compile(route.body),
});

/** Undefined: nothing. */
export const whatIsWrong = (route: CompiledRoute, body: unknown, key: string): string | undefined => {
  if (route.write === true && !/^[\x21-\x7e]{1,255}$/.test(key))
    return "An Idempotency-Key header is needed.";
  if (route.isBody === undefined || route.isBody(body)) return undefined;
  const [first] = route.isBody.errors ?? [];
  return `${first?.instancePath || "/"} ${first?.message}`;
};
