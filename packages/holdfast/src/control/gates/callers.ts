/**
 * Calls outside of jobs that wait for a gate, in the order in which they came: a dear one in front is not passed
 * by cheap ones for ever.
 */
import { GateNotFoundError } from "../../core/errors.ts";
import { sleep } from "../../engine/runtime.ts";
import type { GateKeeper } from "./gate-keeper.ts";
import { CALL_PROBE_MS } from "./meter.ts";

/** A gate may be changed meanwhile: it is looked at again at least this often. */
const LONGEST_WAIT_MS = 1_000;

/** One whose grant is over went well: a later report is of another call. */
interface Probe {
  readonly id: string;
  /** Monotonic. */
  readonly until: number;
}

interface Call {
  readonly cost: number;
  readonly group: string | null;
  readonly signal: AbortSignal | null;
}

export class Callers {
  readonly #keeper: GateKeeper;
  /** The last in line, by gate and group. */
  readonly #lines = new Map<string, Promise<void>>();
  readonly #probes = new Map<string, readonly Probe[]>();
  #closed: Error | null = null;
  /** Ends each wait. Not one promise that all race against: it would keep something of every call for ever. */
  readonly #waits = new Set<(reason: unknown) => void>();

  constructor(keeper: GateKeeper) {
    this.#keeper = keeper;
  }

  async acquire(name: string, call: Call): Promise<void> {
    const key = `${name}/${call.group ?? ""}`;
    const before = this.#lines.get(key) ?? Promise.resolve();
    const own = this.#acquire(name, call, before);
    const done = own.catch(() => {}).then(() => before);
    this.#lines.set(key, done);
    try {
      await own;
    } finally {
      if (this.#lines.get(key) === done) this.#lines.delete(key);
    }
  }

  /** The oldest probe of a call that was not reported yet. */
  probeOf(name: string, group: string | null): string | null {
    const key = `${name}/${group ?? ""}`;
    const [oldest, ...others] = this.#unreported(key);
    if (others.length === 0) this.#probes.delete(key);
    else this.#probes.set(key, others);
    return oldest?.id ?? null;
  }

  refuseClosed(): void {
    if (this.#closed) throw this.#closed;
  }

  close(reason: Error): void {
    this.#closed = reason;
    for (const end of this.#waits) end(reason);
  }

  async #acquire(name: string, call: Call, before: Promise<void>): Promise<void> {
    await this.#unlessAborted(before, call.signal);
    for (;;) {
      this.refuseClosed();
      call.signal?.throwIfAborted();
      await this.#keeper.book.readAgain();
      const gate = this.#keeper.book.get(name);
      if (!gate) throw new GateNotFoundError(`gate "${name}" was removed while a call waited`);
      const meter = this.#keeper.meterOf(gate, call.group);
      const pass = await meter.obtain({ cost: call.cost, isCall: true });
      if (pass) {
        if (call.signal?.aborted) meter.refund(pass);
        else if (pass.probe !== null) this.#note(`${name}/${call.group ?? ""}`, pass.probe);
        call.signal?.throwIfAborted();
        return;
      }
      const waitMs = Math.min(Math.max(1, meter.blockedMs), LONGEST_WAIT_MS);
      await this.#unlessAborted(sleep(this.#keeper.runtime, waitMs), call.signal);
    }
  }

  #note(key: string, id: string): void {
    const until = this.#keeper.runtime.monotonic() + CALL_PROBE_MS;
    this.#probes.set(key, [...this.#unreported(key), { id, until }]);
  }

  #unreported(key: string): readonly Probe[] {
    const now = this.#keeper.runtime.monotonic();
    return (this.#probes.get(key) ?? []).filter(({ until }) => until > now);
  }

  async #unlessAborted(wait: Promise<void>, signal: AbortSignal | null): Promise<void> {
    this.refuseClosed();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    const abort = () => ended.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    this.#waits.add(ended.reject);
    try {
      await Promise.race([wait, ended.promise]);
    } finally {
      this.#waits.delete(ended.reject);
      signal?.removeEventListener("abort", abort);
    }
  }
}
