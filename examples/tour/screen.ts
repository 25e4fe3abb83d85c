/** Live progress: a block that redraws itself on a terminal, an occasional line elsewhere. */
export interface Look {
  readonly ready: number;
  readonly delayed: number;
  readonly processing: number;
  readonly done: number;
}

const BAR = 24;
const PLAIN_EVERY_MS = 1_000;

export class Screen {
  readonly #out = process.stdout;
  readonly #began = performance.now();
  #height = 0;
  #lastPlain = -Infinity;

  show(queues: ReadonlyMap<string, Look>, words: readonly string[]): void {
    const elapsed = `${((performance.now() - this.#began) / 1_000).toFixed(1)} s`;
    if (!this.#out.isTTY) {
      if (performance.now() - this.#lastPlain < PLAIN_EVERY_MS) return;
      this.#lastPlain = performance.now();
      const sum = (key: keyof Look) =>
        [...queues.values()].reduce((all, look) => all + look[key], 0);
      const parts = (["ready", "delayed", "processing", "done"] as const).map(
        (key) => `${key} ${sum(key)}`,
      );
      this.#out.write(`${elapsed.padStart(6)}  ${parts.join("  ")}\n`);
      return;
    }
    const lines = [...queues].map(([queue, look]) => row(queue, look));
    this.#redraw([`${elapsed.padStart(6)}`, ...lines, ...words]);
  }

  #redraw(lines: readonly string[]): void {
    const width = this.#out.columns || 80;
    const text = lines.map((line) => `${line.slice(0, width - 1)}\u001b[K\n`).join("");
    // Up to where the last block began, over it, and away with what is left below.
    this.#out.write(`${this.#height > 0 ? `\u001b[${this.#height}A` : ""}${text}\u001b[J`);
    this.#height = lines.length;
  }
}

function row(queue: string, { ready, delayed, processing, done }: Look): string {
  const all = ready + delayed + processing + done;
  const filled = all === 0 ? 0 : Math.round((BAR * done) / all);
  const bar = "█".repeat(filled) + "░".repeat(BAR - filled);
  const numbers = [
    `${String(done).padStart(4)} done`,
    `${String(processing).padStart(4)} leased`,
    `${String(ready).padStart(4)} ready`,
    `${String(delayed).padStart(3)} later`,
  ];
  return `  ${queue.padEnd(13)} ${bar} ${numbers.join("  ")}`;
}
