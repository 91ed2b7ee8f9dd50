/** Owns the tests of the published descriptions: valid OpenAPI 3.1, and every row in them. */
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import t from "tap";
import { describeSurface } from "../../../gateway/openapi.ts";
import {
  type DocumentedSurface,
  isTagged,
  pathsOf,
  problemsOf,
  type Route,
  successesOf,
} from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { problems } from "../../../schemas/problems.ts";

const settings = {
  baseUrl: "https://stopover.test",
  authUrl: "https://auth.test",
  errorsBase: "https://errors.test",
};
const surfaces: DocumentedSurface[] = ["operator", "passenger", "partner"];

interface Operation {
  operationId: string;
  security: object[];
  parameters: { name: string; in: string }[];
  requestBody?: { content: Described };
  responses: Record<string, { description: string; content?: Described }>;
}

type Described = Record<string, { schema: object; example?: unknown }>;

const described = surfaces.map((surface) => {
  const document = describeSurface(surface, allRoutes, settings);
  return { surface, document, paths: document.paths as Record<string, Record<string, Operation>> };
});

for (const { surface, document, paths } of described) {
  t.test(`${surface} is valid`, async (t) => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    t.ok(valid, JSON.stringify(errors)?.slice(0, 2000));
    t.equal(validator.version, "3.1");
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    const ids = operations.map(({ operationId }) => operationId);
    t.equal(new Set(ids).size, ids.length, "operation ids are unique");
    t.notMatch(JSON.stringify(document), /"urn":\[/);
  });

  t.test(`${surface}: examples fit their schemas`, async (t) => {
    const ajv = addFormats.default(new Ajv2020({ strict: false }));
    ajv.addSchema({ ...document, $id: "https://stopover.test/description" });
    const check = (name: string, place: string, content: Described | undefined): void => {
      const described = content?.["application/json"];
      if (described === undefined) return;
      const pointer = `#/paths/${place}/content/application~1json/schema`;
      const fits = ajv.getSchema(`https://stopover.test/description${encodeURI(pointer)}`);
      t.ok(fits?.(described.example), `${name}: ${JSON.stringify(fits?.errors)}`);
      t.notMatch(JSON.stringify(described.example), /"text"(?!:)/, `${name}: each member tells something`);
    };
    for (const [path, item] of Object.entries(paths))
      for (const [method, { requestBody, responses }] of Object.entries(item)) {
        const place = `${path.replaceAll("~", "~0").replaceAll("/", "~1")}/${method}`;
        check(`${method} ${path}`, `${place}/requestBody`, requestBody?.content);
        for (const [status, { content }] of Object.entries(responses))
          check(`${method} ${path} ${status}`, `${place}/responses/${status}`, content);
      }
  });
}

const operationsOf = (route: Route): Operation[] =>
  described.flatMap(({ paths }) =>
    pathsOf(route).flatMap((path) => {
      const operation = paths[path]?.[route.method];
      return operation?.operationId.startsWith(route.id) ? [operation] : [];
    }),
  );

t.test("every row is described, with all that it may answer", async (t) => {
  for (const route of allRoutes) {
    const operations = operationsOf(route);
    const expected = pathsOf(route).length * (route.describedIn?.length ?? 1);
    t.equal(operations.length, expected, route.id);
    for (const operation of operations) {
      const statuses = [
        ...successesOf(route).map(String),
        ...(isTagged(route) ? ["304"] : []),
        ...problemsOf(route).map((code) => String(problems[code].status)),
      ];
      t.same(Object.keys(operation.responses).sort(), [...new Set(statuses)].sort(), route.id);
      for (const code of problemsOf(route))
        t.match(operation.responses[problems[code].status]?.description, code, `${route.id}: ${code}`);
      t.equal(operation.security.length === 0, "public" in route, route.id);
      const names = operation.parameters.filter((one) => one.in === "path").map(({ name }) => name);
      t.same(names, Object.keys(route.params?.properties ?? {}));
    }
  }
});

t.test("nothing is described that is not a row", async (t) => {
  const rows = allRoutes.flatMap((route) => pathsOf(route).map((path) => `${route.method} ${path}`));
  for (const { paths } of described)
    for (const [path, item] of Object.entries(paths))
      for (const method of Object.keys(item)) t.ok(rows.includes(`${method} ${path}`), `${method} ${path}`);
});
