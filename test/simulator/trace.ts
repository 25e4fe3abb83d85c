/**
 * What happened, line by line: the last lines for people, a hash of all of them for the promise that
 * one seed gives one history. Jobs have short names here (`j12`), in the order they first appeared.
 */
const KEPT_LINES = 60_000;

interface Line {
  readonly text: string;
  readonly jobs: readonly string[];
}

export class Trace {
  readonly #names = new Map<string, string>();
  #named = 0;
  #lines: Line[] = [];
  #older: Line[] = [];
  #high = 0x811c9dc5;
  #low = 0x9dc5811c;

  name(jobId: string): string {
    let name = this.#names.get(jobId);
    if (name === undefined) {
      name = `j${(this.#named += 1)}`;
      this.#names.set(jobId, name);
    }
    return name;
  }

  /** The job is gone and will not be spoken of again. */
  forget(jobId: string): void {
    this.#names.delete(jobId);
  }

  note(text: string, jobs: readonly string[] = []): void {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      this.#high = Math.imul(this.#high ^ code, 0x01000193);
      this.#low = Math.imul(this.#low ^ (code + at), 0x85ebca6b);
    }
    this.#lines.push({ text, jobs });
    if (this.#lines.length < KEPT_LINES) return;
    this.#older = this.#lines;
    this.#lines = [];
  }

  get hash(): string {
    const hex = (part: number) => (part >>> 0).toString(16).padStart(8, "0");
    return hex(this.#high) + hex(this.#low);
  }

  /** The last lines that speak of this job or of everybody; of everything if no job is named. */
  last(count: number, jobId?: string): string[] {
    const name = jobId === undefined ? undefined : this.#names.get(jobId);
    const isAbout = ({ jobs }: Line) =>
      name === undefined || jobs.length === 0 || jobs.includes(name);
    return [...this.#older, ...this.#lines]
      .filter(isAbout)
      .slice(-count)
      .map(({ text }) => text);
  }
}
