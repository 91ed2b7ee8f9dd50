// What can be wrong with a call, made from its route's row: each way once, with the refusal that it must meet.

import type { TSchema } from "typebox";
import { bodyBytesDefault, type Route } from "../../../gateway/route.ts";
import { exampleOf } from "../../../gateway/schema-example.ts";
import { parseUrn, type UrnKind, urn } from "../../../schemas/urn.ts";
import type { Call } from "../../harness/clients.ts";
import { fileForm, formOf } from "../../harness/forms.ts";
import type { Expected } from "./principals.ts";
import type { Belongings, World } from "./world.ts";

export interface BadInput {
  column: string;
  call: Call;
  expects: Expected | "success";
}

const nobodysId = "01JD0000000000000000000000";

const kindsOf = (schema: TSchema): string[] => (schema as { urn?: string[] }).urn ?? [];
/** Of the kinds that a place takes, those that tell whose they are. */
const ownedKindsOf = (schema: TSchema): string[] =>
  kindsOf(schema).filter(
    (kind) => parseUrn(`urn:${kind}:QZ-${nobodysId}`)?.tenant === "QZ" || kind === "airline",
  );

/** A URN that stands at the other airline, where the world has one. */
const foreignOf = (kind: string, { airline, ...belongings }: Belongings): string => {
  if (kind === "airline") return airline.urn;
  const standing = Object.values(belongings).find((text) => text.startsWith(`urn:${kind}:`));
  return standing ?? `urn:${kind}:${airline.code}-${nobodysId}`;
};

type Path = readonly (string | number)[];

/** Every place of a schema where a URN that belongs to somebody can stand. */
const urnPlaces = (schema: TSchema, path: Path = []): { path: Path; kinds: string[] }[] => {
  const node = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  const kinds = ownedKindsOf(schema);
  if (kinds.length > 0) return [{ path, kinds }];
  return [
    ...Object.entries(node.properties ?? {}).flatMap(([name, property]) =>
      urnPlaces(property, [...path, name]),
    ),
    ...(node.items === undefined ? [] : urnPlaces(node.items, [...path, 0])),
  ];
};

/** The body with a value at a place; what leads there is filled in from the schema's examples. */
const withValue = (schema: TSchema, body: unknown, [step, ...rest]: Path, value: unknown): unknown => {
  if (step === undefined) return value;
  const node = schema as { properties?: Record<string, TSchema>; items?: TSchema };
  const inner = (typeof step === "number" ? node.items : node.properties?.[step]) as TSchema;
  const holder = (body ?? exampleOf(schema)) as Record<string | number, unknown>;
  const changed = withValue(inner, holder[step], rest, value);
  return Array.isArray(holder) ? [changed, ...holder.slice(1)] : { ...holder, [step]: changed };
};

const inPath = (route: Route, call: Call, world: World): BadInput[] =>
  Object.entries(route.params?.properties ?? {}).flatMap(([name, schema]) => {
    const at = (column: string, value: string, expects: BadInput["expects"]): BadInput => ({
      column,
      call: { ...call, params: { ...call.params, [name]: value } },
      expects,
    });
    const nothing = at("nonsense in the path", "nonsense", "not-found/resource");
    const kinds = ownedKindsOf(schema);
    const kind = kinds.find((each) => each !== "airline");
    if (kind === undefined) return [nothing];
    return [
      nothing,
      at("an unknown URN in the path", urn(kind as UrnKind, `XN-${nobodysId}`), "not-found/resource"),
      at("a URN of no kind of this place", "urn:segment-of-nothing:x", "not-found/resource"),
      ...kinds.flatMap((each) => {
        const foreign = foreignOf(each, world.qz);
        const long = foreign.replace(/^urn:/, "urn:stopover:");
        return [
          at(`a foreign ${each} in the path`, foreign, "auth/foreign-tenant"),
          at(`a foreign ${each} in its long form`, long, "auth/foreign-tenant"),
        ];
      }),
    ];
  });

const inQuery = (route: Route, call: Call, world: World): BadInput[] => {
  const properties = route.querystring?.properties ?? {};
  const at = (column: string, query: Call["query"], expects: BadInput["expects"]): BadInput => ({
    column,
    call: { ...call, query: { ...call.query, ...query } },
    expects,
  });
  const foreign = Object.entries(properties).flatMap(([name, schema]) =>
    ownedKindsOf(schema).map((kind) =>
      at(`a foreign URN in the query: ${name}`, { [name]: foreignOf(kind, world.qz) }, "auth/foreign-tenant"),
    ),
  );
  if (!("cursor" in properties)) return foreign;
  const broken: NonNullable<Call["query"]>[] = [
    { limit: 0 },
    { limit: -1 },
    { limit: "many" },
    { cursor: "!" },
    { offset: 5 },
    { page: 2 },
  ];
  return [
    ...foreign,
    ...broken.map((query) => at(`the query ${JSON.stringify(query)}`, query, "validation/query")),
    at("a limit beyond the highest", { limit: 100_000 }, "success"),
  ];
};

const inBody = (route: Route, call: Call, world: World): BadInput[] => {
  const schema = route.body;
  if (schema === undefined) return [];
  const { body, ...bare } = call;
  const raw = (
    column: string,
    text: string | Buffer,
    expects: BadInput["expects"],
    type?: string,
  ): BadInput => ({
    column,
    call: {
      ...bare,
      raw: text,
      ...(type === undefined ? {} : { headers: { ...call.headers, "Content-Type": type } }),
    },
    expects,
  });
  const text = JSON.stringify(body ?? {});
  const tooLarge = Buffer.alloc((route.bodyBytesMax ?? bodyBytesDefault) + 1, " ");
  const foreign = urnPlaces(schema).flatMap(({ path, kinds }) =>
    kinds.map(
      (kind): BadInput => ({
        column: `a foreign URN in the body: ${path.join("/")}`,
        call: { ...call, body: withValue(schema, body, path, foreignOf(kind, world.qz)) },
        expects: "auth/foreign-tenant",
      }),
    ),
  );
  const missing = ((schema.required ?? []) as string[]).map((name): BadInput => {
    const { [name]: _left, ...rest } = body as Record<string, unknown>;
    return { column: `no ${name}`, call: { ...call, body: rest }, expects: "validation/body" };
  });
  const isStrict = (schema as { additionalProperties?: unknown }).additionalProperties === false;
  const unknown: BadInput = {
    column: "an unknown member",
    call: { ...call, body: { ...(body as object), text: "Call me" } },
    expects: "validation/body",
  };
  return [
    ...(isStrict ? [unknown] : []),
    raw("broken JSON", `${text}}`, "validation/malformed"),
    raw("no object", "[]", "validation/body"),
    raw("another media type", text, "validation/media-type", "text/plain"),
    raw("no media type", text, "validation/media-type", ""),
    raw("too large", tooLarge, "validation/too-large"),
    ...missing,
    ...foreign,
  ];
};

const inForm = ({ form }: Route, call: Call): BadInput[] => {
  if (form === undefined) return [];
  const at = (column: string, sent: Partial<Call>, expects: BadInput["expects"]): BadInput => ({
    column,
    call: { ...call, ...sent, headers: { ...call.headers, ...sent.headers } },
    expects,
  });
  const json = { "Content-Type": "application/json" };
  const cut = (call.raw as Buffer).subarray(0, -10);
  return [
    at("JSON", { raw: "{}", headers: json }, "validation/media-type"),
    at("a form that ends early", { raw: cut }, "validation/malformed"),
    at("a form without a file", formOf([{ name: "text", content: "x" }]), "validation/body"),
    at("too large", fileForm(Buffer.alloc(form.file.bytesMax + 1, " ")), "validation/too-large"),
  ];
};

/** @param call one that would succeed */
export const badInputs = (route: Route, call: Call, world: World): BadInput[] => [
  ...inPath(route, call, world),
  ...inQuery(route, call, world),
  ...inBody(route, call, world),
  ...inForm(route, call),
  {
    column: "nothing acceptable",
    call: { ...call, headers: { ...call.headers, Accept: "image/png" } },
    expects: "validation/not-acceptable",
  },
];
