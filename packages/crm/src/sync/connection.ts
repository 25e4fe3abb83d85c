/** The other side, as one process sees it: a client, its gates, what must be there first, and what a refusal does. */
import type { Holdfast, RunningJob } from "holdfast";
import type { SyncSettings } from "./define-sync.ts";
import type { OperationHandler } from "./operation.ts";
import { GUIDANCE, type StaffAlert } from "./staff-alert.ts";
import { SyncGates } from "./sync-gates.ts";

interface Ensured {
  readonly version: string;
  readonly learnt: unknown;
}

export interface ConnectionTurn {
  readonly stale: ReadonlySet<string>;
  /** The handler is done, and nothing is settled yet. */
  onDone(): Promise<void>;
}

/** How soon a job comes back whose queue was paused under it. */
const PAUSED_MS = 1_000;
const TOLD_MS = 3_600_000;

export class Connection {
  readonly #hf: Holdfast;
  readonly #settings: SyncSettings<unknown>;
  readonly #gates: SyncGates;
  readonly #handlers = new Map<string, Promise<OperationHandler<unknown, unknown>>>();
  #client: { readonly made: unknown } | null = null;
  #setup: Promise<void> | null = null;
  #ensured: Promise<unknown> | null = null;

  constructor(hf: Holdfast, settings: SyncSettings<unknown>) {
    this.#hf = hf;
    this.#settings = settings;
    this.#gates = new SyncGates(hf, settings);
  }

  setup(): Promise<void> {
    this.#setup ??= this.#set().catch((error: unknown) => {
      this.#setup = null;
      throw error;
    });
    return this.#setup;
  }

  async run(word: string, job: RunningJob, turn: ConnectionTurn): Promise<unknown> {
    const { operations } = this.#settings;
    const { payload, signal } = job;
    try {
      await this.#ensureOnce();
      let loading = this.#handlers.get(word);
      if (!loading) {
        loading = operations[word]!.load();
        // A file that could not be read may be read the next time.
        loading.catch(() => this.#handlers.delete(word));
        this.#handlers.set(word, loading);
      }
      const handler = await loading;
      const { stale } = turn;
      const result = await handler.run({ payload, client: this.#made(), job, signal, stale });
      await turn.onDone();
      return result ?? null;
    } catch (error) {
      if (!this.#settings.pausesOnAuth || !this.#isAuth(error)) throw error;
      await this.#pause(word, job, error as Error);
      return job.snooze(PAUSED_MS);
    }
  }

  async client(): Promise<unknown> {
    await this.setup();
    await this.#ensureOnce();
    return this.#made();
  }

  /** What must be there on the other side; said to the fleet, so that the next process need not ask. */
  async ensure(signal: AbortSignal): Promise<unknown> {
    const { ensure, name } = this.#settings;
    if (ensure === null) return null;
    const learnt = (await ensure.run(this.#made(), signal)) ?? null;
    const key = `crm/${name}/ensured`;
    const known = await this.#hf.records.get<Ensured>(key);
    const value: Ensured = { version: ensure.version, learnt };
    if (JSON.stringify(known?.value) !== JSON.stringify(value)) {
      // A lost race: another process has ensured the same.
      await this.#hf.records.swap([{ key, expect: known?.version ?? null, value }]);
    }
    return learnt;
  }

  /** Many jobs wait for it: the end of the one that came first must not end it. */
  #ensureOnce(): Promise<unknown> {
    this.#ensured ??= this.#ensureFirst(new AbortController().signal).catch((error: unknown) => {
      this.#ensured = null;
      throw error;
    });
    return this.#ensured;
  }

  async #ensureFirst(signal: AbortSignal): Promise<void> {
    const { ensure, name } = this.#settings;
    if (ensure === null) return;
    const known = await this.#hf.records.get<Ensured>(`crm/${name}/ensured`);
    if (known?.value.version !== ensure.version) await this.ensure(signal);
    else ensure.remembered?.(this.#made(), known.value.learnt);
  }

  async #set(): Promise<void> {
    const { queue, keepDeadMs } = this.#settings;
    await this.#gates.set();
    const { keep } = await this.#hf.queues.get(queue);
    // What an operator has set counts more than code.
    if (keep.dead !== undefined) return;
    const dead = keepDeadMs === null ? null : { maxAgeMs: keepDeadMs };
    await this.#hf.queues.set(queue, { keep: { ...keep, dead } });
  }

  #made(): unknown {
    this.#client ??= { made: this.#settings.client(this.#gates.calls()) };
    return this.#client.made;
  }

  #isAuth(error: unknown): boolean {
    const said = this.#settings.classify(error);
    const category = typeof said === "string" ? said : said?.category;
    if (category !== undefined) return category === "auth";
    const { status } = Object(error) as { status?: unknown };
    return status === 401 || status === 403;
  }

  /** A person must help: jobs wait until then, and none is charged. */
  async #pause(word: string, job: RunningJob, error: Error): Promise<void> {
    const { name, queue, scopesUrl, onPause } = this.#settings;
    const { missingScopes = [] } = error as { missingScopes?: readonly string[] };
    const reason = `${error.message}`.slice(0, 400);
    await this.#hf.pause(queue, { by: "crm", reason });
    // Once for the fleet and hour: other jobs were refused in the same moment.
    const key = `crm/${name}/paused`;
    const [told] = await this.#hf.records.swap([
      { key, expect: null, value: { jobId: job.id }, ttlMs: TOLD_MS },
    ]);
    if (told?.swapped !== true) return;
    const alert: StaffAlert = {
      ...{ type: "integration_error", integration: name, id: `${name}.paused`, at: new Date() },
      ...{ jobId: job.id, jobIds: [job.id], count: 1, operation: word, error: error.message },
      ...{ retries: job.attempt - 1, guidance: GUIDANCE, missingScopes },
      link: missingScopes.length > 0 ? scopesUrl : null,
      message: `${name} is paused: ${error.message}. Put it right, then resume the queue ${queue}.`,
    };
    const { logger } = this.#hf.tools;
    logger.error(alert.message, { type: "integration_error", alert });
    try {
      await onPause?.(alert);
    } catch (trouble) {
      logger.error(`staff were not told that ${name} is paused`, { error: trouble });
    }
  }
}
