/**
 * Times a stretch of a drain: from the start of job number `skip` to the start of job number
 * `skip + count`, with more work behind it. So every contender is measured in full swing, and what is
 * leased or settled at one edge of the stretch is made up for at the other.
 */
export interface Pace {
  readonly jobsPerSecond: number;
  /** Of this process, in all its threads. */
  readonly cpuMicrosPerJob: number;
}

export class Stretch {
  readonly #skip: number;
  readonly #end: number;
  readonly #count: number;
  readonly #watch = new Stopwatch();
  #started = 0;
  #finish: (pace: Pace) => void = () => {};
  readonly done: Promise<Pace>;

  constructor({ skip, count }: { readonly skip: number; readonly count: number }) {
    this.#skip = skip;
    this.#count = count;
    this.#end = skip + count;
    this.done = new Promise((resolve) => (this.#finish = resolve));
  }

  jobStarted(): void {
    this.#started += 1;
    if (this.#started === this.#skip + 1) this.#watch.start();
    else if (this.#started === this.#end + 1) this.#finish(this.#watch.pace(this.#count));
  }
}

export class Stopwatch {
  #at = 0;
  #cpu: NodeJS.CpuUsage = process.cpuUsage();

  start(): void {
    this.#cpu = process.cpuUsage();
    this.#at = performance.now();
  }

  pace(jobs: number): Pace {
    const seconds = (performance.now() - this.#at) / 1_000;
    const { user, system } = process.cpuUsage(this.#cpu);
    return { jobsPerSecond: jobs / seconds, cpuMicrosPerJob: (user + system) / jobs };
  }
}
