/** Shapes of whole sheets: where the table stands, what is hidden, merged or missing around it. */
import { letters, STYLE, textCells, workbookOf } from "../workbook-writer.ts";
import type { Shape } from "./shape.ts";

const TABLE =
  textCells(1, ["name", "city"]) +
  textCells(2, ["Ada", "London"]) +
  textCells(3, ["Grace", "New York"]);
const OTHER = textCells(1, ["other"]) + textCells(2, ["wrong sheet"]);
const text = (value: string) => `<is><t>${value}</t></is>`;

export const LAYOUT_SHAPES: readonly Shape[] = [
  {
    name: "cells-without-references",
    make: () =>
      workbookOf({
        rows:
          `<row r="1"><c t="inlineStr">${text("a")}</c><c t="inlineStr">${text("b")}</c></row>` +
          `<row r="2"><c t="inlineStr">${text("1st")}</c><c t="inlineStr">${text("2nd")}</c></row>`,
      }),
  },
  {
    name: "rows-without-numbers",
    make: () =>
      workbookOf({
        rows:
          `<row><c t="inlineStr">${text("a")}</c><c t="inlineStr">${text("b")}</c></row>` +
          `<row><c t="inlineStr">${text("x")}</c><c><v>5</v></c></row><row><c t="inlineStr">${text("y")}</c></row>`,
      }),
  },
  {
    name: "gaps",
    make: () =>
      workbookOf({
        rows:
          textCells(1, ["a", "b", "c"]) +
          `<row r="2"><c r="A2"><v>1</v></c><c r="C2"><v>3</v></c></row>` +
          `<row r="5"><c r="B5"><v>2</v></c></row><row r="9"><c r="C9"><v>9</v></c></row>`,
      }),
  },
  {
    name: "title-above",
    make: () =>
      workbookOf({
        rows:
          textCells(1, ["Accounts payable 2026"]) +
          textCells(4, ["invoice", "vendor", "amount"]) +
          textCells(5, ["A-1", "Acme", "ten"]) +
          textCells(6, ["A-2", "Umbrella", "twenty"]),
        after: '<mergeCells count="1"><mergeCell ref="A1:C1"/></mergeCells>',
      }),
  },
  {
    name: "header-given",
    headerRow: 3,
    make: () =>
      workbookOf({
        rows:
          textCells(1, ["x", "y"]) +
          textCells(2, ["x", "y"]) +
          textCells(3, ["name", "city"]) +
          textCells(4, ["Ada", "London"]),
      }),
  },
  {
    name: "header-with-line-breaks",
    make: () =>
      workbookOf({
        rows: textCells(1, ["invoice\nnumber", "  amount "]) + textCells(2, ["A-1", "x"]),
      }),
  },
  {
    name: "header-of-years",
    make: () =>
      workbookOf({
        rows:
          `<row r="1"><c r="A1" t="inlineStr">${text("category")}</c><c r="B1" t="inlineStr">${text("department")}</c><c r="C1"><v>2026</v></c></row>` +
          `<row r="2"><c r="A2" t="inlineStr">${text("travel")}</c><c r="B2" t="inlineStr">${text("sales")}</c><c r="C2"><v>100</v></c></row>`,
      }),
  },
  {
    name: "merged-cells",
    make: () =>
      workbookOf({
        rows:
          textCells(1, ["region", "city"]) +
          textCells(2, ["north", "Oslo"]) +
          `<row r="3"><c r="A3"/><c r="B3" t="inlineStr">${text("Bergen")}</c></row>`,
        after: '<mergeCells count="1"><mergeCell ref="A2:A3"/></mergeCells>',
      }),
  },
  {
    name: "hidden-row-and-column",
    make: () =>
      workbookOf({
        before: '<cols><col min="2" max="2" width="9" hidden="1" customWidth="1"/></cols>',
        rows:
          textCells(1, ["name", "secret"]) +
          textCells(2, ["Ada", "a"]).replace("<row ", '<row hidden="1" ') +
          textCells(3, ["Grace", "b"]),
      }),
  },
  {
    name: "hidden-first-sheet",
    make: () =>
      workbookOf({
        sheets: [
          { name: "Config", state: "hidden", xml: OTHER },
          { name: "Data", xml: TABLE },
        ],
      }),
    sheet: "Data",
  },
  {
    name: "second-sheet",
    make: () =>
      workbookOf({
        sheets: [
          { name: "First", xml: OTHER },
          { name: "AP Data", xml: TABLE },
        ],
      }),
    sheet: "AP Data",
  },
  {
    name: "styled-empty-cells",
    make: () =>
      workbookOf({
        rows:
          textCells(1, ["a", "b"]) +
          `<row r="2" s="1" customFormat="1"><c r="A2" t="inlineStr">${text("x")}</c><c r="B2" s="${STYLE.date}"/><c r="IV2" s="${STYLE.date}"/></row>` +
          `<row r="3" s="1" customFormat="1"><c r="A3" s="1"/></row>`,
      }),
  },
  {
    name: "hundred-columns",
    make: () => {
      const columns = Array.from({ length: 100 }, (_, at) => `column ${at + 1}`);
      const cells = columns.map((_, at) => `<c r="${letters(at)}2"><v>${at}</v></c>`).join("");
      return workbookOf({ rows: `${textCells(1, columns)}<row r="2">${cells}</row>` });
    },
  },
  {
    name: "thousand-rows",
    make: () => {
      const rows = Array.from(
        { length: 1_000 },
        (_, at) =>
          `<row r="${at + 2}"><c r="A${at + 2}"><v>${at}</v></c><c r="B${at + 2}"><v>${at / 8}</v></c></row>`,
      );
      return workbookOf({ rows: textCells(1, ["id", "value"]) + rows.join("") });
    },
  },
  {
    name: "table-away-from-the-corner",
    make: () =>
      workbookOf({
        rows: `<row r="3"><c r="C3" t="inlineStr">${text("name")}</c><c r="D3" t="inlineStr">${text("city")}</c></row><row r="4"><c r="C4" t="inlineStr">${text("Ada")}</c><c r="D4" t="inlineStr">${text("London")}</c></row>`,
      }),
  },
];
