/** Owns how a reference of ours goes into a vendor's field that is too short for it, and how the whole one travels beside. */
import { createHash } from "node:crypto";

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * The same text for the same reference, capital letters and digits alone (Hotelbeds capitalises what it is given): five bits of SHA-256
 * each. Twenty of them are 100 bits: of a billion references two are alike once in a trillion times.
 * @param length at most 51
 */
export const shortReference = (reference: string, length: number): string =>
  [...createHash("sha256").update(reference).digest()]
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("")
    .slice(0, length * 5)
    .replaceAll(/.{5}/g, (bits) => crockford[Number.parseInt(bits, 2)] as string);
