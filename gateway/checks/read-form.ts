/** Owns taking a multipart form apart (RFC 7578): the file in its part `file`, and the texts beside it. What is in the file is its reader's. */
import { createHash } from "node:crypto";
import type { BusboyInstance } from "@fastify/busboy";
import { Problem } from "../../schemas/problems.ts";
import type { Exchange } from "../http/exchange.ts";
import { isPrintable, type ReadBody, type UploadedFile } from "./read-json.ts";

/** What a form may have beside its file: boundaries, headers, texts. */
export const formBytesMax = 64 * 1024;
const fieldCharactersMax = 1000;
const partsMax = 20;
const chunkBytes = 64 * 1024;
const formMediaType = /^multipart\/form-data[ \t]*;.*\bboundary=/i;

/**
 * Its texts as the value, by name, and its file.
 * @throws Problem validation/too-large, validation/media-type, validation/malformed, validation/body
 */
export const readForm = async (exchange: Exchange, fileBytesMax: number): Promise<ReadBody> => {
  const { contentType, contentEncoding } = exchange.headers;
  // Size before media type, as of every body.
  const body = exchange.hasBody ? await exchange.body() : Buffer.alloc(0);
  if (!formMediaType.test(contentType) || !/^(identity)?$/i.test(contentEncoding))
    throw new Problem(
      "validation/media-type",
      "Send a form (`multipart/form-data`) without a Content-Encoding.",
      {
        accept: "multipart/form-data",
        acceptEncoding: "identity",
      },
    );
  const { value, files } = await partsOf(body, contentType, fileBytesMax);
  const [file, another] = files;
  if (file === undefined) throw wrong("/file", "is required: a part of this name that has a file name");
  if (another !== undefined) throw wrong("/file", "is there more than once: send each file by itself");
  return { value, bytes: body.length, file };
};

interface Parts {
  value: Record<string, string>;
  /** Of the right name; others are left behind, like all that is not known. */
  files: UploadedFile[];
}

const partsOf = async (body: Buffer, contentType: string, fileBytesMax: number): Promise<Parts> => {
  const parser = await parserOf(contentType, fileBytesMax);
  return new Promise((resolve, reject) => {
    const value: Record<string, string> = {};
    const files: UploadedFile[] = [];
    const refuse = (problem: Problem): void => {
      reject(problem);
      parser.destroy();
    };
    parser.on("field", (name, text, isNameCut, isCut) => {
      const refusal = fieldRefusal(name, text, isNameCut || isCut, Object.hasOwn(value, name));
      if (refusal !== undefined) return refuse(refusal);
      value[name] = text;
    });
    parser.on("file", (part, stream, name = "") => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => part === "file" && chunks.push(chunk));
      stream.on("limit", () => refuse(tooLarge(fileBytesMax)));
      stream.on("end", () => part === "file" && files.push(uploaded(name, chunks)));
      stream.on("error", () => refuse(torn()));
    });
    parser.on("partsLimit", () =>
      refuse(new Problem("validation/too-large", `The form has more than ${partsMax} parts.`)),
    );
    parser.on("error", () => refuse(torn()));
    parser.on("finish", () => resolve({ value, files }));
    for (let from = 0; from < body.length; from += chunkBytes)
      parser.write(body.subarray(from, from + chunkBytes));
    parser.end();
  });
};

/** Loaded with the first form. */
const parserOf = async (contentType: string, fileBytesMax: number): Promise<BusboyInstance> => {
  const { Busboy } = await import("@fastify/busboy");
  try {
    return new Busboy({
      headers: { "content-type": contentType },
      limits: {
        fileSize: fileBytesMax,
        fieldSize: fieldCharactersMax,
        fieldNameSize: 100,
        parts: partsMax,
        headerPairs: 20,
      },
    });
  } catch {
    throw torn();
  }
};

const uploaded = (name: string, chunks: readonly Buffer[]): UploadedFile => {
  const bytes = Buffer.concat(chunks);
  return { name, bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
};

const fieldRefusal = (
  name: string | undefined,
  text: string,
  isCut: boolean,
  isTwice: boolean,
): Problem | undefined => {
  if (name === undefined || !isPrintable(name) || name === "__proto__") return torn();
  if (isCut) return wrong(`/${name}`, `is longer than ${fieldCharactersMax} characters`);
  if (isTwice) return wrong(`/${name}`, "is given twice");
  return isPrintable(text) ? undefined : wrong(`/${name}`, "must not hold control characters");
};

const wrong = (pointer: string, detail: string): Problem =>
  new Problem("validation/body", "Correct the parts named in `errors` and send the form again.", {
    errors: [{ pointer, detail }],
  });

const torn = (): Problem =>
  new Problem("validation/malformed", "The form cannot be read: it is broken, or ends before its end.");

const tooLarge = (bytesMax: number): Problem =>
  new Problem("validation/too-large", `The file is larger than ${bytesMax} bytes. Send it in parts.`);
