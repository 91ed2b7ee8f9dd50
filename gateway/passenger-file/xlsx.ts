/** Owns reading workbooks (ECMA-376): which sheet counts, its shared texts, its rows. Nothing in them is run: no macro, formula or link. */
import { posix } from "node:path";
import { RichText, SheetRows } from "./sheet-rows.ts";
import { type Row, refusedFile, type Table } from "./table.ts";
import { readingXml, readXml } from "./xml.ts";
import { openPackage, type Package, partBytesMax } from "./zip.ts";

/** Of the small parts that say where things are. */
const indexBytesMax = 1024 * 1024;
const sharedTextsMax = 200_000;
const sharedCharactersMax = 16 * 1024 * 1024;
const macroTypes = /macroenabled|vba/i;

/** @throws Problem validation/media-type, validation/body, validation/too-large */
export const readXlsx = async (bytes: Buffer): Promise<Table> => {
  const parts = await openPackage(bytes);
  await requireWorkbook(parts);
  const { sheet, texts, from1904 } = await findSheet(parts);
  const shared = await sharedTexts(parts, texts);
  return { rows: rowsOf(parts, sheet, shared), from1904 };
};

/** @throws Problem validation/media-type */
const requireWorkbook = async (parts: Package): Promise<void> => {
  const names = [...parts.names()];
  if (!parts.has("[Content_Types].xml") || !names.some((name) => /(^|\/)workbook\d*\.xml$/i.test(name)))
    throw refusedFile("validation/media-type", "is no .xlsx workbook: save it as .xlsx or .csv");
  let hasMacros = names.some((name) => macroTypes.test(name));
  await readPart(parts, "[Content_Types].xml", (_name, { ContentType = "" }) => {
    hasMacros ||= macroTypes.test(ContentType);
  });
  if (hasMacros)
    throw refusedFile("validation/media-type", "is a workbook with macros: save it as .xlsx without them");
};

/** A part that must be there. */
const readPart = async (
  parts: Package,
  name: string,
  open: (name: string, attributes: Readonly<Record<string, string>>) => void,
): Promise<void> => {
  const source = await parts.open(name);
  if (source === undefined)
    throw refusedFile("validation/body", `is a broken workbook: it has no ${name.slice(0, 100)}`);
  await readXml(source, indexBytesMax, { open });
};

interface Relation {
  type: string;
  target: string;
}

const relationsOf = async (parts: Package, part: string): Promise<Map<string, Relation>> => {
  const relations = new Map<string, Relation>();
  const file = posix.join(posix.dirname(part), "_rels", `${posix.basename(part)}.rels`);
  await readPart(parts, file, (name, { Id = "", Type = "", Target = "", TargetMode }) => {
    if (name !== "Relationship" || TargetMode === "External") return;
    const target = Target.startsWith("/") ? Target.slice(1) : posix.join(posix.dirname(part), Target);
    relations.set(Id, { type: Type.slice(Type.lastIndexOf("/") + 1), target });
  });
  return relations;
};

/** The first sheet that is not hidden; people see it when they open the file. */
const findSheet = async (
  parts: Package,
): Promise<{ sheet: string; texts: string | undefined; from1904: boolean }> => {
  const roots = [...(await relationsOf(parts, "")).values()];
  const workbook = roots.find(({ type }) => type === "officeDocument")?.target ?? "xl/workbook.xml";
  const relations = await relationsOf(parts, workbook);
  let sheet: string | undefined;
  let from1904 = false;
  await readPart(parts, workbook, (name, attributes) => {
    if (name === "workbookPr") from1904 = /^(1|true)$/.test(attributes.date1904 ?? "");
    if (name !== "sheet" || sheet !== undefined || (attributes.state ?? "visible") !== "visible") return;
    const relation = relations.get(idIn(attributes));
    if (relation?.type === "worksheet") sheet = relation.target;
  });
  if (sheet === undefined) throw refusedFile("validation/body", "has no sheet that is to be seen");
  const texts = [...relations.values()].find(({ type }) => type === "sharedStrings")?.target;
  return { sheet, texts, from1904 };
};

const idIn = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes).find(([name]) => /(^|:)id$/.test(name))?.[1] ?? "";

/** Each text that cells refer to by its number. Readings of characters (`rPh`) are left out. */
const sharedTexts = async (parts: Package, part: string | undefined): Promise<string[]> => {
  const texts: string[] = [];
  const source = part === undefined ? undefined : await parts.open(part);
  if (source === undefined) return texts;
  let characters = 0;
  const reading = new RichText();
  await readXml(source, partBytesMax, {
    open: (name) => reading.open(name),
    text: (text) => reading.add(text),
    close: (name) => {
      reading.close(name);
      if (name !== "si") return;
      const text = reading.take();
      characters += text.length;
      if (texts.push(text) > sharedTextsMax || characters > sharedCharactersMax)
        throw refusedFile("validation/too-large", "has more texts than a list of passengers");
    },
  });
  return texts;
};

/** No more rows wait than one unpacked piece of the part holds. */
async function* rowsOf(parts: Package, part: string, shared: readonly string[]): AsyncGenerator<Row> {
  const source = await parts.open(part);
  if (source === undefined)
    throw refusedFile("validation/body", "is a broken workbook: its sheet is missing");
  const sheet = new SheetRows(shared);
  for await (const _ of readingXml(source, partBytesMax, sheet)) yield* sheet.take();
  yield* sheet.take();
}
