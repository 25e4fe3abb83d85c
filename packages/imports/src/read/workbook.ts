/** The parts of a workbook, and which of them is the sheet that is wanted. */
import { notSheet } from "./file-kind.ts";
import { ignore, readList, type Package } from "./read-part.ts";
import { SheetFault, damaged } from "./sheet-fault.ts";

export interface Workbook {
  /** Of the sheet, in the archive. */
  readonly part: string;
  readonly sheetName: string;
  readonly is1904: boolean;
  readonly sharedStrings: string | null;
  readonly styles: string | null;
}

interface Relation {
  readonly type: string;
  /** A part of the archive; null for what lies outside of it, which is never opened. */
  readonly part: string | null;
}

interface ListedSheet {
  readonly name: string;
  readonly isVisible: boolean;
  readonly relation: string;
}

const MAX_NAMES_TOLD = 10;

export async function readWorkbook(
  from: Package,
  wanted: string | number | null,
): Promise<Workbook> {
  refuseOthers(from);
  const main = await mainPart(from);
  const relations = await readRelations(from, main);
  const { sheets, is1904 } = await readSheets(from, main);
  const sheet = choose(sheets, wanted, relations);
  const relation = relations.get(sheet.relation);
  if (relation !== undefined && relation.type !== "worksheet") {
    throw new SheetFault(
      "missing-sheet",
      `"${sheet.name}" has no cells (it is a ${relation.type})`,
    );
  }
  if (relation?.part == null) throw damaged("the part of a sheet is missing", sheet.name);
  const partOf = (type: string) => {
    const found = [...relations.values()].find((one) => one.type === type)?.part ?? null;
    return found !== null && from.entries.has(found) ? found : null;
  };
  return {
    ...{ part: relation.part, sheetName: sheet.name, is1904 },
    ...{ sharedStrings: partOf("sharedStrings"), styles: partOf("styles") },
  };
}

function refuseOthers({ entries }: Package): void {
  const names = [...entries.keys()];
  if (entries.has("xl/workbook.bin")) throw notSheet("This is a binary workbook (.xlsb)");
  if (names.some((name) => name.endsWith("vbaproject.bin"))) throw macros();
  if (entries.has("word/document.xml")) throw notSheet("This is a document (.docx)");
  if (entries.has("ppt/presentation.xml")) throw notSheet("This is a presentation (.pptx)");
  if (entries.has("content.xml")) throw notSheet("This is an OpenDocument file (.ods)");
  if (entries.has("[content_types].xml")) return;
  throw notSheet("This is an archive, and no workbook is in it");
}

function macros(): SheetFault {
  return new SheetFault("macros", "The workbook has macros: save it as .xlsx, without them");
}

/** The workbook itself, by the relations of the package; where they say nothing, where it always is. */
async function mainPart(from: Package): Promise<string> {
  let hasMacros = false;
  await readList(from, "[content_types].xml", {
    open(_, tag) {
      const type = tag.text("ContentType") ?? "";
      if (/macroEnabled|vbaProject/i.test(type)) hasMacros = true;
    },
    ...{ close: ignore, text: ignore },
  });
  if (hasMacros) throw macros();
  const relations = await readRelations(from, "");
  const main = [...relations.values()].find(({ type }) => type === "officeDocument")?.part;
  const part = main ?? "xl/workbook.xml";
  if (from.entries.has(part)) return part;
  throw notSheet("This is an archive, and no workbook is in it");
}

async function readRelations(from: Package, part: string): Promise<ReadonlyMap<string, Relation>> {
  const relations = new Map<string, Relation>();
  const folder = part.slice(0, part.lastIndexOf("/") + 1);
  const name = `${folder}_rels/${part.slice(folder.length)}.rels`;
  if (!from.entries.has(name)) return relations;
  await readList(from, name, {
    open(element, tag) {
      if (element !== "Relationship") return;
      const isOutside = tag.text("TargetMode") === "External";
      const type = tag.text("Type") ?? "";
      relations.set(tag.text("Id") ?? "", {
        type: type.slice(type.lastIndexOf("/") + 1),
        part: isOutside ? null : resolved(folder, tag.text("Target") ?? ""),
      });
    },
    ...{ close: ignore, text: ignore },
  });
  return relations;
}

/** Only looked up among the entries of the archive: a path that leaves it finds none. */
function resolved(folder: string, target: string): string {
  const path = target.replaceAll("\\", "/").toLowerCase();
  const segments: string[] = path.startsWith("/") ? [] : folder.split("/").slice(0, -1);
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "." && segment !== "") segments.push(segment);
  }
  return segments.join("/");
}

async function readSheets(
  from: Package,
  part: string,
): Promise<{ readonly sheets: readonly ListedSheet[]; readonly is1904: boolean }> {
  const sheets: ListedSheet[] = [];
  let is1904 = false;
  await readList(from, part, {
    open(element, tag) {
      if (element === "workbookPr") is1904 = tag.isTrue("date1904");
      if (element !== "sheet") return;
      sheets.push({
        name: tag.text("name") ?? "",
        isVisible: (tag.text("state") ?? "visible") === "visible",
        relation: tag.text("id") ?? "",
      });
    },
    ...{ close: ignore, text: ignore },
  });
  return { sheets, is1904 };
}

function choose(
  sheets: readonly ListedSheet[],
  wanted: string | number | null,
  relations: ReadonlyMap<string, Relation>,
): ListedSheet {
  const hasCells = ({ relation }: ListedSheet) => relations.get(relation)?.type === "worksheet";
  const sheet =
    wanted === null ? sheets.find((one) => one.isVisible && hasCells(one)) : find(sheets, wanted);
  if (sheet !== undefined) return sheet;
  const told = sheets.slice(0, MAX_NAMES_TOLD).map(({ name }) => `"${name}"`);
  const more = sheets.length > told.length ? ` and ${sheets.length - told.length} more` : "";
  const missing = wanted === null ? "a visible sheet" : `a sheet ${JSON.stringify(wanted)}`;
  const has = told.length === 0 ? "it has none" : `it has ${told.join(", ")}${more}`;
  throw new SheetFault("missing-sheet", `The workbook lacks ${missing}: ${has}`);
}

/** Names of sheets differ by more than case, in every program that writes them. */
function find(sheets: readonly ListedSheet[], wanted: string | number): ListedSheet | undefined {
  if (typeof wanted === "number") return sheets[wanted];
  const same = (left: string, right: string) =>
    left.trim().toLowerCase() === right.trim().toLowerCase();
  return (
    sheets.find(({ name }) => name === wanted) ?? sheets.find(({ name }) => same(name, wanted))
  );
}
