/** Files of many shapes read as other programs read them; where not, the page on spreadsheets says why. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import {
  differences,
  hucreGrid,
  libreOfficeGrid,
  sameAsHucre,
  sameAsLibreOffice,
  type Difference,
} from "./compare.ts";
import { hasLibreOffice } from "./libre-office.ts";
import { CORPUS, makeCorpus } from "./make-corpus.ts";
import { readAll, readContent, type ReadSheet } from "./read-all.ts";
import { SHAPES } from "./shapes/all-shapes.ts";
import type { Shape } from "./shapes/shape.ts";

const page = fileURLToPath(new URL("../../docs/reference/spreadsheets.md", import.meta.url));
/** `shape | other`, with the two values of the first cell that differs. */
const EXPLAINED = new Map<string, { ours?: string; theirs?: string }>(
  [
    ...readFileSync(page, "utf8").matchAll(
      /^\| `([^`]+)` +\| (LibreOffice|hucre) +\| `(.*?)` +\| `(.*?)` +\|/gm,
    ),
  ].map(
    ([, shape, other, ours, theirs]) =>
      [`${shape} | ${other}`, { ours: ours!, theirs: theirs! }] as const,
  ),
);
const met = new Set<string>();

const optionsOf = ({ sheet, headerRow }: Shape) => ({
  ...(sheet === undefined ? {} : { sheet }),
  ...(headerRow === undefined ? {} : { headerRow }),
});
const inCorpus = (name: string, folder = CORPUS) => join(folder, name);

function expectExplained(shape: Shape, other: string, found: readonly Difference[]): void {
  const key = `${shape.name} | ${other}`;
  const explained = EXPLAINED.get(key);
  if (explained === undefined) {
    expect(found).toEqual([]);
    return;
  }
  // LibreOffice may have mended it in its own writing.
  if (found.length === 0) return;
  met.add(key);
  expect(found[0]).toMatchObject(explained);
}

describe("a shape reads as others read it", () => {
  it("in more than fifty shapes", () => {
    expect(SHAPES.length).toBeGreaterThan(50);
    expect(new Set(SHAPES.map(({ name }) => name)).size).toBe(SHAPES.length);
  });

  it.each(SHAPES)("$name, as it was written", async (shape) => {
    const content = await shape.make();
    const sheet = await readContent(content, optionsOf(shape));
    expectExplained(
      shape,
      "hucre",
      differences(sheet, await hucreGrid(content, shape), sameAsHucre),
    );
    if (shape.isClosedToLibreOffice === true) return;
    expectExplained(
      shape,
      "LibreOffice",
      differences(sheet, exportOf(shape, CORPUS), sameAsLibreOffice),
    );
  });

  it.each(SHAPES.filter((shape) => shape.isClosedToLibreOffice !== true))(
    "$name, as LibreOffice has saved it",
    (shape) => compareSaved(shape, CORPUS),
  );

  it("but for what the page explains, and all of that", () => {
    expect([...met].toSorted()).toEqual([...EXPLAINED.keys()].toSorted());
  });
});

describe("the corpus", () => {
  it("has what LibreOffice wrote of each shape, and is small", () => {
    const names = readdirSync(CORPUS);
    const shapes = SHAPES.filter((shape) => shape.isClosedToLibreOffice !== true);
    expect(names.toSorted()).toEqual(
      shapes.flatMap(({ name }) => [`${name}.csv`, `${name}.xlsx`]).toSorted(),
    );
    const bytes = names.reduce((sum, name) => sum + statSync(inCorpus(name)).size, 0);
    expect(bytes).toBeLessThan(1_500_000);
  });

  it("is what LibreOffice writes today", { timeout: 600_000 }, async (test) => {
    onlyInFull(test);
    test.skip(!hasLibreOffice(), "LibreOffice is not installed (apt-get install libreoffice-calc)");
    const folder = await mkdtemp(join(tmpdir(), "holdfast-corpus-"));
    try {
      await makeCorpus(folder);
      for (const shape of SHAPES.filter((one) => one.isClosedToLibreOffice !== true)) {
        const csv = `${shape.name}.csv`;
        expect(readFileSync(inCorpus(csv, folder), "utf8"), csv).toBe(
          readFileSync(inCorpus(csv), "utf8"),
        );
        await compareSaved(shape, folder);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function compareSaved(shape: Shape, folder: string): Promise<void> {
  const file = inCorpus(`${shape.name}.xlsx`, folder);
  const sheet: ReadSheet = await readAll(file, optionsOf(shape));
  expectExplained(
    shape,
    "LibreOffice",
    differences(sheet, exportOf(shape, folder), sameAsLibreOffice),
  );
  const grid = await hucreGrid(readFileSync(file), shape);
  expectExplained(shape, "hucre", differences(sheet, grid, sameAsHucre));
}

function exportOf({ name }: Shape, folder: string): ReturnType<typeof libreOfficeGrid> {
  return libreOfficeGrid(readFileSync(inCorpus(`${name}.csv`, folder), "utf8"));
}
