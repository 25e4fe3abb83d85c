/** Shapes of single cells: every type, format and way to write a value. */
import { escaped, stringItems, STYLE, textCells, workbookOf } from "../workbook-writer.ts";
import type { Shape } from "./shape.ts";

const head = (...names: string[]) => textCells(1, names);
const number = (reference: string, value: number | string, style: number = STYLE.general) =>
  `<c r="${reference}" s="${style}"><v>${value}</v></c>`;
const row = (at: number, cells: string) => `<row r="${at}">${cells}</row>`;
const text = (reference: string, value: string) =>
  `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`;
/** One below the other, each with its label. */
const column = (values: readonly (readonly [string, string | number])[], style: number) =>
  values
    .map(([label, value], at) =>
      row(at + 2, text(`A${at + 2}`, label) + number(`B${at + 2}`, value, style)),
    )
    .join("");

export const CELL_SHAPES: readonly Shape[] = [
  {
    name: "shared-strings",
    make: () =>
      workbookOf({
        strings: stringItems(["name", "city", "Ada", "London", "Grace", "New York"]),
        rows:
          '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>' +
          '<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" t="s"><v>3</v></c></row>' +
          '<row r="3"><c r="A3" t="s"><v>4</v></c><c r="B3" t="s"><v>5</v></c></row>' +
          '<row r="4"><c r="A4" t="s"><v>2</v></c><c r="B4" t="s"><v>5</v></c></row>',
      }),
  },
  {
    name: "rich-text",
    make: () =>
      workbookOf({
        strings:
          "<si><t>note</t></si>" +
          '<si><r><t xml:space="preserve">plain </t></r><r><rPr><b/><sz val="11"/></rPr><t>bold</t></r><r><t xml:space="preserve"> plain</t></r></si>',
        rows: '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c></row>',
      }),
  },
  {
    name: "phonetic-runs",
    make: () =>
      workbookOf({
        strings:
          "<si><t>name</t></si>" +
          '<si><t>課きく</t><rPh sb="0" eb="1"><t>カ</t></rPh><rPh sb="1" eb="3"><t>キク</t></rPh><phoneticPr fontId="0"/></si>',
        rows: '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c></row>',
      }),
  },
  {
    name: "inline-strings",
    make: () =>
      workbookOf({ rows: head("name", "mail") + textCells(2, ["Ada", "ada@example.com"]) }),
  },
  {
    name: "inline-rich-text",
    make: () =>
      workbookOf({
        rows:
          head("note") +
          '<row r="2"><c r="A2" t="inlineStr"><is><r><t xml:space="preserve">one </t></r><r><rPr><i/></rPr><t>two</t></r></is></c></row>',
      }),
  },
  {
    name: "booleans",
    make: () =>
      workbookOf({
        rows:
          head("label", "is paid") +
          row(2, text("A2", "yes") + '<c r="B2" t="b"><v>1</v></c>') +
          row(3, text("A3", "no") + '<c r="B3" t="b"><v>0</v></c>'),
      }),
  },
  {
    name: "errors",
    make: () =>
      workbookOf({
        rows:
          head("label", "value") +
          ["#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"]
            .map((error, at) =>
              row(
                at + 2,
                text(`A${at + 2}`, `e${at}`) + `<c r="B${at + 2}" t="e"><v>${error}</v></c>`,
              ),
            )
            .join(""),
      }),
  },
  {
    name: "formula-numbers",
    make: () =>
      workbookOf({
        rows:
          head("a", "b", "sum") +
          row(2, number("A2", 1) + number("B2", 2) + '<c r="C2"><f>A2+B2</f><v>3</v></c>') +
          row(
            3,
            number("A3", 0.1) +
              number("B3", 0.2) +
              '<c r="C3"><f>A3+B3</f><v>0.30000000000000004</v></c>',
          ),
      }),
  },
  {
    name: "formula-texts",
    make: () =>
      workbookOf({
        rows:
          head("a", "joined", "empty") +
          row(
            2,
            text("A2", "x") +
              '<c r="B2" t="str"><f>A2&amp;"-y"</f><v>x-y</v></c><c r="C2" t="str"><f>""</f><v></v></c>',
          ) +
          row(3, text("A3", "z") + '<c r="B3" t="str"><f>A3&amp;"-y"</f><v>z-y</v></c>'),
      }),
  },
  {
    name: "formula-booleans",
    make: () =>
      workbookOf({
        rows:
          head("a", "is one") + row(2, number("A2", 1) + '<c r="B2" t="b"><f>A2=1</f><v>1</v></c>'),
      }),
  },
  {
    name: "shared-formulas",
    make: () =>
      workbookOf({
        rows:
          head("a", "double") +
          row(
            2,
            number("A2", 1) + '<c r="B2"><f t="shared" ref="B2:B4" si="0">A2*2</f><v>2</v></c>',
          ) +
          row(3, number("A3", 2) + '<c r="B3"><f t="shared" si="0"/><v>4</v></c>') +
          row(4, number("A4", 3) + '<c r="B4"><f t="shared" si="0"/><v>6</v></c>'),
      }),
  },
  {
    name: "array-formula",
    make: () =>
      workbookOf({
        rows:
          head("a", "total") +
          row(2, number("A2", 1) + '<c r="B2"><f t="array" ref="B2">SUM(A2:A3*2)</f><v>6</v></c>') +
          row(3, number("A3", 2)),
      }),
  },
  {
    name: "formula-without-value",
    make: () =>
      workbookOf({
        rows: head("a", "double") + row(2, number("A2", 4) + '<c r="B2"><f>A2*2</f></c>'),
      }),
  },
  {
    name: "dates",
    make: () =>
      workbookOf({
        rows:
          head("label", "day") +
          column(
            [
              ["unix", 25569],
              ["leap", 45351],
              ["last", 2958465],
              ["march 1900", 61],
            ],
            STYLE.isoDate,
          ),
      }),
  },
  {
    name: "dates-built-in",
    make: () =>
      workbookOf({
        rows:
          head("label", "day") +
          column(
            [
              ["a", 46044],
              ["b", 46053],
            ],
            STYLE.date,
          ),
      }),
  },
  {
    name: "date-times",
    make: () =>
      workbookOf({
        rows:
          head("label", "at") +
          column(
            [
              ["noon", 46044.5],
              ["odd", 46044.430902777778],
              ["late", 46044.999988425923],
            ],
            STYLE.isoDateTime,
          ),
      }),
  },
  {
    name: "date-times-built-in",
    make: () =>
      workbookOf({ rows: head("label", "at") + column([["noon", 46044.5]], STYLE.dateTime) }),
  },
  {
    name: "times",
    make: () =>
      workbookOf({
        rows:
          head("label", "time") +
          column(
            [
              ["six", 0.25],
              ["odd", 0.430902777777778],
              ["none", 0],
            ],
            STYLE.time,
          ),
      }),
  },
  {
    name: "stretches-of-time",
    make: () =>
      workbookOf({
        rows:
          head("label", "took") +
          column(
            [
              ["short", 0.0625],
              ["days", 1.25],
              ["many", 10.5],
            ],
            STYLE.elapsed,
          ),
      }),
  },
  {
    name: "dates-1904",
    make: () =>
      workbookOf({
        workbookPr: '<workbookPr date1904="1"/>',
        rows:
          head("label", "day") +
          column(
            [
              ["first", 0],
              ["later", 44582],
              ["time", 44582.75],
            ],
            STYLE.isoDateTime,
          ),
      }),
  },
  {
    name: "dates-before-march-1900",
    make: () =>
      workbookOf({
        rows:
          head("label", "day") +
          column(
            [
              ["first", 1],
              ["last true", 59],
              ["never was", 60],
              ["march", 61],
            ],
            STYLE.isoDate,
          ),
      }),
  },
  {
    name: "dates-month-and-locale",
    make: () =>
      workbookOf({
        rows:
          head("label", "month", "day") +
          row(
            2,
            text("A2", "a") + number("B2", 46023, STYLE.month) + number("C2", 46044, STYLE.locale),
          ),
      }),
  },
  {
    name: "dates-out-of-range",
    make: () =>
      workbookOf({
        rows:
          head("label", "day") +
          column(
            [
              ["below", -1],
              ["above", 2958466],
            ],
            STYLE.isoDate,
          ),
      }),
  },
  {
    name: "numbers",
    make: () =>
      workbookOf({
        rows:
          head("label", "value") +
          column(
            [
              ["zero", 0],
              ["one", 1],
              ["negative", -12],
              ["decimal", "3.25"],
              ["tenth", "0.1"],
              ["digits", "123456789012345"],
              ["seventeen", "0.30000000000000004"],
              ["small", "1.5E-7"],
              ["large", "1.25E+20"],
              ["cents", "1234567.89"],
              ["minus", "-0.005"],
            ],
            STYLE.general,
          ),
      }),
  },
  {
    name: "number-formats",
    make: () =>
      workbookOf({
        rows:
          head("percent", "money", "days", "science") +
          row(
            2,
            number("A2", 0.125, STYLE.percent) +
              number("B2", 1234.5, STYLE.currency) +
              number("C2", 45, STYLE.quoted) +
              number("D2", 1500, STYLE.scientific),
          ) +
          row(
            3,
            number("A3", 1, STYLE.percent) +
              number("B3", -0.5, STYLE.currency) +
              number("C3", 1.5, STYLE.quoted) +
              number("D3", 0.5, STYLE.scientific),
          ),
      }),
  },
  {
    name: "texts-that-look-like-numbers",
    make: () =>
      workbookOf({ rows: head("zip", "phone", "id") + textCells(2, ["00501", "+49 30 1", "1e5"]) }),
  },
  {
    name: "unicode",
    make: () =>
      workbookOf({
        rows:
          head("name", "city", "mark") +
          textCells(2, ["Zoë Müller", "東京", "🦉🇩🇪"]) +
          textCells(3, ["עברית", "Ελλάδα", "e\u0301\u200bx"]),
      }),
  },
  {
    name: "references",
    make: () =>
      workbookOf({
        rows:
          head("text") +
          row(2, text("A2", escaped('<a href="x">&\'</a>'))) +
          row(3, text("A3", "&#65;&#x1F600;&amp;lt;")),
      }),
  },
  {
    name: "cdata-and-comments",
    make: () =>
      workbookOf({
        rows:
          head("text") +
          "<!-- <row r='9'/> -->" +
          row(2, '<c r="A2" t="inlineStr"><is><t><![CDATA[a & <b> &amp;]]></t></is></c>'),
      }),
  },
  {
    name: "line-breaks",
    make: () =>
      workbookOf({
        rows:
          head("label", "address") +
          textCells(2, ["a", "one\ntwo\n\nthree"]) +
          textCells(3, ["b", "x"]),
      }),
  },
  {
    name: "spaces",
    make: () =>
      workbookOf({
        rows:
          head("label", "value") + textCells(2, ["a", "  both  "]) + textCells(3, ["b", "\ttab"]),
      }),
  },
  {
    name: "escapes",
    make: () =>
      workbookOf({
        strings:
          "<si><t>text</t></si><si><t>a_x0009_b</t></si><si><t>_x005F_x000D_ stays</t></si><si><t>_xnot_</t></si>",
        rows: [0, 1, 2, 3]
          .map(
            (index) => `<row r="${index + 1}"><c r="A${index + 1}" t="s"><v>${index}</v></c></row>`,
          )
          .join(""),
      }),
  },
  {
    name: "formula-injection",
    make: () =>
      workbookOf({
        rows:
          head("a", "b", "c") +
          textCells(2, ["=1+1", "+cmd|x", "@sum"]) +
          textCells(3, ["-1+1", '=HYPERLINK("http://x")', "'quoted"]),
      }),
  },
  {
    name: "long-text",
    make: () =>
      workbookOf({
        rows:
          head("label", "text") + textCells(2, ["longest", "0123456789".repeat(3276) + "1234567"]),
      }),
  },
];
