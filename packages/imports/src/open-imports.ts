/** Opens imports on a Holdfast: defines their jobs, and looks whether the inbox will do. */
import type { Holdfast } from "holdfast";
import { Imports } from "./imports.ts";
import type { ImportsOptions } from "./imports-options.ts";
import { openSheet } from "./read/open-sheet.ts";

export function openImports(hf: Holdfast, options: ImportsOptions): Promise<Imports> {
  return Imports.open(hf, options, openSheet);
}
