/** What happened, by type, and the table that says so. */
import type { EnqueueAnswer, Holdfast, JobItem } from "holdfast";

interface Row {
  added: number;
  duplicates: number;
  retried: number;
  succeeded: number;
  dead: number;
}

export class Tally {
  readonly #rows = new Map<string, Row>();
  readonly #finishedOf = new Map<string, number>();
  /** How far the others were when the last job of each group was done. */
  readonly turns: { readonly group: string; readonly othersDone: number }[] = [];
  lastWord = "";

  constructor(hf: Holdfast, groups: Readonly<Record<string, number>>) {
    hf.on("succeeded", ({ type, group }) => {
      this.#row(type).succeeded++;
      if (group !== null) this.#finished(group, groups[group] ?? 0);
    });
    hf.on("failed", ({ type, failure, willRetry, retryInMs }) => {
      if (!willRetry) return;
      this.#row(type).retried++;
      this.lastWord = `${type}: ${failure.message}; again in ${retryInMs} ms`;
    });
    hf.on("dead", ({ type, failure }) => {
      this.#row(type).dead++;
      this.lastWord = `${type}: ${failure.message}; dead`;
    });
  }

  enqueued(items: readonly JobItem[], answers: readonly EnqueueAnswer[]): void {
    answers.forEach((answer, at) => {
      if (answer.status === "refused") throw answer.error;
      const row = this.#row(items[at]?.type ?? "");
      if (answer.status === "added") row.added++;
      else row.duplicates++;
    });
  }

  table(): string {
    const heads = ["type", "added", "duplicates", "retried", "succeeded", "dead"] as const;
    const rows = [...this.#rows].toSorted(([a], [b]) => a.localeCompare(b));
    const cells = rows.map(([type, row]) => [
      type,
      ...heads.slice(1).map((head) => row[head as keyof Row]),
    ]);
    const sums = heads
      .slice(1)
      .map((_, at) => cells.reduce((sum, row) => sum + Number(row[at + 1]), 0));
    const line = (row: readonly (string | number)[]) =>
      row
        .map((cell, at) => (at === 0 ? String(cell).padEnd(16) : String(cell).padStart(11)))
        .join("");
    const rule = "─".repeat(16 + 11 * 5);
    return [line(heads), rule, ...cells.map(line), rule, line(["in all", ...sums])].join("\n");
  }

  #row(type: string): Row {
    let row = this.#rows.get(type);
    if (!row) {
      this.#rows.set(type, (row = { added: 0, duplicates: 0, retried: 0, succeeded: 0, dead: 0 }));
    }
    return row;
  }

  #finished(group: string, expected: number): void {
    const done = (this.#finishedOf.get(group) ?? 0) + 1;
    this.#finishedOf.set(group, done);
    if (done !== expected) return;
    const all = [...this.#finishedOf.values()].reduce((sum, count) => sum + count, 0);
    this.turns.push({ group, othersDone: all - done });
  }
}
