/** Owns how a peer's address is written. */

/** From 4 or 16 bytes: dotted for IPv4 (also when mapped into IPv6, RFC 4291 §2.5.5.2), else eight groups in hexadecimal. */
export const readableAddress = (bytes: Buffer): string => {
  if (bytes.length === 4) return bytes.join(".");
  const mapped =
    bytes.length === 16 && bytes.readUInt16BE(10) === 0xffff && bytes.subarray(0, 10).every((b) => b === 0);
  if (mapped) return bytes.subarray(12).join(".");
  return (bytes.toString("hex").match(/.{4}/g) ?? []).join(":");
};
