/** What happened to jobs since the last look, in two reads for all listeners together. */
import type { Holdfast, JobListing } from "holdfast";

const MOST = 200;
/** A job may be stored as finished a little after its time. */
const OVERLAP_MS = 2_000;

export interface JobChange {
  readonly id: string;
  readonly type: string;
  readonly queue: string;
  readonly group: string | null;
  readonly status: JobListing["status"];
  readonly attempts: number;
  readonly at: Date | null;
}

export class JobChanges {
  readonly #hf: Holdfast;
  #seen = new Map<string, string>();
  #since: number | null = null;

  constructor(hf: Holdfast) {
    this.#hf = hf;
  }

  /** The first look after a pause only notes what is there. */
  async look(): Promise<{ readonly changes: readonly JobChange[]; readonly isCut: boolean }> {
    const now = (await this.#hf.tools.ping()).getTime();
    const since = this.#since;
    const page = { limit: MOST, without: "payloads" } as const;
    const [running, finished] = await Promise.all([
      this.#hf.jobs({ status: "processing", ...page }),
      this.#hf.jobs({
        status: ["succeeded", "dead", "cancelled"],
        finishedFrom: new Date((since ?? now) - OVERLAP_MS),
        ...page,
      }),
    ]);
    const jobs = [...finished.jobs, ...running.jobs];
    const before = this.#seen;
    const marked = jobs.map((job) => [job, `${job.status} ${timeOf(job)?.getTime()}`] as const);
    this.#seen = new Map(marked.map(([job, mark]) => [job.id, mark]));
    this.#since = now;
    if (since === null) return { changes: [], isCut: false };
    const changed = marked.filter(([job, mark]) => before.get(job.id) !== mark);
    return {
      changes: changed.map(([job]) => changeOf(job)),
      isCut: running.nextCursor !== null || finished.nextCursor !== null,
    };
  }

  forget(): void {
    this.#since = null;
    this.#seen.clear();
  }
}

function timeOf(job: JobListing): Date | null {
  return job.finishedAt ?? job.startedAt;
}

function changeOf(job: JobListing): JobChange {
  const { id, type, queue, group, status, attempts } = job;
  return { id, type, queue, group, status, attempts, at: timeOf(job) };
}
