/** Owns what holds of manifests beside their shapes. It needs no library of schemas: a thread that reads a file would wait for it. */

export const passengerRowsMax = 5000;
/** Of a file's wrong cells so many are told; all of them are counted. */
export const cellErrorsMax = 100;

/** Booking references are compared without case and blanks. */
export const normalPnr = (pnr: string): string => pnr.replace(/[\s-]+/g, "").toUpperCase();
