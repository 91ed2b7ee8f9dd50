// The grammar of subjects: what is built is read back, and nothing that would break out of its place is built at all.
import t from "tap";
import {
  commandFilter,
  commandSubject,
  deadFilter,
  deadSubject,
  eventSubject,
  internalSubject,
  parseSubject,
  splitName,
  tenantCommandFilter,
  typeFilter,
} from "../../../streams/subjects.ts";

t.test("round trips", async (t) => {
  const table = [
    [commandSubject("XN", "case.open", "XN-1"), ["cmd", "XN", "case", "open", "XN-1"]],
    [commandSubject("XN", "case.open", ""), ["cmd", "XN", "case", "open", undefined]],
    [
      commandSubject("XN", "vendor-stayhub.cancel-card", "a_b"),
      ["cmd", "XN", "vendor-stayhub", "cancel-card", "a_b"],
    ],
    [eventSubject("XN", "subcase.offer-ready", "XN-1"), ["evt", "XN", "subcase", "offer-ready", "XN-1"]],
    [
      eventSubject("XN", "disruption.detected", undefined),
      ["evt", "XN", "disruption", "detected", undefined],
    ],
    [internalSubject("XN", "audit.recorded", "XN-9"), ["int", "XN", "audit", "recorded", "XN-9"]],
    [deadSubject("XN", "case", "open"), ["dead", "XN", "case", "open", undefined]],
    [deadSubject("none", "case", "a.b"), ["dead", "none", "case", "a_b", undefined]],
  ] as const;
  for (const [subject, [root, tenant, owner, what, id]] of table) {
    t.strictSame(parseSubject(subject), { root, tenant, owner, what, id }, subject);
  }
});

t.test("filters", async (t) => {
  t.equal(commandFilter("XN", "case"), "cmd.XN.case.>");
  t.equal(tenantCommandFilter("XN"), "cmd.XN.>");
  t.equal(typeFilter("evt", "case.opened"), "evt.*.case.opened.*");
  t.equal(typeFilter("int", "case.opened", "XN"), "int.XN.case.opened.*");
  t.equal(deadFilter(), "dead.>");
  t.equal(deadFilter("XN"), "dead.XN.>");
});

t.test("hostile tokens", async (t) => {
  const hostile = ["*", ">", "a b", "a.b", "a\tb", "a\r\nPUB x", "é", "\u0000", "a*", "$JS"];
  for (const token of hostile) {
    const shown = JSON.stringify(token);
    t.throws(() => commandSubject(token, "case.open", "x"), TypeError, `tenant ${shown}`);
    t.throws(() => commandSubject("XN", "case.open", token), TypeError, `entity ${shown}`);
    t.throws(() => commandSubject("XN", `case.${token}`, "x"), TypeError, `verb ${shown}`);
    t.throws(() => eventSubject("XN", "case.opened", token), TypeError, `case ${shown}`);
    t.throws(() => internalSubject("XN", "a.b", token), TypeError, `id ${shown}`);
    t.throws(() => commandFilter(token, "case"), TypeError, `filter ${shown}`);
    t.throws(() => tenantCommandFilter(token), TypeError, `filter ${shown}`);
    t.throws(() => typeFilter("evt", "a.b", token), TypeError, `type filter ${shown}`);
    t.throws(() => deadSubject("XN", token, "x"), TypeError, `actor ${shown}`);
    t.throws(() => deadFilter(token), TypeError, `dead filter ${shown}`);
  }
  for (const name of ["", "case", ".open", "case.", "a.b.c"])
    t.throws(() => splitName(name), TypeError, name);
  t.strictSame(splitName("sub-case.open-many"), ["sub-case", "open-many"]);
});

t.test("foreign subjects", async (t) => {
  for (const subject of [
    "",
    "cmd",
    "cmd.XN.case.open",
    "cmd.XN.case.open.x.y",
    "other.XN.a.b.c",
    "evt..a.b.c",
    "$JS.API.INFO",
  ]) {
    t.equal(parseSubject(subject), undefined, subject);
  }
});
