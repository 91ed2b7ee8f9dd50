// Multipart forms byte by byte (RFC 7578), right ones and wrong ones.

export interface Part {
  name: string;
  content: string | Buffer;
  /** Undefined: a text. */
  fileName?: string;
}

export interface Form {
  raw: Buffer;
  headers: { "Content-Type": string };
}

export const formOf = (parts: readonly Part[], boundary = "----of-a-browser"): Form => ({
  raw: Buffer.concat([
    ...parts.flatMap(({ name, content, fileName }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? "" : `; filename="${fileName}"\r\nContent-Type: application/octet-stream`}\r\n\r\n`,
      ),
      Buffer.from(content),
      Buffer.from("\r\n"),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]),
  headers: { "Content-Type": `multipart/form-data; boundary=${boundary}` },
});

export const fileForm = (
  content: string | Buffer,
  fileName = "list.csv",
  fields: Record<string, string> = {},
): Form =>
  formOf([
    ...Object.entries(fields).map(([name, text]) => ({ name, content: text })),
    { name: "file", content, fileName },
  ]);
