/** The glossary is not a wish list: its words are the code's words. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Row {
  readonly words: readonly string[];
  readonly means: string;
  /** Synonyms that may not occur in an exported name. */
  readonly banned: readonly string[];
}

const rows: readonly Row[] = readFileSync(join(root, "docs/glossary.md"), "utf8")
  .split("\n")
  .filter((line) => line.startsWith("| **"))
  .map((line) => {
    const [, word = "", means = "", not = ""] = line.split("|");
    return {
      words: [...word.matchAll(/\*\*([^*]+)\*\*/g)].map((match) => match[1] as string),
      means: means.trim(),
      banned: [...not.matchAll(/`([^`]+)`/g)].map((match) => match[1] as string),
    };
  });
const words = rows.flatMap((row) => row.words);

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .map((name) => join(root, folder, name));
}

/** `export class A`, `export const B`, `export { C, D as E }`. */
function exportedNames(source: string): string[] {
  const declared = source.matchAll(
    /^export (?:declare |abstract |async )*(?:const|let|function\*?|class|interface|type) (\w+)/gm,
  );
  const listed = source.matchAll(/^export (?:type )?\{([^}]*)\}/gm);
  return [
    ...[...declared].map((match) => match[1] as string),
    ...[...listed].flatMap((match) => (match[1] as string).match(/\w+(?=\s*(?:,|$))/g) ?? []),
  ];
}

/** `checkEnqueueOptions` and `MAX_KEY_CHARS` as lower case words. */
function wordsOf(name: string): string[] {
  return name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_")
    .toLowerCase()
    .split("_");
}

describe("docs/glossary.md", () => {
  it("explains each word once, in whole sentences", () => {
    expect(rows.length).toBeGreaterThan(15);
    expect(new Set(words).size).toBe(words.length);
    for (const { means } of rows) expect(means).toMatch(/^[A-Z].+\.$/);
  });

  it("bans no word that it uses itself", () => {
    expect(rows.flatMap((row) => row.banned).filter((word) => words.includes(word))).toEqual([]);
  });

  // Comments wrap, so that a word of two words may be split by a line break and a star.
  const code = sources("packages/holdfast/src")
    .map((file) => readFileSync(file, "utf8").replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, " "))
    .join("\n");

  it.each(words)("%s is a word of the code", (word) => {
    expect(code).toMatch(new RegExp(`\\b${word}s?\\b`, "i"));
  });
});

describe("exported names", () => {
  const files = [
    ...sources("packages/holdfast/src/core"),
    join(root, "packages/holdfast/src/index.ts"),
  ].filter(existsSync);
  const names = [...new Set(files.flatMap((file) => exportedNames(readFileSync(file, "utf8"))))];

  it("are found", () => {
    expect(names).toContain("HoldfastError");
    expect(names).toContain("defineJob");
    expect(names).toContain("JobStatus");
  });

  it.each(rows.filter((row) => row.banned.length > 0))("say $words, not $banned", ({ banned }) => {
    const guilty = names.filter((name) =>
      wordsOf(name).some(
        (word) => banned.includes(word) || banned.includes(word.replace(/s$/, "")),
      ),
    );
    expect(guilty).toEqual([]);
  });
});
