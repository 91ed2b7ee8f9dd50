// @ts-check
/**
 * Owns keeping what is left of a TypeScript file without its types: loaded before everything else (`bootstrap.sh`), as Node's
 * own compile cache keeps only what is compiled of it, and stripping was a third of the processor time of every start. Plain
 * JavaScript itself, as what strips types takes longer to load than all else that a small program loads.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = process.env.NODE_COMPILE_CACHE && join(process.env.NODE_COMPILE_CACHE, "stripped");

/** @type {(text: string) => string} */
const digest = (text) => createHash("sha1").update(text).digest("hex");

/**
 * One file for each source, which ends with which state of it it was made from.
 * @type {(cache: string, path: string) => string}
 */
const strippedIn = (cache, path) => {
  const { mtimeMs, size } = statSync(path);
  const mark = `\n// ${mtimeMs} ${size}`;
  const kept = join(cache, `${digest(path)}.js`);
  try {
    const found = readFileSync(kept, "utf8");
    if (found.endsWith(mark)) return found;
  } catch {
    // Not kept yet.
  }
  const stripped = `${stripTypeScriptTypes(readFileSync(path, "utf8"))}${mark}`;
  // Several processes may keep the same file at once: each writes its own, and the last one stays.
  const own = `${kept}.${process.pid}`;
  writeFileSync(own, stripped);
  renameSync(own, kept);
  return stripped;
};

/**
 * Where nothing can be kept, Node strips for itself.
 * @type {(cache: string) => boolean}
 */
const canKeep = (cache) => {
  try {
    mkdirSync(cache, { recursive: true });
    return true;
  } catch {
    return false;
  }
};

if (folder && canKeep(folder)) {
  registerHooks({
    load: (url, context, next) => {
      if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
      try {
        const source = strippedIn(folder, fileURLToPath(url));
        return { format: "module", source, shortCircuit: true };
      } catch {
        // Whatever it is, Node tells it with the file's name.
        return next(url, context);
      }
    },
  });
}
