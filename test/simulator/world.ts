/**
 * One simulated world: the store, the processes around it, the weather between them, and the court
 * that watches. Everything follows from the seed.
 */
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import { VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";
import { Auditor } from "./auditor.ts";
import type { Backing, MakeBacking } from "./backing.ts";
import { Chaos } from "./chaos.ts";
import { CONTRACTS, MAX_CRASHES, type Kind } from "./contracts.ts";
import { ControlRoom, putGates } from "./control-room.ts";
import type { Describe } from "./describe.ts";
import { Draw } from "./draw.ts";
import { Book } from "./facts/book.ts";
import { faultyStore } from "./faulty-store.ts";
import { allInvariants } from "./invariants/all-invariants.ts";
import { Judge } from "./judge.ts";
import { Network } from "./network.ts";
import { SimOperator } from "./operator.ts";
import { processOf } from "./process-runtime.ts";
import { Producers } from "./producers.ts";
import {
  drawControl,
  drawSettings,
  type ControlSettings,
  type Settings,
  type Weather,
} from "./settings.ts";
import { SimProcess, type Connection } from "./sim-process.ts";
import { spiedStore } from "./spy.ts";
import { Tally } from "./tally.ts";
import { tallies } from "./tallies.ts";
import { SimTransaction } from "./transaction.ts";
import { Trace } from "./trace.ts";
import type { InvariantName, Violation } from "./violation.ts";
import type { Court, Run } from "./watcher.ts";
import { Wire, type Listener } from "./wire.ts";

/** How long deleted jobs are remembered: longer than anything here is late. */
const REMEMBERS_MS = 600_000;

/** Puts a bug into the engine's own way to the store. */
export type TamperEngine = (store: Store, now: () => number) => Store;

export interface WorldOptions {
  readonly seed: number;
  readonly makeBacking: MakeBacking;
  /** A planted bug in the engine's own way to the store. */
  readonly tamperEngine?: TamperEngine;
  /** How much of what verbs touched is looked at behind their back. */
  readonly sample: number;
  /** With a ledger, locks, operations and gates. */
  readonly isUnderControl: boolean;
}

/** The machine the store is on. */
interface StoreHost {
  /** Its clock may be set back. */
  skewMs: number;
  /** The store looks at it. */
  onLook: (ms: number) => void;
}

export class World {
  readonly seed: number;
  readonly time: VirtualTime;
  readonly settings: Settings;
  readonly book: Book;
  readonly judge: Judge;
  readonly trace = new Trace();
  readonly tally = new Tally();
  readonly network: Network;
  readonly producers: Producers;
  readonly operator: SimOperator;
  /** Null in a plain world. */
  readonly controlRoom: ControlRoom | null;
  readonly chaos: Chaos;
  readonly auditor: Auditor;
  readonly backing: Backing;
  readonly #options: WorldOptions;
  readonly #startedAt: number;
  readonly #slots: (SimProcess | null)[] = [];
  readonly #incarnations: number[] = [];
  readonly #describe: Describe;
  #ops: SimProcess | null = null;
  #weather: Weather | null = null;
  #violation: Violation | null = null;

  static async open(options: WorldOptions): Promise<World> {
    const time = new VirtualTime({ seed: options.seed });
    const host: StoreHost = { skewMs: 0, onLook: () => {} };
    const now = () => {
      const ms = time.now + host.skewMs;
      host.onLook(ms);
      return ms;
    };
    const backing = await options.makeBacking({ now, remembersMs: REMEMBERS_MS });
    const control = options.isUnderControl ? drawControl(new Draw(options.seed, "control")) : null;
    if (control) await putGates(backing.shared, control);
    return new World(options, { time, host, backing, control });
  }

  private constructor(
    options: WorldOptions,
    parts: {
      readonly time: VirtualTime;
      readonly host: StoreHost;
      readonly backing: Backing;
      readonly control: ControlSettings | null;
    },
  ) {
    const { time, host, backing, control } = parts;
    const draw = (part: string) => new Draw(options.seed, part);
    this.#options = options;
    this.seed = options.seed;
    this.time = time;
    this.backing = backing;
    this.#startedAt = time.now;
    const settings = (this.settings = { ...drawSettings(draw("settings")), control });
    const { leaseMs } = settings;
    const storeNow = () => time.now + host.skewMs;
    this.book = new Book({ now: storeNow, remembersMs: REMEMBERS_MS });
    host.onLook = (ms) => this.book.clock.looked(ms);
    this.network = new Network({ draw: draw("network"), leaseMs, now: () => time.now });
    const { book } = this;
    const watchers = [tallies(this.tally, book), ...allInvariants(this.#court())];
    const judge = (this.judge = new Judge({ book, watchers, processOf }));
    this.auditor = new Auditor({
      store: () => backing.shared,
      judge,
      draw: draw("auditor"),
      sample: options.sample,
    });
    this.producers = new Producers({
      draw: draw("producers"),
      judge,
      settings,
      killerShare: () => this.#weather?.killers ?? 0,
      storeNow,
    });
    this.operator = new SimOperator({
      draw: draw("operator"),
      book,
      settings,
      process: () => this.ops,
      onSurprise: (error) => this.#unheard("an operator's call failed", error),
    });
    this.controlRoom = control
      ? new ControlRoom({
          ...{ draw: draw("control room"), book, tally: this.tally, process: () => this.ops },
          onSurprise: (error) => this.#unheard("a call from the control room failed", error),
        })
      : null;
    this.chaos = new Chaos({
      time,
      draw: draw("chaos"),
      network: this.network,
      tally: this.tally,
      leaseMs,
      processes: () => this.processes,
      restartStore: () => this.time.during(backing.restart()),
      setStoreClockBack: (ms) => {
        if (!backing.hasOneClock) return;
        this.tally.count("store clock set back");
        this.note(`the store's clock is set back by ${Math.round(ms)} ms`);
        host.skewMs -= ms;
      },
      note: (text) => this.note(text),
    });
    this.#describe = {
      trace: this.trace,
      now: () => this.#clock(),
      fence: (fence) => `f${fence - this.#startedAt * 1_000}`,
    };
    this.#ops = this.#newProcess("ops", -1);
    void this.#ops.start();
    for (let slot = 0; slot < settings.processes; slot += 1) this.#startSlot(slot);
  }

  get violation(): Violation | null {
    return this.#violation;
  }

  /** Those that run workers and are alive. */
  get processes(): readonly SimProcess[] {
    return this.#slots.filter((process) => process !== null);
  }

  /** Where operators sit. It has a bad wire like everybody, but it lives. */
  get ops(): SimProcess {
    return this.#ops!;
  }

  get virtualMs(): number {
    return this.time.now - this.#startedAt;
  }

  get isCalm(): boolean {
    return this.#weather === null;
  }

  setWeather(weather: Weather | null): void {
    this.#weather = weather;
    this.network.setWeather(weather);
    this.note(weather ? "the weather changes" : "calm");
  }

  /** Runs one event, whenever it is due. */
  async turn(): Promise<void> {
    this.tally.count("steps");
    while (!(await this.time.step())) {
      if (!this.time.moveToNextTimer()) throw new Error("nothing will ever happen again");
    }
  }

  note(text: string, jobId?: string): void {
    const names = jobId === undefined ? [] : [this.trace.name(jobId)];
    this.trace.note(`${this.#clock()} ${text}${names.map((name) => ` ${name}`).join("")}`, names);
  }

  complain(invariant: InvariantName, message: string, jobId?: string): void {
    if (this.#violation) return;
    this.#violation = { invariant, message, jobId: jobId ?? null };
    this.note(`BROKEN: ${invariant}: ${message}`, jobId);
  }

  #court(): Court {
    return {
      book: this.book,
      leaseMs: this.settings.leaseMs,
      renewMs: this.settings.renewMs,
      hasSeveralServers: this.settings.hasSeveralServers,
      maxCrashes: MAX_CRASHES,
      now: () => this.time.now,
      goesOnThroughOutages: (type) => CONTRACTS[type as Kind]?.onOutage === "continue",
      outageEndedAt: () => this.network.longOutageEndedAt,
      control: this.settings.control,
      complain: (...complaint) => this.complain(...complaint),
    };
  }

  #startSlot(slot: number): void {
    const incarnation = (this.#incarnations[slot] = (this.#incarnations[slot] ?? 0) + 1);
    const process = this.#newProcess(`p${slot + 1}.${incarnation}`, slot);
    this.#slots[slot] = process;
    this.note(`${process.name} comes up`);
    const connected = this.backing.connect(process.name);
    this.time.during(connected);
    void connected.then(() => process.start());
  }

  #newProcess(name: string, slot: number): SimProcess {
    const draw = new Draw(this.seed, `process ${name}`);
    const { time, settings, judge } = this;
    const { leaseMs } = settings;
    return new SimProcess({
      name,
      slot,
      time,
      draw,
      settings,
      works: slot >= 0,
      connect: (listener) => this.#connect(listener),
      handlers: {
        draw: new Draw(this.seed, `handlers ${name}`),
        judge,
        leaseMs,
        isCalm: () => this.isCalm,
        isDown: () => !this.isCalm && (this.controlRoom?.isDown ?? false),
        now: () => time.now,
        outageEndedAt: () => this.network.longOutageEndedAt,
        tally: this.tally,
        note: (text, jobId) => this.note(text, jobId),
      },
      onEnd: (process, killer, how) => this.#ended(process, killer, how),
      onEngineError: (message, error) => this.#unheard(message, error),
    });
  }

  #connect(listener: Listener): Connection {
    const { time, network, tally, judge, auditor, backing } = this;
    const process = listener.name;
    const wire = new Wire({
      time,
      network,
      tally,
      listener,
      onSent: (verb) => judge.tell((watcher) => watcher.sent?.(verb, process)),
      onAnswered: (verb, about) =>
        judge.tell((watcher) => watcher.answered?.(verb, process, about)),
      onFailed: (verb, why, jobs) => {
        const names = jobs.map((id) => this.trace.name(id));
        const text = `${this.#clock()} ${process} ${verb} fails: ${why} ${names.join(" ")}`;
        this.trace.note(text, jobs.length > 0 ? names : [""]);
        judge.tell((watcher) => watcher.failed?.(verb, process));
      },
    });
    const spied = spiedStore(() => backing.storeOf(process), {
      judge,
      auditor,
      describe: this.#describe,
      process,
      onChange: () => this.#hint(),
    });
    const store = faultyStore(spied, {
      wire,
      process,
      hasSeveralServers: this.settings.hasSeveralServers,
      now: () => time.now,
      onGranted: (run, sentAt) => judge.tell((watcher) => watcher.granted?.(run, sentAt)),
      onLost: (run) => judge.tell((watcher) => watcher.toldLost?.(run)),
      onAsked: (call) => judge.tell((watcher) => watcher.asked?.(call)),
      onHeard: (call) => judge.tell((watcher) => watcher.heard?.(call)),
    });
    const now = () => time.now;
    const transaction = (run: Run) =>
      new SimTransaction({
        wire,
        store: spied,
        onEnd: (how) => {
          tally.count(`transactions ${how}`);
          this.note(`${process} ${how}`, run.jobId);
          judge.tell((watcher) => watcher.transaction?.(run, how));
        },
      });
    return { wire, store: this.#options.tamperEngine?.(store, now) ?? store, transaction };
  }

  /** Hints are made from the facts, not taken from the store: real ones depend on real time. */
  #hint(): void {
    const { wokenQueues, finishedIds } = this.book;
    if (wokenQueues.size + finishedIds.size === 0) return;
    const wakeup = { queues: [...wokenQueues], finished: [...finishedIds] };
    wokenQueues.clear();
    finishedIds.clear();
    for (const process of [...this.processes, this.ops]) process.wire.hint(wakeup);
  }

  #ended(process: SimProcess, killer: Run | null, how: "crash" | "stop"): void {
    this.tally.count(how === "stop" ? "stops" : killer ? "kills by a job" : "crashes");
    const cause = killer ? `, killed by ${this.trace.name(killer.jobId)}` : "";
    this.note(`${process.name} ${how === "stop" ? "has stopped" : `dies${cause}`}`);
    this.judge.tell((watcher) => watcher.died?.({ process: process.name, killer }));
    this.producers.gone(process.name);
    this.#slots[process.slot] = null;
    this.time.during(this.backing.disconnect(process.name));
    const draw = new Draw(this.seed, `supervisor ${process.name}`);
    this.time.timer(draw.between(100, 4_000), () => this.#startSlot(process.slot));
  }

  #unheard(message: string, error: unknown): void {
    const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.complain("the engine leaves no error unheard", `${message}: ${what}`);
  }

  #clock(): string {
    return `+${((this.time.now - this.#startedAt) / 1_000).toFixed(3)}`;
  }
}
