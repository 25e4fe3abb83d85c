/**
 * Times a stretch of a drain: from the start of job number `skip` to the start of job number
 * `skip + count`, with more work behind it. So every contender is measured in full swing, and what is
 * leased or settled at one edge of the stretch is made up for at the other.
 *
 * A drain that is far too slow is cut off: then its pace is that of the jobs it did start.
 */
export interface Pace {
  readonly jobsPerSecond: number;
  /** Of this process, in all its threads. */
  readonly cpuMicrosPerJob: number;
}

export interface StretchSize {
  /** Not measured: the code gets hot, the buffers fill. */
  readonly skip: number;
  readonly count: number;
  /** So long at most, from the beginning on. Default: as long as it takes. */
  readonly mostMs?: number;
}

export class Stretch {
  readonly #size: StretchSize;
  readonly #whole = new Stopwatch();
  readonly #watch = new Stopwatch();
  readonly #timer: NodeJS.Timeout | undefined;
  #started = 0;
  /** How many had started when the stretch began. */
  #from: number | null = null;
  #isOver = false;
  #isCut = false;
  #finish: (pace: Pace) => void = () => {};
  readonly done: Promise<Pace>;

  constructor(size: StretchSize) {
    this.#size = size;
    this.#whole.start();
    this.done = new Promise((resolve) => (this.#finish = resolve));
    if (size.mostMs !== undefined) this.#timer = setTimeout(() => this.#cut(), size.mostMs);
  }

  /** It took too long, and the rest of the work is still there. */
  get isCut(): boolean {
    return this.#isCut;
  }

  jobsStarted(jobs = 1): void {
    this.#started += jobs;
    if (this.#from === null) {
      if (this.#started <= this.#size.skip) return;
      this.#from = this.#started;
      this.#watch.start();
    } else if (this.#started - this.#from >= this.#size.count) this.#end();
  }

  #cut(): void {
    this.#isCut = true;
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    // Cut off before it was in full swing: then all that it did is measured.
    const pace =
      this.#from === null || this.#from === this.#started
        ? this.#whole.pace(this.#started)
        : this.#watch.pace(this.#started - this.#from);
    this.#finish(pace);
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
