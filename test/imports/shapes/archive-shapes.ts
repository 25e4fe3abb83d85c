/** Shapes of archives and parts: what other writers do differently around the same cells. */
import { writeXlsx } from "hucre";
import { partsOf, STYLE, textCells, workbookOf } from "../workbook-writer.ts";
import type { Shape } from "./shape.ts";

const ROWS =
  textCells(1, ["name", "amount", "day"]) +
  `<row r="2"><c r="A2" t="inlineStr"><is><t>Zoë</t></is></c><c r="B2"><v>1.5</v></c><c r="C2" s="${STYLE.isoDate}"><v>46044</v></c></row>`;

/** Every element gets a prefix, as writers of some libraries do. */
function prefixed(xml: string): string {
  return xml
    .replaceAll(/<(\/?)([a-zA-Z])/g, "<$1x:$2")
    .replace("<x:worksheet xmlns=", "<x:worksheet xmlns:x=");
}

const parts = partsOf({ rows: ROWS });
const sheetPart = "xl/worksheets/sheet1.xml";

export const ARCHIVE_SHAPES: readonly Shape[] = [
  { name: "stored-archive", make: () => workbookOf({ rows: ROWS, file: { isStored: true } }) },
  {
    name: "data-descriptors",
    make: () => workbookOf({ rows: ROWS, file: { hasDescriptor: true } }),
  },
  {
    name: "archive-of-64-bits",
    isClosedToLibreOffice: true,
    make: () => workbookOf({ rows: ROWS, file: { isWide: true }, zip: { isWide: true } }),
  },
  {
    name: "archive-comment",
    make: () => workbookOf({ rows: ROWS, zip: { comment: "made by hand" } }),
  },
  {
    name: "prefixed-elements",
    make: () =>
      workbookOf({ rows: ROWS, parts: { [sheetPart]: prefixed(String(parts[sheetPart])) } }),
  },
  {
    name: "absolute-targets",
    make: () =>
      workbookOf({
        rows: ROWS,
        parts: {
          "xl/_rels/workbook.xml.rels": String(parts["xl/_rels/workbook.xml.rels"]).replaceAll(
            'Target="',
            'Target="/xl/',
          ),
          "_rels/.rels": String(parts["_rels/.rels"]).replaceAll('Target="', 'Target="/'),
        },
      }),
  },
  {
    name: "single-quotes-and-spaces",
    make: () =>
      workbookOf({
        rows: ROWS,
        parts: {
          [sheetPart]: String(parts[sheetPart])
            .replaceAll(/(\s\w+)="([^"]*)"/g, "$1 = '$2'")
            .replaceAll("</c>", "</c >\n  "),
        },
      }),
  },
  {
    name: "parts-in-utf-16",
    make: () =>
      workbookOf({
        rows: ROWS,
        parts: {
          [sheetPart]: Buffer.from(
            `\ufeff${String(parts[sheetPart]).replace("UTF-8", "UTF-16")}`,
            "utf16le",
          ),
        },
      }),
  },
  {
    name: "mark-before-xml",
    make: () =>
      workbookOf({ rows: ROWS, parts: { [sheetPart]: `\ufeff${String(parts[sheetPart])}` } }),
  },
  { name: "no-styles", make: () => workbookOf({ rows: ROWS, styles: null }) },
  {
    name: "hucre-mixed",
    make: async () =>
      Buffer.from(
        await writeXlsx({
          sheets: [
            {
              name: "Customers",
              rows: [
                ["email", "name", "is active", "balance", "since"],
                ["ada@example.com", "Ada Lovelace", true, 12.5, new Date(Date.UTC(2026, 0, 31))],
                ["grace@example.com", "Grace Höpper", false, -3, new Date(Date.UTC(2024, 1, 29))],
                ["empty@example.com", null, null, null, null],
              ],
            },
          ],
        }),
      ),
  },
  {
    name: "hucre-many",
    make: async () =>
      Buffer.from(
        await writeXlsx({
          sheets: [
            {
              name: "Many",
              rows: [
                ["id", "word", "score"],
                ...Array.from({ length: 300 }, (_, at) => [at, `word ${at % 17}`, at / 4]),
              ],
            },
          ],
        }),
      ),
  },
];
