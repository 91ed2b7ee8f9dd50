/** Owns the package that a workbook comes in: its parts by name, unpacked one at a time and only when asked for. */
import type { Readable } from "node:stream";
import { type Entry, fromBuffer, type ZipFile } from "yauzl";
import { refusedFile } from "./table.ts";

const entriesMax = 2000;
/** Of one part; a list of 5,000 passengers has some 10 MiB. */
export const partBytesMax = 64 * 1024 * 1024;

export interface Package {
  has(name: string): boolean;
  names(): Iterable<string>;
  /** Undefined: there is no such part. @throws Problem validation/too-large, validation/body */
  open(name: string): Promise<Readable | undefined>;
}

const broken = (): Error => refusedFile("validation/body", "is broken: it cannot be unpacked");

/** @throws Problem validation/body, validation/too-large, validation/media-type */
export const openPackage = async (bytes: Buffer): Promise<Package> => {
  const zip = await opened(bytes);
  if (zip.entryCount > entriesMax)
    throw refusedFile("validation/too-large", "is a package of more parts than any workbook has");
  const entries = await entriesOf(zip);
  return {
    has: (name) => entries.has(name),
    names: () => entries.keys(),
    open: async (name) => {
      const entry = entries.get(name);
      return entry && openPart(zip, entry);
    },
  };
};

const opened = (bytes: Buffer): Promise<ZipFile> =>
  new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true, autoClose: false }, (error, zip) =>
      error === null ? resolve(zip) : reject(broken()),
    );
  });

const entriesOf = (zip: ZipFile): Promise<Map<string, Entry>> =>
  new Promise((resolve, reject) => {
    const entries = new Map<string, Entry>();
    zip.on("error", () => reject(broken()));
    zip.on("end", () => resolve(entries));
    zip.on("entry", (entry) => {
      if (entry.isEncrypted())
        return reject(refusedFile("validation/media-type", "is encrypted: save it without a password"));
      // Which of two would be read depends on who reads.
      if (entries.has(entry.fileName)) return reject(broken());
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.readEntry();
  });

/** What it says of its size is held against what comes, byte by byte. */
const openPart = (zip: ZipFile, entry: Entry): Promise<Readable> =>
  new Promise((resolve, reject) => {
    if (entry.uncompressedSize > partBytesMax)
      return reject(refusedFile("validation/too-large", "unpacks to more than can be read"));
    zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(broken())));
  });
