/** A bar on stderr while something takes its time; nothing where no person looks. */
import type { Output } from "../io.ts";
import { clean } from "./clean.ts";
import { count } from "./words.ts";
import { cut } from "./text-width.ts";

const EVERY_MS = 100;

export class Progress {
  readonly #out: Output;
  readonly #isShown: boolean;
  #lastAt = 0;
  #isDrawn = false;

  constructor(out: Output, isShown: boolean) {
    this.#out = out;
    this.#isShown = isShown && out.isTTY;
  }

  /** `of` null: it is not known how many there are. */
  show(done: number, of: number | null, words = ""): void {
    const now = Date.now();
    if (!this.#isShown || (now - this.#lastAt < EVERY_MS && done !== of)) return;
    this.#lastAt = now;
    this.#isDrawn = true;
    const figures = of === null ? count(done) : `${count(done)} of ${count(of)}`;
    const line = `${bar(done, of)}${figures}${words === "" ? "" : `  ${clean(words)}`}`;
    this.#out.write(`\r\u001b[2K${cut(line, this.#out.columns - 1)}`);
  }

  end(): void {
    if (this.#isDrawn) this.#out.write("\r\u001b[2K");
    this.#isDrawn = false;
  }
}

const WIDTH = 24;

function bar(done: number, of: number | null): string {
  if (of === null || of === 0) return "";
  const full = Math.min(WIDTH, Math.round((done / of) * WIDTH));
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)} `;
}
