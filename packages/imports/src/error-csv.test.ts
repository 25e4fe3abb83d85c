import { expect, it } from "vitest";
import { csvCell, errorCsv } from "./error-csv.ts";

it("a text that a spreadsheet would run is only a text", () => {
  for (const text of ["=HYPERLINK(1)", "+cmd", "-1+1", "@x", "\tx", "\rx", "＝1+1"]) {
    expect(csvCell(text).replace(/^"/, "")).toMatch(/^'/);
  }
  expect(csvCell("a = b")).toBe("a = b");
});

it("quotes, separators and lines stay inside of their cell", () => {
  expect(errorCsv([{ row: 7, reason: 'name: "x", or\nno' }])).toBe(
    '\uFEFFrow,reason\r\n7,"name: ""x"", or\nno"\r\n',
  );
});
