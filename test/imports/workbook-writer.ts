/** Workbooks written by hand: each test says the one part that it is about, the others are plain. */
import { zipOf, type ZipFile, type ZipOptions } from "./zip-writer.ts";

const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships";
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

export interface HandMadeSheet {
  readonly name: string;
  readonly state?: "hidden" | "veryHidden";
  /** The rows; or a whole part, if it begins with `<`-`?` or `<worksheet`. */
  readonly xml: string;
  /** After the rows: merges and the like. */
  readonly after?: string;
  /** Before the rows: columns. */
  readonly before?: string;
}

export interface HandMade {
  readonly sheets?: readonly HandMadeSheet[];
  /** For a workbook of one sheet. */
  readonly rows?: string;
  readonly before?: string;
  readonly after?: string;
  /** The items of the shared strings, as XML: `<si>…</si>`; or a whole part. */
  readonly strings?: string;
  readonly styles?: string | null;
  readonly workbookPr?: string;
  readonly file?: Partial<ZipFile>;
  /** Instead of what would be written, or beside it. */
  readonly parts?: Readonly<Record<string, string | Buffer | null>>;
  readonly zip?: ZipOptions;
  readonly rename?: (name: string) => string;
}

/** The numbers of the styles that `STYLES` has. */
export const STYLE = {
  general: 0,
  date: 1,
  dateTime: 2,
  time: 3,
  elapsed: 4,
  isoDate: 5,
  isoDateTime: 6,
  percent: 7,
  quoted: 8,
  month: 9,
  currency: 10,
  text: 11,
  scientific: 12,
  locale: 13,
} as const;

const CUSTOM: readonly (readonly [number, string])[] = [
  [164, "yyyy\\-mm\\-dd"],
  [165, "yyyy\\-mm\\-dd\\ hh:mm:ss"],
  [166, '0.0" days";[Red]\\-0.0" days"'],
  [167, "mmm\\ yyyy"],
  [168, '#,##0.00\\ "€";[Red]\\-#,##0.00\\ "€"'],
  [169, "[$-407]d\\.\\ mmmm\\ yyyy;@"],
];
const XFS = [0, 14, 22, 21, 46, 164, 165, 10, 166, 167, 168, 49, 11, 169];

export const STYLES = `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="${CUSTOM.length}">${CUSTOM.map(
  ([id, code]) => `<numFmt numFmtId="${id}" formatCode="${escaped(code)}"/>`,
).join(
  "",
)}</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${XFS.length}">${XFS.map(
  (id) =>
    `<xf numFmtId="${id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`,
).join(
  "",
)}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Cells as texts in place, which need no table. */
export function textCells(row: number, texts: readonly string[]): string {
  const cells = texts.map(
    (text, at) =>
      `<c r="${letters(at)}${row}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`,
  );
  return `<row r="${row}">${cells.join("")}</row>`;
}

export function letters(at: number): string {
  return at < 26
    ? String.fromCharCode(65 + at)
    : letters(Math.floor(at / 26) - 1) + String.fromCharCode(65 + (at % 26));
}

export function worksheet({ before = "", xml, after = "" }: Omit<HandMadeSheet, "name">): string {
  if (/^<(\?|worksheet|!|\w+:)/.test(xml)) return xml;
  return `${HEAD}<worksheet xmlns="${MAIN}" xmlns:r="${RELATIONS}">${before}<sheetData>${xml}</sheetData>${after}</worksheet>`;
}

export function partsOf(made: HandMade): Readonly<Record<string, string | Buffer>> {
  const { rows = "", before = "", after = "", workbookPr = "", styles = STYLES } = made;
  const sheets = made.sheets ?? [{ name: "Sheet1", xml: rows, before, after }];
  const override = (part: string, type: string) =>
    `<Override PartName="/${part}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.${type}+xml"/>`;
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  const relations = (list: string) =>
    `${HEAD}<Relationships xmlns="${PACKAGE_RELATIONS}">${list}</Relationships>`;
  const parts: Record<string, string | Buffer | null> = {
    "[Content_Types].xml": `${HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${override("xl/workbook.xml", "sheet.main")}${sheets.map((_, at) => override(`xl/worksheets/sheet${at + 1}.xml`, "worksheet")).join("")}${styles === null ? "" : override("xl/styles.xml", "styles")}${made.strings === undefined ? "" : override("xl/sharedStrings.xml", "sharedStrings")}</Types>`,
    "_rels/.rels": relations(relation("rId1", "officeDocument", "xl/workbook.xml")),
    "xl/workbook.xml": `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">${workbookPr}<sheets>${sheets.map(({ name, state }, at) => `<sheet name="${escaped(name)}" sheetId="${at + 1}"${state === undefined ? "" : ` state="${state}"`} r:id="rId${at + 1}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations(
      sheets
        .map((_, at) => relation(`rId${at + 1}`, "worksheet", `worksheets/sheet${at + 1}.xml`))
        .join("") +
        (styles === null ? "" : relation("rIdStyles", "styles", "styles.xml")) +
        (made.strings === undefined
          ? ""
          : relation("rIdStrings", "sharedStrings", "sharedStrings.xml")),
    ),
    "xl/styles.xml": styles,
    ...Object.fromEntries(
      sheets.map((sheet, at) => [`xl/worksheets/sheet${at + 1}.xml`, worksheet(sheet)]),
    ),
    "xl/sharedStrings.xml": made.strings === undefined ? null : stringsPart(made.strings),
    ...made.parts,
  };
  return Object.fromEntries(
    Object.entries(parts).filter((part): part is [string, string | Buffer] => part[1] !== null),
  );
}

export function workbookOf(made: HandMade): Buffer {
  const rename = made.rename ?? ((name: string) => name);
  return zipOf(
    Object.entries(partsOf(made)).map(([name, data]) => ({
      name: rename(name),
      data,
      ...made.file,
    })),
    made.zip,
  );
}

function stringsPart(items: string): string {
  if (!items.startsWith("<si") && items !== "") return items;
  const count = items.split("<si").length - 1;
  return `${HEAD}<sst xmlns="${MAIN}" count="${count}" uniqueCount="${count}">${items}</sst>`;
}

/** `<si>` of plain texts. */
export function stringItems(texts: readonly string[]): string {
  return texts.map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join("");
}
