/**
 * One gate (or one group of it) in this process: takes grants in chunks, hands them out, gives back what was
 * not used, and tells the fleet of failures.
 *
 * A queue that was empty at the last look gets one job without a grant: its grant is taken once the job is here,
 * so that a process that only polls pays nothing.
 */
import type { ProbeResult } from "../../core/breaker.ts";
import { failuresInWindow } from "../../core/breaker.ts";
import { StoreUnavailableError } from "../../core/errors.ts";
import {
  askGate,
  coolDown,
  noteFailures,
  noteProbe,
  returnTokens,
  type Answer,
  type GateState,
  type HeldBy,
} from "../../core/gate-state.ts";
import type { Runtime, Timer } from "../../engine/runtime.ts";
import { CHUNK_MS, Chunks, type Pass, type Unused } from "./chunks.ts";
import { GateCell, type CellOptions } from "./gate-cell.ts";
import type { Gate } from "./gate-options.ts";

/** Failures are gathered for so long, unless they are enough to open the breaker. */
const GATHER_MS = 200;
/** While probes are out, another process may close the breaker at any time. */
const HALF_OPEN_MS = 500;
/** At least so long between two looks at a rate that has run out, if its burst allows: many small steps cost more. */
const LONGEST_STEP_MS = 20;
/** A breaker's state is looked at so often while nothing happens: a hold may have to be lifted. */
const IDLE_LOOK_MS = 5_000;
const MOST_TRIES = 5;
const CROWDED_MS = 50;
/** A breaker that is about to open lets nothing start while that is stored. */
const UNTIL_TOLD_MS = 100;
const PROBE_MS = 30_000;
export const CALL_PROBE_MS = 10_000;

export interface MeterOptions extends CellOptions {
  /** The breaker or the cooldown has changed: holds follow. */
  readonly onTurn: (meter: Meter) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}

export interface Wanted {
  readonly cost: number;
  readonly isCall: boolean;
}

interface HeldLine {
  readonly until: number;
  /** Of the job for which it was held. */
  readonly fence: number;
  readonly done: Promise<void>;
}

export class Meter {
  readonly cell: GateCell;
  /** Null: of the whole gate. */
  readonly group: string | null;
  readonly #options: MeterOptions;
  readonly #chunks: Chunks;
  #blockedUntil = -Infinity;
  #heldBy: HeldBy | null = null;
  #taking: Promise<void> | null = null;
  #waiting = 0;
  /** The last time all that was wanted was granted. */
  #isPlenty = false;
  /** By queue: its last lease brought something. */
  readonly #busy = new Set<string>();
  readonly #scouts = new Set<string>();
  /** By queue: the hold of its line. */
  readonly #held = new Map<string, HeldLine>();
  #sweeping: Timer | null = null;
  #isClosed = false;
  #failures = 0;
  #gathering: Timer | null = null;

  constructor(key: string, gate: Gate, group: string | null, options: MeterOptions) {
    this.cell = new GateCell(key, gate, options);
    this.group = group;
    this.#options = options;
    this.#chunks = new Chunks(options.runtime);
  }

  get gate(): Gate {
    return this.cell.gate;
  }

  /** Nothing would be lost if it were forgotten. */
  get isIdle(): boolean {
    return this.#chunks.isEmpty && this.#waiting === 0 && this.#failures === 0 && !this.#taking;
  }

  /** Gives back and tells what there is, and does nothing more by itself. */
  async close(): Promise<void> {
    this.#sweeping?.cancel();
    await this.tell();
    this.#chunks.expireAll();
    this.#isClosed = true;
    await this.#giveBack();
  }

  /** The gate has changed. */
  follow(gate: Gate): void {
    this.cell.gate = gate;
    this.cell.forget();
    this.#chunks.expireAll();
    this.#blockedUntil = -Infinity;
    this.#sweepSoon();
  }

  /** How long nothing will be granted, as far as is known here; 0: ask. */
  get blockedMs(): number {
    return Math.max(0, Math.ceil(this.#blockedUntil - this.#runtime.monotonic()));
  }

  get heldBy(): HeldBy | null {
    return this.blockedMs > 0 ? this.#heldBy : null;
  }

  /** Its breaker is not closed, or it cooled down: as far as is known here. */
  get isTurned(): boolean {
    const { breaker, cooldownUntil } = this.cell.state ?? {};
    const isCooling = (cooldownUntil ?? -Infinity) > (this.cell.clockMs ?? Infinity);
    return (breaker?.state ?? "closed") !== "closed" || isCooling;
  }

  /** How many jobs of a queue may be leased. */
  async admit(queue: string, wanted: number): Promise<{ jobs: number; nextInMs: number | null }> {
    // A small rest would make a small lease: where there is plenty, more is taken first.
    const isEnough = this.#chunks.available >= (this.#isPlenty ? wanted : 1);
    if (isEnough) return { jobs: this.#chunks.promise(wanted), nextInMs: null };
    if (this.blockedMs > 0) return { jobs: 0, nextInMs: this.blockedMs };
    if (!this.#busy.has(queue) && (await this.#maySendScout())) {
      this.#scouts.add(queue);
      return { jobs: 1, nextInMs: null };
    }
    await this.#take({ cost: 1, isCall: false }, wanted);
    const jobs = this.#chunks.promise(wanted);
    return { jobs, nextInMs: jobs > 0 ? null : Math.max(1, this.blockedMs) };
  }

  /** Another gate let fewer through. */
  unpromise(jobs: number): void {
    if (jobs > 0) this.#chunks.unpromise(jobs);
  }

  /** What came of an admission. */
  leased(queue: string, granted: number, taken: number): void {
    if (taken > 0) this.#busy.add(queue);
    else this.#busy.delete(queue);
    if (!this.#scouts.delete(queue)) this.#chunks.unpromise(granted - taken);
    if (taken > 0) return;
    this.#chunks.expireIdle();
    this.#sweepSoon();
  }

  /** What one start needs; null: it is held back for `blockedMs`. */
  async obtain(wanted: Wanted): Promise<Pass | null> {
    this.#waiting += wanted.cost;
    try {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const pass = this.spend(wanted.cost);
        if (pass) return pass;
        if (this.blockedMs > 0) return null;
        await this.#take(wanted, this.#waiting);
      }
      const pass = this.spend(wanted.cost);
      // A store that answers so late that grants are over when they come, or others who are quicker.
      if (!pass && this.blockedMs === 0) this.#block("rate", CROWDED_MS);
      return pass;
    } finally {
      this.#waiting -= wanted.cost;
    }
  }

  /** What one start needs, if it is here already. */
  spend(cost: number): Pass | null {
    return this.#chunks.spend(cost);
  }

  /** It was granted and did not run. */
  refund(pass: Pass): void {
    this.#chunks.refund(pass);
    this.#sweepSoon();
  }

  /** The other side asks for patience. */
  async coolDown(forMs: number): Promise<void> {
    await this.#change((state, now) => coolDown(state, this.gate, forMs, now));
  }

  /** How a start ended, as far as it says something of the other side. */
  report(probe: string | null, result: ProbeResult): void {
    if (probe !== null) {
      this.#change((state, now) => noteProbe(state, this.gate, { id: probe, result }, now)).catch(
        this.#options.onTrouble,
      );
    } else if (result === "failed" && this.gate.breaker) {
      this.#failures += 1;
      if (this.#opensNow()) {
        // Here at once; the fleet hears of it when it is stored.
        this.#chunks.expireAll();
        this.#block("breaker", UNTIL_TOLD_MS);
        void this.tell();
      } else this.#gathering ??= this.#later(GATHER_MS, () => void this.tell());
    }
  }

  /** Stores what was gathered. */
  async tell(): Promise<void> {
    this.#gathering?.cancel();
    this.#gathering = null;
    const count = this.#failures;
    this.#failures = 0;
    if (count === 0) return;
    try {
      await this.#change((state, now) => noteFailures(state, this.gate, count, now));
    } catch (error) {
      // Counted twice would be worse than not at all.
      const isSure = error instanceof StoreUnavailableError && !error.mayHaveHappened;
      if (isSure) this.#failures += count;
      this.#options.onTrouble(error);
    }
  }

  /**
   * Once for all jobs of a line that came together. A job that was leased later came although the line was held:
   * another process has put a shorter hold in its place, and this one is put there again. Without it the job would
   * be leased and go back as fast as the store answers.
   */
  async holdLine(
    { queue, fence }: { readonly queue: string; readonly fence: number },
    hold: (forMs: number) => Promise<void>,
  ): Promise<void> {
    const forMs = this.blockedMs;
    // Forced: the hold is there already, and has no end.
    if (forMs <= 0 || this.#heldBy === "forced") return;
    let held = this.#held.get(queue);
    if (!held || held.until !== this.#blockedUntil || fence > held.fence) {
      held = { until: this.#blockedUntil, fence, done: hold(forMs) };
      this.#held.set(queue, held);
      held.done.catch(() => this.#held.delete(queue));
    }
    await held.done;
  }

  get #runtime(): Runtime {
    return this.#options.runtime;
  }

  #opensNow(): boolean {
    const { breaker } = this.gate;
    const state = this.cell.state?.breaker;
    if (!breaker) return false;
    // The window may have moved on; then it is told a little early.
    const known = state ? failuresInWindow(state, breaker, -Infinity) : 0;
    return this.#failures + known >= breaker.failures;
  }

  /** Not while a hold must be lifted first: behind it a scout finds nothing. */
  async #maySendScout(): Promise<boolean> {
    if (!this.gate.breaker) return true;
    if (this.cell.ageMs > IDLE_LOOK_MS) await this.cell.read();
    return this.cell.state?.breaker.state !== "open";
  }

  /** One call at a time; whoever comes meanwhile waits for it and looks again. */
  #take(wanted: Wanted, count: number): Promise<void> {
    this.#taking ??= this.#takeNow(wanted, count).finally(() => (this.#taking = null));
    return this.#taking;
  }

  async #takeNow({ cost, isCall }: Wanted, count: number): Promise<void> {
    let askedAt = 0;
    const unused = this.#chunks.collect();
    const wanted = Math.max(cost, count);
    const ahead = Math.max(0, 2 * this.#chunks.lately() - wanted);
    const probeMs = isCall ? CALL_PROBE_MS : Math.max(PROBE_MS, this.gate.breaker?.openMs ?? 0);
    const turned = this.#watch();
    const { answer, now } = await this.cell.change((state, now, mark) => {
      askedAt = this.#runtime.monotonic();
      const back = this.#given(state, unused, now);
      const ask = { least: cost, wanted, ahead, mark, probeMs, isCall };
      const [after, answer] = askGate(back, this.gate, ask, now);
      return [after, { answer, now }];
    });
    await turned();
    this.#isPlenty = answer.granted >= wanted;
    if (answer.granted === 0) return this.#deny(answer);
    this.#blockedUntil = -Infinity;
    this.#chunks.add(answer.granted, { askedAt, takenAt: now, probes: answer.probes });
    this.#sweeping ??= this.#later(CHUNK_MS, () => this.#sweep());
  }

  #deny({ heldBy, waitMs }: Answer): void {
    let ms = waitMs ?? HALF_OPEN_MS;
    if (heldBy === "breaker" && this.cell.state?.breaker.state !== "open") {
      ms = Math.min(ms, HALF_OPEN_MS);
    }
    if (heldBy === "rate") ms = Math.max(ms, this.#stepMs());
    this.#block(heldBy, ms);
  }

  #block(heldBy: HeldBy | null, ms: number): void {
    this.#heldBy = heldBy;
    this.#blockedUntil = this.#runtime.monotonic() + Math.max(1, ms);
  }

  /** In small steps, but not for every single token of a fast rate. */
  #stepMs(): number {
    const halfBursts = this.gate.rates.map(
      ({ limit, perMs, burst }) => ((burst / 2) * perMs) / limit,
    );
    return Math.min(LONGEST_STEP_MS, ...halfBursts);
  }

  #given(state: GateState, { tokens, probes }: Unused, now: number): GateState {
    let after = state;
    if (tokens.length > 0 && this.gate.rates.length > 0) {
      after = returnTokens(after, this.gate, tokens, now);
    }
    for (const id of probes) after = noteProbe(after, this.gate, { id, result: "unknown" }, now);
    return after;
  }

  async #change(step: (state: GateState, now: number) => GateState): Promise<void> {
    const turned = this.#watch();
    await this.cell.change((state, now) => [step(state, now), undefined]);
    await turned();
  }

  /** Call it before a change, and what it answers afterwards. */
  #watch(): () => Promise<void> {
    const before = this.#standing;
    return async () => {
      if (this.#standing === before) return;
      const isHeld = this.cell.state?.breaker.state === "open" || this.cell.state?.cooldownUntil;
      if (isHeld) this.#chunks.expireAll();
      else this.#blockedUntil = -Infinity;
      await this.#options.onTurn(this);
    };
  }

  /** What holds follow. */
  get #standing(): string {
    const { breaker, cooldownUntil } = this.cell.state ?? {};
    const until = breaker?.state === "open" ? breaker.until : "";
    return `${breaker?.state ?? "closed"} ${until} ${cooldownUntil ?? ""}`;
  }

  #sweepSoon(): void {
    this.#sweeping?.cancel();
    this.#sweeping = this.#later(0, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = null;
    void this.#giveBack();
    if (!this.#chunks.isEmpty) this.#sweeping = this.#later(CHUNK_MS, () => this.#sweep());
  }

  /** What was not used. If that fails it is lost: twice would be worse. */
  async #giveBack(): Promise<void> {
    const unused = this.#chunks.collect();
    if (unused.tokens.length + unused.probes.length === 0) return;
    try {
      await this.#change((state, now) => this.#given(state, unused, now));
    } catch (error) {
      this.#options.onTrouble(error);
    }
  }

  #later(ms: number, callback: () => void): Timer {
    const ifOpen = () => {
      if (!this.#isClosed) callback();
    };
    return this.#runtime.timer(ms, ifOpen, { background: true });
  }
}
