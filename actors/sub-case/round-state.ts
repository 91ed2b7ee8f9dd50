/** Owns what a group keeps from one round of its sagas to the next. */
import { withFormerCard } from "./card-use.ts";
import type { SubCaseState } from "./state.ts";

/** A new round owes nothing to the one before it: what that one had was given back, or was never had. */
export const fresh = (state: SubCaseState): SubCaseState => {
  const {
    reservation: _r,
    payment: _p,
    voucher: _v,
    card: _c,
    ride: _i,
    roomLost: _l,
    settled: _s,
    left: _o,
    released: _f,
    unfit: _u,
    untold: _t,
    cameBack: _b,
    ...rest
  } = state;
  return { ...rest, ...withFormerCard(state), offer: { state: "PENDING" } };
};
