// Runs the test files that TEST_FILES lists in this one process, one after the other: starting one takes longer than most tables.
import { pathToFileURL } from "node:url";
import t from "tap";

const files: string[] = JSON.parse(process.env.TEST_FILES ?? "[]");
for (const file of files) {
  await import(pathToFileURL(file).href);
  // Stands behind all of the file's own: the next one is not even read before, so that what it makes first is as young as alone.
  await t.test(`end of ${file}`, async () => undefined);
}
