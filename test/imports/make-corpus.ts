/**
 * Writes the corpus anew: each shape as LibreOffice saves it, and as it exports it to CSV.
 *
 *     node test/imports/make-corpus.ts [folder]
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { convert } from "./libre-office.ts";
import { SHAPES } from "./shapes/all-shapes.ts";

export const CORPUS = fileURLToPath(new URL("corpus", import.meta.url));

export async function makeCorpus(folder: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "holdfast-corpus-"));
  try {
    mkdirSync(join(work, "in"));
    const files: string[] = [];
    const shapes = SHAPES.filter((shape) => shape.isClosedToLibreOffice !== true);
    for (const shape of shapes) {
      const file = join(work, "in", `${shape.name}.xlsx`);
      writeFileSync(file, await shape.make());
      files.push(file);
    }
    convert(files, "csv", join(work, "csv"));
    convert(files, "xlsx", join(work, "xlsx"));
    mkdirSync(folder, { recursive: true });
    for (const { name, sheet } of shapes) {
      copyFileSync(join(work, "xlsx", `${name}.xlsx`), join(folder, `${name}.xlsx`));
      const exported = [sheet, "Sheet1", "Customers", "Many"]
        .map((one) => join(work, "csv", `${name}-${one}.csv`))
        .find(existsSync);
      if (exported === undefined) throw new Error(`LibreOffice has exported no sheet of ${name}`);
      copyFileSync(exported, join(folder, `${name}.csv`));
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.main) await makeCorpus(process.argv[2] ?? CORPUS);
