// A vendor's free text goes on without what names a person: tables over the words of vendors.
import t from "tap";
import { refusal } from "../../../actors/vendor-adapter/http.ts";

const sent = {
  to: "+351 912 345 678",
  guests: [
    { first_name: "Zoë", last_name: "O'Neil (Jr.)" },
    { first_name: "Li", last_name: "Lovelace" },
  ],
  currency: "USD",
  amount: 12_000,
  empty: "",
  nothing: null,
};

t.test("refusals say what was wrong, and of nobody", (t) => {
  const rows: [string, string, unknown?][] = [
    ["SOLD_OUT: no rooms are left for 2 nights", "SOLD_OUT: no rooms are left for 2 nights"],
    ["invalid: ana.silva+x@mail.example.org is blocked", "invalid: [masked] is blocked"],
    ["invalid: <ana@mail.example>", "invalid: <[masked]>"],
    ["call +1 (212) 555-0100 now", "call [masked] now"],
    ["card 4111 1111 1111 1111, expired", "card [masked], expired"],
    ["passport 12345", "passport [masked]"],
    ["error 4021 in room 12", "error 4021 in room 12"],
    ["guest ZO\u00cb o'neil (jr.) is unwelcome", "guest [masked] [masked] is unwelcome"],
    ["Lovelace, Li: no", "[masked], [masked]: no"],
    ["the limit is lifted", "the limit is lifted"],
    ["limit in USD", "limit in [masked]"],
    ["Ada is unknown", "[masked] is unknown", "Ada"],
    ["axb", "axb", "a.b"],
    ["", ""],
  ];
  for (const [text, expected, body = sent] of rows)
    t.strictSame(
      refusal("REFUSED", text, body),
      { outcome: "refused", code: "REFUSED", detail: expected },
      text,
    );
  t.equal(refusal("REFUSED", "Lovelace", undefined).detail, "Lovelace", "nothing was sent");
  const long = refusal("REFUSED", `${"x ".repeat(147)}Lovelace and more`, sent).detail;
  t.equal(long.length, 300);
  t.ok(long.endsWith(" [maske"), "masked first, then cut");
  t.equal(refusal("REFUSED", "y".repeat(1_000_000), sent).detail.length, 300);
  t.end();
});
