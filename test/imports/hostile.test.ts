/** Files that mean harm, and files that are something else: each is refused for its reason, and costs little. */
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../packages/imports/src/read/read-options.ts";
import { SheetWarnings } from "../../packages/imports/src/read/sheet-warnings.ts";
import { WorksheetSink } from "../../packages/imports/src/read/worksheet-sink.ts";
import { XmlTokens } from "../../packages/imports/src/read/xml-tokens.ts";
import { readContent, refusalOf } from "./read-all.ts";
import {
  letters,
  partsOf,
  stringItems,
  textCells,
  workbookOf,
  worksheet,
} from "./workbook-writer.ts";
import { zipOf, type ZipFile } from "./zip-writer.ts";

const ROWS = textCells(1, ["name", "city"]) + textCells(2, ["Ada", "London"]);
const SHEET = "xl/worksheets/sheet1.xml";
const plain = partsOf({ rows: ROWS });

/** The plain workbook, with one entry changed. */
function withEntry(name: string, change: (file: ZipFile) => ZipFile): Buffer {
  return zipOf(
    Object.entries(plain).map(([part, data]) => {
      const file: ZipFile = { name: part, data };
      return part === name ? change(file) : file;
    }),
  );
}

describe("an archive that lies", () => {
  it("with 400 MB in one cell is refused before anything is unpacked", async () => {
    const head = worksheet({ xml: '<row r="1"><c r="A1" t="inlineStr"><is><t>' });
    const open = head.slice(0, head.indexOf("</sheetData>"));
    // Made of pieces that are deflated by themselves would take long: the headers are enough to be refused.
    const small = Buffer.from(
      `${open}${"a".repeat(100_000)}</t></is></c></row></sheetData></worksheet>`,
    );
    const bomb = withEntry(SHEET, (file) => ({
      ...file,
      ...{ data: small, claims: { unpackedBytes: 400 * 1024 * 1024 } },
    }));
    expect(bomb.length).toBeLessThan(10_000);
    expect(await refusalOf(bomb)).toMatchObject({ reason: "bomb", place: SHEET });
  });

  it("and unpacks to more than it says is stopped where it passes that", async () => {
    const data = worksheet({ xml: textCells(1, ["a"]) + "<row/>".repeat(1_000_000) });
    const bomb = withEntry(SHEET, (file) => ({
      ...file,
      ...{ data, claims: { unpackedBytes: 1_000 } },
    }));
    expect(await refusalOf(bomb)).toMatchObject({ reason: "bomb", place: SHEET });
  });

  it("and claims two gigabytes takes none of them", async () => {
    const before = process.memoryUsage().arrayBuffers;
    const liar = withEntry(SHEET, (file) => ({
      ...file,
      ...{ isStored: true, claims: { unpackedBytes: 2_000_000_000 } },
    }));
    expect((await refusalOf(liar)).reason).toMatch(/damaged|bomb|too-large/);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  it("and unpacks to more than is allowed is too large", async () => {
    const file = workbookOf({ rows: ROWS });
    const refusal = await refusalOf(file, { limits: { unpackedBytes: 1_500 } });
    expect(refusal).toMatchObject({ reason: "too-large" });
    expect(refusal.message).toContain("limits.unpackedBytes");
  });

  it("and has other sizes or names in its local headers is damaged", async () => {
    const sizes = withEntry(SHEET, (file) => ({ ...file, claims: { localUnpackedBytes: 7 } }));
    expect(await refusalOf(sizes)).toMatchObject({ reason: "damaged", place: SHEET });
    const names = withEntry(SHEET, (file) => ({ ...file, claims: { localName: "evil.xml" } }));
    expect(await refusalOf(names)).toMatchObject({ reason: "damaged", place: SHEET });
  });

  it("and has a wrong checksum is damaged", async () => {
    const file = withEntry(SHEET, (entry) => ({ ...entry, claims: { crc: 1 } }));
    expect(await refusalOf(file)).toMatchObject({ reason: "damaged", place: SHEET });
  });

  it("with ten thousand entries is refused by their number", async () => {
    const files = Array.from({ length: 10_000 }, (_, at) => ({
      name: `${at}`,
      data: "",
      isStored: true,
    }));
    expect(await refusalOf(zipOf(files, { isWide: true }))).toMatchObject({ reason: "bomb" });
    expect(await refusalOf(zipOf(files.slice(0, 2_001)))).toMatchObject({ reason: "bomb" });
  });

  it("with two entries of one name is damaged", async () => {
    const files = Object.entries(plain).map(([name, data]) => ({ name, data }));
    const twice = zipOf([...files, { name: SHEET, data: "<worksheet/>" }]);
    expect(await refusalOf(twice)).toMatchObject({ reason: "damaged", place: SHEET });
  });

  it("with something in front of it is damaged: it is two files in one", async () => {
    // An archive begins with its mark, or it is read as text and has bytes that no text has.
    const inFront = workbookOf({
      rows: ROWS,
      zip: { prefix: Buffer.from("PK\u0003\u0004 a script") },
    });
    expect((await refusalOf(inFront)).reason).toBe("damaged");
    const text = workbookOf({ rows: ROWS, zip: { prefix: Buffer.from("a,b\n1,2\n") } });
    expect((await refusalOf(text)).reason).toBe("not-a-spreadsheet");
  });

  it("in another archive is not opened", async () => {
    const inner = workbookOf({ rows: ROWS });
    expect(await refusalOf(zipOf([{ name: "book.xlsx", data: inner }]))).toMatchObject({
      reason: "not-a-spreadsheet",
    });
  });

  it("that is cut off is damaged, wherever it is cut", async () => {
    const whole = workbookOf({ rows: ROWS });
    for (let at = 10; at < whole.length; at += 97) {
      expect((await refusalOf(whole.subarray(0, at))).reason).toBe("damaged");
    }
  });
});

describe("a workbook that cannot be read", () => {
  it("has a password", async () => {
    const ole = Buffer.alloc(4_096);
    Buffer.from("d0cf11e0a1b11ae1", "hex").copy(ole);
    expect((await refusalOf(ole)).reason).toBe("not-a-spreadsheet");
    ole.write("EncryptedPackage", 1_600, "utf16le");
    expect((await refusalOf(ole)).reason).toBe("encrypted");
    const zipped = withEntry(SHEET, (file) => ({ ...file, claims: { flags: 1 } }));
    expect((await refusalOf(zipped)).reason).toBe("encrypted");
  });

  it("has macros", async () => {
    const byPart = workbookOf({ rows: ROWS, parts: { "xl/vbaProject.bin": Buffer.alloc(9) } });
    expect((await refusalOf(byPart)).reason).toBe("macros");
    const types = String(plain["[Content_Types].xml"]).replace(
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
      "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
    );
    const byType = workbookOf({ rows: ROWS, parts: { "[Content_Types].xml": types } });
    expect((await refusalOf(byType)).reason).toBe("macros");
  });

  it("has a document type or entities of its own", async () => {
    const sheet = String(plain[SHEET]);
    const root = sheet.indexOf("<worksheet");
    const attacks = [
      '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
      '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
      "<!DOCTYPE x>",
    ];
    for (const attack of attacks) {
      const xml = sheet.slice(0, root) + attack + sheet.slice(root);
      const file = workbookOf({ rows: ROWS, parts: { [SHEET]: xml } });
      expect((await refusalOf(file)).reason).toBe("entities");
      const wide = Buffer.from(`\ufeff${xml.replace("UTF-8", "UTF-16")}`, "utf16le");
      const hidden = workbookOf({ rows: ROWS, parts: { [SHEET]: wide } });
      expect((await refusalOf(hidden)).reason).toBe("entities");
    }
    const used = workbookOf({ rows: textCells(1, ["a"]).replace(">a<", ">&a;<") });
    expect((await refusalOf(used)).reason).toBe("entities");
  });

  it("keeps its sheet outside: it is not fetched", async () => {
    const relations = String(plain["xl/_rels/workbook.xml.rels"]).replace(
      'Target="worksheets/sheet1.xml"',
      'Target="http://169.254.169.254/latest" TargetMode="External"',
    );
    const file = workbookOf({ rows: ROWS, parts: { "xl/_rels/workbook.xml.rels": relations } });
    expect((await refusalOf(file)).reason).toBe("damaged");
    const path = String(plain["xl/_rels/workbook.xml.rels"]).replace(
      "worksheets/sheet1.xml",
      "../../../../../../etc/passwd",
    );
    const climbing = workbookOf({ rows: ROWS, parts: { "xl/_rels/workbook.xml.rels": path } });
    expect((await refusalOf(climbing)).reason).toBe("damaged");
  });

  it("has cells that are out of order, out of the sheet, or name texts that are not there", async () => {
    for (const rows of [
      '<row r="2"/><row r="1"><c r="A1"><v>1</v></c></row>',
      '<row r="1"><c r="A2"><v>1</v></c></row>',
      '<row r="1048577"><c r="A1048577"><v>1</v></c></row>',
      '<row r="1"><c r="XFE1"><v>1</v></c></row>',
      '<row r="1"><c r="1"><v>1</v></c></row>',
      '<row r="1"><c r="A1" t="s"><v>3</v></c></row>',
      '<row r="1"><c r="A1"><v>1e</v></c></row>',
      '<row r="1"><c r="A1"><v>1E999</v></c></row>',
      '<row r="1"><c r="A1" t="b"><v>2</v></c></row>',
      '<row r="1"><c r="A1" t="inlineStr"><is><t>&#xD800;</t></is></c></row>',
      '<row r="1"><c r="A1"><c r="B1"/></c></row>',
      '<row r="1"><c r="A1"></row></c>',
      '<row r="1',
    ]) {
      expect(
        (await refusalOf(workbookOf({ rows, strings: stringItems(["a"]) }))).reason,
        rows,
      ).toBe("damaged");
    }
  });

  it("is nested or tagged past every measure", async () => {
    const deep = "<a>".repeat(100) + "</a>".repeat(100);
    expect((await refusalOf(workbookOf({ rows: deep }))).reason).toBe("damaged");
    const attributes = Array.from({ length: 1_000 }, (_, at) => `a${at}="1"`).join(" ");
    expect((await refusalOf(workbookOf({ rows: `<row ${attributes}/>` }))).reason).toBe("damaged");
    const endless = `<row a="${"x".repeat(2_000_000)}`;
    expect((await refusalOf(workbookOf({ rows: endless }))).reason).toBe("damaged");
  });
});

describe("a sheet that is too much", () => {
  it("has a cell in its farthest corner: the columns between are not made", async () => {
    const rows = textCells(1, ["a"]) + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>';
    expect(await refusalOf(workbookOf({ rows }))).toMatchObject({
      ...{ reason: "too-many-columns", place: "cell XFD1048576" },
    });
  });

  it("has a row in its last place: the rows between are not made", async () => {
    const rows = textCells(1, ["a"]) + '<row r="1048576"><c r="A1048576"><v>1</v></c></row>';
    const { rows: read } = await readContent(workbookOf({ rows }));
    expect(read).toEqual([{ row: 1_048_576, cells: [1] }]);
  });

  it("has 16,384 columns", async () => {
    const names = Array.from({ length: 16_384 }, (_, at) => letters(at));
    const refusal = await refusalOf(workbookOf({ rows: textCells(1, names) }));
    expect(refusal).toMatchObject({ reason: "too-many-columns", place: "cell GS1" });
    const csv = await refusalOf(`${names.join(",")}\n`);
    expect(csv).toMatchObject({ reason: "too-many-columns", place: "cell GS1" });
  });

  it("has a cell of 40,000 characters, in place, shared, or in a CSV", async () => {
    const long = "x".repeat(40_000);
    const inline = workbookOf({ rows: textCells(1, ["a"]) + textCells(2, [long]) });
    expect(await refusalOf(inline)).toMatchObject({ reason: "cell-too-long", place: "cell A2" });
    const shared = workbookOf({
      strings: stringItems(["a", long]),
      rows: '<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2" t="s"><v>1</v></c></row>',
    });
    expect(await refusalOf(shared)).toMatchObject({ reason: "cell-too-long", place: "cell A2" });
    expect(await refusalOf(`a,b\n1,${long}\n`)).toMatchObject({
      ...{ reason: "cell-too-long", place: "cell B2" },
    });
  });

  it("has more rows than are allowed", async () => {
    const rows = Array.from({ length: 12 }, (_, at) => textCells(at + 1, ["a", "b"])).join("");
    expect(await refusalOf(workbookOf({ rows }), { limits: { rows: 10 } })).toMatchObject({
      ...{ reason: "too-many-rows", place: "row 12" },
    });
    const { rows: eleven } = await readContent(workbookOf({ rows }), { limits: { rows: 11 } });
    expect(eleven).toHaveLength(11);
  });

  it("repeats one long text in every cell: a row of it is refused", async () => {
    const long = "x".repeat(32_000);
    const cells = Array.from(
      { length: 200 },
      (_, at) => `<c r="${letters(at)}2" t="s"><v>0</v></c>`,
    );
    const rows = `<row r="1"><c r="A1"><v>1</v></c></row><row r="2">${cells.join("")}</row>`;
    const refusal = await refusalOf(workbookOf({ strings: stringItems([long]), rows }), {
      headerRow: 1,
    });
    expect(refusal).toMatchObject({ reason: "cell-too-long", place: "cell AG2" });
  });

  it("repeats one long text in every row: it ends at four times what may be unpacked", async () => {
    const rows = Array.from(
      { length: 2_000 },
      (_, at) => `<row r="${at + 2}"><c r="A${at + 2}" t="s"><v>0</v></c></row>`,
    );
    const file = workbookOf({
      strings: stringItems(["x".repeat(30_000)]),
      rows: textCells(1, ["a"]) + rows.join(""),
    });
    const refusal = await refusalOf(file, { limits: { unpackedBytes: 200_000 } });
    expect(refusal.reason).toBe("bomb");
  });

  it("is larger than the file may be", async () => {
    const refusal = await refusalOf(workbookOf({ rows: ROWS }), { limits: { fileBytes: 100 } });
    expect(refusal).toMatchObject({ reason: "too-large" });
  });
});

describe("a file that is something else", () => {
  for (const [what, content] of Object.entries({
    "a PDF": "%PDF-1.7\n1 0 obj",
    "a web page": "<!DOCTYPE html><html><table><tr><td>1</td></tr></table></html>",
    "a table of a web page": "<table><tr><td>1</td></tr></table>",
    "an XML file": '<?xml version="1.0"?><Workbook/>',
    "a picture": Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
    "a program": Buffer.from("7f454c4602010100000000000000000002003e0001000000", "hex"),
    "an archive without entries": zipOf([]),
    "an OpenDocument file": zipOf([
      { name: "mimetype", data: "x" },
      { name: "content.xml", data: "<a/>" },
    ]),
    "a document": zipOf([
      { name: "[Content_Types].xml", data: "<a/>" },
      { name: "word/document.xml", data: "<a/>" },
    ]),
    "a binary workbook": zipOf([
      { name: "[Content_Types].xml", data: "<a/>" },
      { name: "xl/workbook.bin", data: "" },
    ]),
  })) {
    it(`is refused: ${what}`, async () => {
      const refusal = await refusalOf(content);
      expect(refusal.reason).toBe("not-a-spreadsheet");
      expect(refusal.message).toContain(".xlsx or .csv");
    });
  }

  it("is refused: an empty file, an empty sheet", async () => {
    expect((await refusalOf("")).reason).toBe("empty-sheet");
    expect((await refusalOf("\n\n\n")).reason).toBe("empty-sheet");
    expect((await refusalOf(workbookOf({ rows: "" }))).reason).toBe("empty-sheet");
    expect(
      (await refusalOf(workbookOf({ rows: '<row r="1"><c r="A1" s="1"/></row>' }))).reason,
    ).toBe("empty-sheet");
  });
});

it("columns that are hidden a thousand times over are gone through once", () => {
  const warnings = new SheetWarnings();
  let told = 0;
  const add = warnings.add.bind(warnings);
  warnings.add = (warning) => {
    told += 1;
    add(warning);
  };
  const options = { strings: null, styles: [], is1904: false, limits: DEFAULT_LIMITS, warnings };
  const tokens = new XmlTokens(new WorksheetSink({ ...options, onFull() {} }));
  const columns = '<col min="1" max="200" hidden="1"/>'.repeat(1_000);
  tokens.feed(Buffer.from(`<worksheet><cols>${columns}</cols></worksheet>`));
  tokens.run();
  tokens.end();
  expect(told).toBe(200);
  expect(warnings.all).toHaveLength(20);
});
