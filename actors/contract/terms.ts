/** Owns what makes a contract's terms whole: dates in order, seasons without overlap or gap, an airport and a currency that exist. */
import { airport as airportOf } from "../../schemas/airports.ts";
import type { ContractBody, ContractTerms } from "../../schemas/contract.ts";
import { isCurrency } from "../../schemas/currency.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";

/** @throws Problem validation/body with a pointer to each thing that is wrong */
export const termsOf = ({
  contractUrn: _urn,
  analysisUrn: _analysis,
  version: _version,
  acceptedPayments,
  block,
  ...rest
}: ContractBody): ContractTerms => {
  const terms: ContractTerms = {
    ...rest,
    acceptedPayments: acceptedPayments ?? ["GUARANTEE"],
    block: { ...block, exceptions: block.exceptions ?? [] },
  };
  const errors = [
    ...placeErrors(terms),
    ...seasonErrors(terms),
    ...exceptionErrors(terms),
    ...blackoutErrors(terms),
  ];
  if (errors.length > 0)
    throw new Problem("validation/body", "Correct the terms named in `errors` and send them again.", {
      errors,
    });
  return terms;
};

const placeErrors = ({ airport, currency, validFrom, validUntil }: ContractTerms): FieldError[] => [
  ...(airportOf(airport) === undefined
    ? [{ pointer: "/airport", detail: `${airport} is not a known IATA airport code` }]
    : []),
  ...(isCurrency(currency)
    ? []
    : [{ pointer: "/currency", detail: `${currency} is not an ISO 4217 currency` }]),
  ...(validUntil > validFrom ? [] : [{ pointer: "/validUntil", detail: "must be after validFrom" }]),
];

/** Seasons may be given in any order, and may reach beyond the validity. */
const seasonErrors = ({ rates, validFrom, validUntil }: ContractTerms): FieldError[] => {
  const errors: FieldError[] = rates.flatMap(({ from, until }, i) =>
    until > from ? [] : [{ pointer: `/rates/${i}/until`, detail: "must be after the season's from" }],
  );
  if (errors.length > 0) return errors;
  const inOrder = rates.map((rate, i) => ({ ...rate, i })).sort((a, b) => (a.from < b.from ? -1 : 1));
  let covered = validFrom;
  let previous: string | undefined;
  for (const { from, until, i } of inOrder) {
    if (previous !== undefined && from < previous)
      errors.push({
        pointer: `/rates/${i}/from`,
        detail: `overlaps the season that lasts until ${previous}`,
      });
    if (from > covered && covered < validUntil)
      errors.push(gap(covered, from < validUntil ? from : validUntil));
    if (until > covered) covered = until;
    if (previous === undefined || until > previous) previous = until;
  }
  if (covered < validUntil) errors.push(gap(covered, validUntil));
  return errors;
};

const gap = (from: string, until: string): FieldError => ({
  pointer: "/rates",
  detail: `no rate for the nights from ${from} until ${until}`,
});

const exceptionErrors = ({ block: { exceptions } }: ContractTerms): FieldError[] =>
  exceptions.flatMap(({ night }, i) =>
    exceptions.findIndex((other) => other.night === night) === i
      ? []
      : [{ pointer: `/block/exceptions/${i}/night`, detail: `${night} is named twice` }],
  );

/** They may overlap, and reach beyond the validity. */
const blackoutErrors = ({ block: { blackouts = [] } }: ContractTerms): FieldError[] =>
  blackouts.flatMap(({ from, until }, i) =>
    until > from
      ? []
      : [{ pointer: `/block/blackouts/${i}/until`, detail: "must be after the blackout's from" }],
  );
