import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkBeginning, checkFileName, findInInbox, isAbsence } from "./inbox.ts";

let base: string;
let inbox: string;
beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-inbox-")));
  inbox = join(base, "inbox");
  mkdirSync(join(inbox, "deep"), { recursive: true });
  mkdirSync(join(inbox, "folder.csv"));
  writeFileSync(join(inbox, "a.csv"), "a,b\n");
  writeFileSync(join(inbox, "deep/b.csv"), "a,b\n");
  writeFileSync(join(base, "secret.csv"), "a,b\n");
  symlinkSync(join(base, "secret.csv"), join(inbox, "link.csv"));
  symlinkSync(base, join(inbox, "up"));
  linkSync(join(inbox, "a.csv"), join(inbox, "hard.csv"));
  mkdirSync(join(base, "inbox-beside"));
  writeFileSync(join(base, "inbox-beside/c.csv"), "a,b\n");
});
afterAll(() => rmSync(base, { recursive: true }));

const reason = (word: string) => expect.objectContaining({ reason: word }) as Error;

describe("a name", () => {
  it.each([
    "../a.xlsx",
    "a/b.xlsx",
    "C:\\a.xlsx",
    "a\0.xlsx",
    "",
    ".a.xlsx",
    "a..xlsx",
    "x".repeat(300),
  ])("%j is no name of a file", (name) =>
    expect(() => checkFileName(name)).toThrow(reason("bad-name")),
  );

  it.each(["a.xls", "a.xlsm", "a", "a.xlsx.exe"])("%s is no spreadsheet", (name) => {
    expect(() => checkFileName(name)).toThrow(reason("wrong-extension"));
  });

  it("may have blanks, other scripts and capitals", () => {
    for (const name of ["Größe 1.XLSX", "表.csv"]) expect(checkFileName(name)).toBe(name);
  });
});

describe("a path", () => {
  it("leads to a file in the inbox, from there or from where the process stands", async () => {
    for (const given of [
      "a.csv",
      "deep/b.csv",
      join(inbox, "a.csv"),
      relative(".", join(inbox, "a.csv")),
    ]) {
      const { path, isUpload } = await findInInbox(inbox, given);
      expect([path.startsWith(inbox), isUpload]).toEqual([true, false]);
    }
  });

  it.each([
    ["../secret.csv", "outside-inbox"],
    ["/etc/passwd", "outside-inbox"],
    ["deep/../../secret.csv", "outside-inbox"],
    ["../inbox-beside/c.csv", "outside-inbox"],
    ["a.csv\0.xlsx", "outside-inbox"],
    ["link.csv", "symbolic-link"],
    ["up/secret.csv", "symbolic-link"],
    ["none.csv", "missing-file"],
    ["folder.csv", "missing-file"],
    ["deep/b.txt", "wrong-extension"],
  ])("%j is refused", async (given, word) => {
    await expect(findInInbox(inbox, given)).rejects.toThrow(reason(word));
  });
});

it.each([
  ["bad.xlsx", "no zip", "wrong-type"],
  ["old.xlsx", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 1, 2]), "wrong-type"],
  ["zip.csv", "PK\u0003\u0004 and more", "wrong-type"],
  ["binary.csv", Buffer.from([1, 0, 2, 0]), "wrong-type"],
])("%s does not have the content that its name says", async (name, content, word) => {
  const path = join(inbox, name);
  writeFileSync(path, content);
  await expect(checkBeginning(path)).rejects.toThrow(reason(word));
});

it("a disk that does not answer is no file that is not there: the job is tried again", async () => {
  expect(["EIO", "ESTALE", "EACCES", "ETIMEDOUT"].some((code) => isAbsence({ code }))).toBe(false);
  const long = `${"x".repeat(300)}.csv`;
  await expect(findInInbox(inbox, long)).rejects.toThrow(reason("missing-file"));
});
