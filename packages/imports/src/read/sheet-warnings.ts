/** What the reader noticed: bounded, and so many of each kind that one of them does not hide the others. */
import type { SheetWarning } from "./sheet.ts";

const MAX_OF_A_KIND = 20;

export class SheetWarnings {
  #all: readonly SheetWarning[] = [];
  readonly #counts = new Map<SheetWarning["code"], number>();
  #told = 0;

  get all(): readonly SheetWarning[] {
    return this.#all;
  }

  /** There are as many of this kind as are told. */
  isFull(code: SheetWarning["code"]): boolean {
    return this.#counts.get(code) === MAX_OF_A_KIND;
  }

  add(warning: SheetWarning): void {
    const count = this.#counts.get(warning.code) ?? 0;
    if (count === MAX_OF_A_KIND) return;
    this.#counts.set(warning.code, count + 1);
    this.#all = [...this.#all, warning];
  }

  /** Titles above a table are merged as a rule, and nothing of them is read. */
  forgetMergedAbove(row: number): void {
    this.#all = this.#all.filter((one) => one.code !== "merged-cell" || one.row >= row);
  }

  /** Those that were added since it was last asked. */
  news(): readonly SheetWarning[] {
    const news = this.#all.slice(this.#told);
    this.#told = this.#all.length;
    return news;
  }
}
