/** CSV files as people and programs write them. */
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inTier } from "../runner/tier.ts";
import { readContent, refusalOf } from "./read-all.ts";

const valuesOf = async (content: Buffer | string, options = {}) => {
  const { columns, rows } = await readContent(content, options);
  return [columns, ...rows.map(({ cells }) => cells)];
};
const TABLE = [
  ["name", "city"],
  ["Zoë", "Málaga"],
  ["Renée", "Köln"],
];
const written = (separator: string) => TABLE.map((row) => row.join(separator)).join("\n");

describe("an encoding is found", () => {
  const text = written(",");
  it.each([
    ["UTF-8", Buffer.from(text)],
    ["UTF-8 with a mark", Buffer.from(`\ufeff${text}`)],
    ["UTF-16 LE with a mark", Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16 BE with a mark", Buffer.from(`\ufeff${text}`, "utf16le").swap16()],
    ["UTF-16 LE without one", Buffer.from(text, "utf16le")],
    ["UTF-16 BE without one", Buffer.from(text, "utf16le").swap16()],
    ["Windows-1252", Buffer.from(text, "latin1")],
  ])("%s", async (_, content) => {
    expect(await valuesOf(content)).toEqual(TABLE);
  });

  it("by the whole file: a last line in Windows-1252 makes the file so", async () => {
    const rows = "x,y\n".repeat(40_000);
    const content = Buffer.concat([Buffer.from(`a,b\n${rows}`), Buffer.from([0x80, 44, 0xe9, 10])]);
    expect((await valuesOf(content)).at(-1)).toEqual(["€", "é"]);
  });

  it("across pieces of the file, in the middle of characters", async () => {
    for (const shift of [0, 1, 2, 3]) {
      const content =
        `a,b\n${"x".repeat(shift)},${"é東🦉".repeat(3_000)}\n`.repeat(1) + "1,2\n".repeat(1);
      const long = content + "é東🦉,z\n".repeat(20_000);
      expect((await valuesOf(long)).at(-1)).toEqual(["é東🦉", "z"]);
    }
  });

  it("or is given; a wrong one is told", async () => {
    const content = Buffer.from(written(","), "latin1");
    expect(await valuesOf(content, { csv: { encoding: "latin1" } })).toEqual(TABLE);
    const refusal = await refusalOf(content, { csv: { encoding: "utf-8" } });
    expect(refusal).toMatchObject({ reason: "bad-encoding", place: "near row 1" });
    expect((await refusalOf(Buffer.from("fffe0000610000002c000000", "hex"))).reason).toBe(
      "bad-encoding",
    );
  });
});

describe("a separator is found", () => {
  it.each([",", ";", "\t", "|"])("%j", async (separator) => {
    expect(await valuesOf(written(separator))).toEqual(TABLE);
  });

  it("also where another one is in the values", async () => {
    expect(await valuesOf("name;sum\na;1,50\nb;2,25\n")).toEqual([
      ["name", "sum"],
      ["a", "1,50"],
      ["b", "2,25"],
    ]);
    expect(await valuesOf('name,note\na,"x;y"\nb,"z;w"\n')).toEqual([
      ["name", "note"],
      ["a", "x;y"],
      ["b", "z;w"],
    ]);
  });

  it("by the line that Excel reads, which is no row; or is given", async () => {
    const { columns, headerRow, rows } = await readContent("sep=^\na^b\n1^2\n");
    expect({ columns, headerRow, rows }).toEqual({
      columns: ["a", "b"],
      headerRow: 1,
      rows: [{ row: 2, cells: ["1", "2"] }],
    });
    expect(await valuesOf("a#b\n1#2\n", { csv: { separator: "#" } })).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
    expect(await valuesOf("only\none\n")).toEqual([["only"], ["one"]]);
  });
});

describe("a record", () => {
  it("is a row, also an empty one and one with line breaks in it", async () => {
    const { rows } = await readContent('a,b\r\n\r\n"x\r\ny",1\r"z",2\n\n3,4');
    expect(rows).toEqual([
      { row: 3, cells: ["x\r\ny", "1"] },
      { row: 4, cells: ["z", "2"] },
      { row: 6, cells: ["3", "4"] },
    ]);
  });

  it("keeps quotes that are none, and text after a closing one", async () => {
    expect(await valuesOf('a,b,c\n5" pipe,"say ""hi""","x"y\n')).toEqual([
      ["a", "b", "c"],
      ['5" pipe', 'say "hi"', "xy"],
    ]);
  });

  it("has text only: zeros in front, dates and numbers stay as they were typed", async () => {
    expect(await valuesOf("zip,date,sum\n00501,01.02.2026,1e3\n")).toEqual([
      ["zip", "date", "sum"],
      ["00501", "01.02.2026", "1e3"],
    ]);
  });

  it("that is quoted and does not end is told where it begins", async () => {
    expect(await refusalOf('a,b\n1,2\n3,"x\n4,5\n')).toMatchObject({
      reason: "damaged",
      place: "row 3",
    });
  });

  it("of commas only takes no memory", async () => {
    const { rows } = await readContent(`a,b\n${",".repeat(3_000_000)}\n1,2\n`);
    expect(rows).toEqual([{ row: 3, cells: ["1", "2"] }]);
  });
});

it("any table reads as csv-parse reads it", async () => {
  const cell = fc.string({
    unit: fc.constantFrom("a", "é", " ", ",", ";", '"', "\n", "\r", "7", "🦉"),
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 8 }),
      async (rows) => {
        const quoted = (value: string) =>
          /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
        const text =
          [["x", "y", "z"], ...rows].map((one) => one.map(quoted).join(",")).join("\n") + "\n";
        const theirs = (parse(text, { skip_empty_lines: false }) as string[][]).slice(1);
        const { rows: ours } = await readContent(text, { csv: { separator: "," } });
        const filled = theirs
          .map((one) => one.map((value) => value || null))
          .filter((one) => one.some((value) => value !== null));
        expect(ours.map(({ cells }) => cells)).toEqual(filled);
      },
    ),
    { numRuns: inTier({ daily: 100, full: 2_000 }) },
  );
});
