/**
 * Gates, where jobs meet them:
 *
 *   admit   a whole queue is asked for before the lease: no more jobs than there are grants
 *   before  each job uses one; without one it goes back unspent, and its line is held until the next
 *   decided failures are counted; a 429 starts a cooldown and spends no attempt
 *   ended   what became of probes is told to the fleet
 */
import { ClosedError, StoreUnavailableError } from "../../core/errors.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { ProbeResult } from "../../core/breaker.ts";
import type {
  Admission,
  AttemptView,
  Decision,
  Ended,
  Extension,
  ExtensionHost,
} from "../../engine/extension.ts";
import { waitAtMost, type Runtime } from "../../engine/runtime.ts";
import type { Pass } from "./chunks.ts";
import { GateBook, type Met } from "./gate-book.ts";
import type { Gate, QueueParts } from "./gate-options.ts";
import { stateKey } from "./gate-records.ts";
import { followState, ownerOf } from "./holds.ts";
import { LeaseSize } from "./lease-size.ts";
import { Meter } from "./meter.ts";
import { StoreClock } from "./store-clock.ts";

/** A 429 that names no time. */
export const UNNAMED_MS = 15_000;
/** Trouble with the gate itself: the job waits so long, unspent. */
const TROUBLE_MS = 1_000;
/** Before the engine passes over a hook that does not answer. */
const ADMIT_MS = 150;
const ANSWER_MS = 1_500;
const AGAIN_MS = 20;
/** How long a close waits for what is given back. */
const LAST_WORDS_MS = 500;
/** Holds of gates that are not at rest are put right this often. */
const FOLLOW_EVERY_MS = 5_000;
/** So many groups are remembered at once; those at rest are forgotten first. */
const MOST_METERS = 20_000;

interface Used {
  readonly meter: Meter;
  readonly pass: Pass;
}

export class GateKeeper {
  readonly book: GateBook;
  readonly extension: Extension;
  readonly #host: ExtensionHost;
  readonly #parts: QueueParts;
  readonly #clock: StoreClock;
  readonly #meters = new Map<string, Meter>();
  /** By queue, of those whose lines are gated. */
  readonly #sizes = new Map<string, LeaseSize>();
  /** By queue: holds of its lines that are on their way. */
  readonly #holding = new Map<string, Promise<void>>();
  readonly #used = new WeakMap<AttemptView, readonly Used[]>();
  /** Did it concern jobs when hooks were last attached? */
  #isAttached = true;

  constructor(host: ExtensionHost, parts: QueueParts) {
    this.#host = host;
    this.#parts = parts;
    this.#clock = new StoreClock(host.jobs, host.runtime);
    this.book = new GateBook(host, parts, () => this.#changed());
    this.extension = this.#extension();
  }

  get logger(): ExtensionHost["logger"] {
    return this.#host.logger;
  }

  get runtime(): Runtime {
    return this.#host.runtime;
  }

  now(): Promise<number> {
    return this.#clock.now();
  }

  meterOf(gate: Gate, group: string | null): Meter {
    const own = gate.isPerGroup ? (group ?? "") : null;
    const key = stateKey(gate, own);
    let meter = this.#meters.get(key);
    if (!meter) {
      if (this.#meters.size >= MOST_METERS) this.#forgetIdle();
      meter = new Meter(key, gate, own, {
        ...{ records: this.#host.records, runtime: this.#host.runtime, clock: this.#clock },
        onTurn: (turned) => this.follow(turned),
        onTrouble: (error) => this.#trouble(error),
      });
      this.#meters.set(key, meter);
    } else if (meter.gate !== gate) {
      if (JSON.stringify(meter.gate) !== JSON.stringify(gate)) meter.follow(gate);
      else meter.cell.gate = gate;
    }
    return meter;
  }

  /** Holds follow the state that this meter knows. */
  follow(meter: Meter): Promise<void> {
    return followState(this.#host.lines, meter, this.#parts.names);
  }

  /** What was gathered here is stored, so that a reader sees it. */
  async tell(): Promise<void> {
    await Promise.all([...this.#meters.values()].map((meter) => meter.tell()));
  }

  /** Before the store is closed. */
  async close(): Promise<void> {
    const closed = [...this.#meters.values()].map((meter) => meter.close());
    await waitAtMost(this.runtime, Promise.all(closed), LAST_WORDS_MS);
  }

  #extension(): Extension {
    const { book } = this;
    const admit = (queue: string, wanted: number) => this.#admit(queue, wanted);
    return {
      name: "gates",
      applies: () => book.mayConcernJobs,
      /** Not there while there are no gates: then a lease costs what it costs without. */
      get admit() {
        return book.mayConcernJobs ? admit : undefined;
      },
      leased: (queue, granted, taken) => this.#leased(queue, granted, taken),
      before: (attempt) => this.#before(attempt),
      decided: (attempt, outcome) => this.#decided(attempt, outcome),
      ended: (attempt, how, outcome) => this.#ended(attempt, how, outcome),
      chores: [{ name: "gates", everyMs: FOLLOW_EVERY_MS, run: () => this.#followAll() }],
    };
  }

  #changed(): void {
    const isAttached = this.book.mayConcernJobs;
    if (isAttached === this.#isAttached) return;
    this.#isAttached = isAttached;
    this.#host.hooksChanged();
  }

  #admit(queue: string, wanted: number): Admission | undefined | Promise<Admission | undefined> {
    const isKnown = this.book.isRead && this.book.ofQueue(queue).length === 0;
    if (isKnown && !this.book.hasLines(queue)) return undefined;
    if (isKnown && !this.#holding.has(queue)) return this.#bySize(queue, wanted);
    return new Promise((resolve) => {
      let isLate = false;
      // What is granted later is here at the next try.
      const timer = this.runtime.timer(ADMIT_MS, () => {
        isLate = true;
        resolve({ jobs: 0, nextInMs: AGAIN_MS });
      });
      const answer = async () => {
        if (!this.book.isRead) await this.book.read();
        // A lease that overtakes a hold brings what it is to hold.
        await this.#holding.get(queue);
        const gates = this.book.ofQueue(queue).map(({ gate }) => gate);
        const sized = this.book.hasLines(queue) ? this.#bySize(queue, wanted) : null;
        if (gates.length === 0) return sized ?? undefined;
        const admission = await this.#admitBy(gates, queue, sized?.jobs ?? wanted);
        if (isLate) for (const gate of gates) this.meterOf(gate, null).unpromise(admission.jobs);
        return admission;
      };
      const trouble = (error: unknown) => {
        this.#trouble(error);
        return { jobs: 0, nextInMs: TROUBLE_MS };
      };
      void answer()
        .catch(trouble)
        .then((admission) => {
          timer.cancel();
          resolve(admission);
        });
    });
  }

  #bySize(queue: string, wanted: number): Admission {
    return { jobs: this.#sizeOf(queue).next(wanted), nextInMs: null };
  }

  #sizeOf(queue: string): LeaseSize {
    let size = this.#sizes.get(queue);
    if (!size) this.#sizes.set(queue, (size = new LeaseSize()));
    return size;
  }

  async #admitBy(gates: readonly Gate[], queue: string, wanted: number): Promise<Admission> {
    let jobs = wanted;
    let nextInMs: number | null = null;
    const promised: { readonly meter: Meter; readonly count: number }[] = [];
    for (const gate of gates) {
      const meter = this.meterOf(gate, null);
      const answer = await meter.admit(queue, jobs);
      promised.push({ meter, count: answer.jobs });
      jobs = answer.jobs;
      if (answer.nextInMs !== null) nextInMs = Math.max(nextInMs ?? 0, answer.nextInMs);
      if (jobs === 0) break;
    }
    for (const { meter, count } of promised) meter.unpromise(count - jobs);
    return { jobs, nextInMs };
  }

  #leased(queue: string, granted: number, taken: number | "unsure"): void {
    if (taken !== "unsure") this.#sizes.get(queue)?.leased(taken);
    for (const { gate } of this.book.ofQueue(queue)) {
      // What is not known here is disowned, and does not run here.
      this.meterOf(gate, null).leased(queue, granted, taken === "unsure" ? 0 : taken);
    }
  }

  #before(attempt: AttemptView): Outcome | undefined | Promise<Outcome | undefined> {
    // The store is away, or there is none: no gate can be asked.
    if (isInline(attempt)) return undefined;
    if (this.book.isRead) {
      const met = this.book.ofLine(attempt.queue, attempt.group);
      if (met.length === 0) return undefined;
      const used = this.#spend(met, attempt.group);
      if (used) return this.#note(attempt, used);
    }
    return this.#inTime(attempt);
  }

  /** Only a breaker wants to know how it ends. */
  #note(attempt: AttemptView, used: readonly Used[]): undefined {
    if (used.some(({ meter }) => meter.gate.breaker)) this.#used.set(attempt, used);
  }

  /** What is here already, if it is enough for all of them. */
  #spend(met: readonly Met[], group: string | null): readonly Used[] | null {
    const used: Used[] = [];
    for (const { gate } of met) {
      const meter = this.meterOf(gate, group);
      const pass = meter.spend(1);
      if (!pass) {
        refund(used);
        return null;
      }
      used.push({ meter, pass });
    }
    return used;
  }

  /** A gate that cannot be asked holds back: passed over, it would be no gate. */
  #inTime(attempt: AttemptView): Promise<Outcome | undefined> {
    const late = { isLate: false };
    return new Promise((resolve) => {
      const timer = this.runtime.timer(ANSWER_MS, () => {
        late.isLate = true;
        resolve({ kind: "release", afterMs: TROUBLE_MS });
      });
      void this.#obtain(attempt, late).then((outcome) => {
        timer.cancel();
        resolve(outcome);
      });
    });
  }

  async #obtain(
    attempt: AttemptView,
    late: { readonly isLate: boolean },
  ): Promise<Outcome | undefined> {
    const used: Used[] = [];
    try {
      if (!this.book.isRead) await this.book.read();
      for (const { gate, byLine } of this.book.ofLine(attempt.queue, attempt.group)) {
        const meter = this.meterOf(gate, attempt.group);
        const pass = await meter.obtain({ cost: 1, isCall: false });
        if (pass) used.push({ meter, pass });
        if (pass && !late.isLate) continue;
        refund(used);
        if (byLine && !pass) {
          this.#sizes.get(attempt.queue)?.handedBack();
          await this.#holdLine(meter, attempt);
        }
        return { kind: "release", afterMs: 0 };
      }
    } catch (error) {
      refund(used);
      this.#trouble(error);
      return { kind: "release", afterMs: TROUBLE_MS };
    }
    return this.#note(attempt, used);
  }

  #holdLine(meter: Meter, { queue, group, fence }: AttemptView): Promise<void> {
    const reason = `gate ${meter.gate.name} holds it back: ${REASON[meter.heldBy ?? "rate"]}`;
    const line = { queue, group: group ?? "", owner: ownerOf(meter.gate) };
    return meter.holdLine({ queue, fence }, (forMs) => {
      const held = this.#host.lines.hold([{ ...line, hold: { forMs, reason, by: null } }]);
      const before = this.#holding.get(queue);
      const all = Promise.allSettled([before, held]).then(() => {
        if (this.#holding.get(queue) === all) this.#holding.delete(queue);
      });
      this.#holding.set(queue, all);
      return held;
    });
  }

  #decided(
    attempt: AttemptView,
    outcome: Outcome,
  ): Decision | undefined | Promise<Decision | undefined> {
    if (isInline(attempt)) return undefined;
    // What has no payload was never asked for.
    if (attempt.payload === undefined) this.#neverStarted(attempt);
    // Before the slot is free for the next job: a breaker that opens now lets it start no more.
    for (const { meter, pass } of this.#used.get(attempt) ?? []) {
      if (pass.probe === null) meter.report(null, resultOf(meter.gate, outcome));
    }
    if (!isRateLimited(outcome)) return undefined;
    const gates = this.book.ofLine(attempt.queue, attempt.group).map(({ gate }) => gate);
    const cooling = gates.filter(({ cooldown }) => cooldown !== null);
    return cooling.length === 0 ? undefined : this.#cool(cooling, attempt, outcome);
  }

  async #cool(
    gates: readonly Gate[],
    { group }: AttemptView,
    outcome: RateLimited,
  ): Promise<Decision> {
    const isNamed = outcome.kind === "retry" && !outcome.spend;
    const forMs = isNamed ? outcome.afterMs : UNNAMED_MS;
    const cooled = gates.map((gate) => this.meterOf(gate, group).coolDown(forMs));
    const all = Promise.all(cooled).catch((error: unknown) => this.#trouble(error));
    await waitAtMost(this.runtime, all, ANSWER_MS);
    if (isNamed || (outcome.kind === "die" && outcome.reason !== "failed")) return { outcome };
    const afterMs = outcome.kind === "retry" ? Math.max(outcome.afterMs, forMs) : forMs;
    return { outcome: { kind: "retry", afterMs, spend: false, failure: outcome.failure } };
  }

  /** It went back from the buffer: another job may have its grant. */
  #neverStarted({ queue }: AttemptView): void {
    if (!this.book.isRead) return;
    for (const { gate } of this.book.ofQueue(queue)) this.meterOf(gate, null).unpromise(1);
  }

  #ended(attempt: AttemptView, how: Ended, outcome: Outcome | null): void {
    const used = this.#used.get(attempt);
    // What a stale worker says is not heard; its probes end by themselves.
    if (!used || how !== "settled" || outcome === null) return;
    for (const { meter, pass } of used) {
      if (pass.probe !== null) meter.report(pass.probe, resultOf(meter.gate, outcome));
    }
  }

  /** Costs nothing while every gate is at rest, but for a look at the rules every two minutes. */
  async #followAll(): Promise<void> {
    await this.book.readAnyway();
    for (const meter of this.#meters.values()) {
      // Per group, lines hold themselves back: their jobs are judged one by one.
      if (meter.group !== null || !meter.isTurned) continue;
      await meter.cell.read();
      if (meter.isTurned) await this.follow(meter);
    }
  }

  #forgetIdle(): void {
    for (const [key, meter] of this.#meters) if (meter.isIdle) this.#meters.delete(key);
  }

  #trouble(error: unknown): void {
    const isAway = error instanceof StoreUnavailableError || error instanceof ClosedError;
    this.#host.logger[isAway ? "debug" : "error"]("a gate could not be asked", { error });
  }
}

const REASON = {
  forced: "it was opened by hand",
  cooldown: "the other side asked for patience",
  breaker: "the other side is down",
  rate: "its rate is used up",
} as const;

function refund(used: readonly Used[]): void {
  for (const { meter, pass } of used) meter.refund(pass);
}

type RateLimited = Extract<Outcome, { kind: "retry" | "die" }>;

function isRateLimited(outcome: Outcome): outcome is RateLimited {
  return (
    (outcome.kind === "retry" || outcome.kind === "die") &&
    outcome.failure.category === "rate_limit"
  );
}

function resultOf({ countsAsDown }: Gate, outcome: Outcome): ProbeResult {
  if (outcome.kind === "succeed") return "ok";
  if (outcome.kind !== "retry" && outcome.kind !== "die") return "unknown";
  return countsAsDown.includes(outcome.failure.category) ? "failed" : "unknown";
}

function isInline({ worker }: AttemptView): boolean {
  return worker.startsWith("inline:");
}
