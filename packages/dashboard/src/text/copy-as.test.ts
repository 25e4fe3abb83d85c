import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { cliText, curlText, shellWord } from "./copy-as.ts";
import { csvText } from "./csv.ts";

describe("what is copied for a terminal", () => {
  it("is one word to a shell, whatever is in it", () => {
    for (const text of ["plain", "two words", "it's", "$(rm -rf /)", "`id`", '"', "a\nb", ""]) {
      const out = execFileSync("sh", ["-c", `printf %s ${shellWord(text)}`], { encoding: "utf8" });
      expect(out).toBe(text);
    }
  });

  it("has no token in it, only where to find one", () => {
    expect(cliText(["job", "a b"])).toBe("holdfast job 'a b'");
    expect(curlText("http://x/api", { method: "POST", body: { a: "it's" } })).toBe(
      `curl -sS -X POST -H "Authorization: Bearer $HOLDFAST_TOKEN" -H 'Content-Type: application/json' -d '{"a":"it'\\''s"}' http://x/api`,
    );
  });
});

describe("an export for a spreadsheet", () => {
  it("has no formulas, and quotes what would break a row", () => {
    const rows = [
      ["=1+1", 'say "x"', null, -3],
      ["@a", "b,c", "d\ne", 4],
    ] as const;
    expect(csvText(["a", "b", "c", "d"], rows)).toBe(
      `a,b,c,d\r\n'=1+1,"say ""x""",,-3\r\n'@a,"b,c","d\ne",4\r\n`,
    );
  });
});
