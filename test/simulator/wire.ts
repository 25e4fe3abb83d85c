/**
 * One process's way to the store. A call travels there, is done in one moment, and its answer travels
 * back; on each leg it may be delayed, overtaken, refused, lost, or arrive after its caller has given
 * up. A dead process hears nothing; what it sent last may still be done.
 */
import { ClosedError, StoreUnavailableError } from "../../packages/holdfast/src/core/errors.ts";
import type { Wakeup } from "../../packages/holdfast/src/core/store.ts";
import type { VirtualTime } from "../../packages/holdfast/src/testing/virtual-time.ts";
import type { Fate, Network } from "./network.ts";
import type { Tally } from "./tally.ts";
import type { Answered } from "./watcher.ts";

/** The process at this end of the wire. */
export interface Listener {
  readonly name: string;
  readonly isAlive: boolean;
  /** Cut off from the store, alone. */
  readonly isCutOff: boolean;
  /** Lets the process react, now or when it wakes up; never if it is dead. */
  hear(callback: () => void): void;
}

export interface WireOptions {
  readonly time: VirtualTime;
  readonly network: Network;
  readonly tally: Tally;
  readonly listener: Listener;
  readonly onSent: (verb: string) => void;
  readonly onAnswered: (verb: string, about: Answered) => void;
  readonly onFailed: (verb: string, why: Fate | "away", jobs: readonly string[]) => void;
}

interface About extends Partial<Answered> {
  /** The jobs that the call is about, as far as that is known. */
  readonly jobs?: readonly { readonly id: string }[];
}

interface Call {
  isCut: boolean;
}

export class Wire {
  readonly #options: WireOptions;
  readonly #inFlight = new Set<Call>();
  readonly #wakeupListeners = new Set<(wakeup: Wakeup) => void>();
  #hint: { queues: Set<string>; finished: Set<string> } | null = null;
  #isClosed = false;
  #leasesLost = 0;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  open(): void {
    this.#isClosed = false;
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeupListeners.clear();
  }

  /** The process died: some of what was under way goes down with it. */
  cut(): void {
    for (const call of this.#inFlight) call.isCut = !this.#options.network.survivesDeath();
    this.#inFlight.clear();
    this.#wakeupListeners.clear();
  }

  send<Out>(verb: string, apply: () => Promise<Out>, about: About = {}): Promise<Out> {
    const { listener, network, onSent } = this.#options;
    // Nobody is there to send it, or to hear an answer.
    if (!listener.isAlive) return new Promise<Out>(() => {});
    if (this.#isClosed) return Promise.reject(new ClosedError("this process closed its store"));
    onSent(verb);
    return new Promise<Out>((resolve, reject) => {
      const call: Call = { isCut: false };
      const fate = network.fate(verb);
      if (verb === "lease") this.#countLost(fate);
      const fail = (why: Fate | "away", mayHaveHappened: boolean) =>
        this.#fail(verb, why, { mayHaveHappened, reject, jobs: about.jobs ?? [] });
      switch (fate) {
        case "refused":
          fail(fate, false);
          return;
        case "request lost":
          fail(fate, true);
          return;
        case "done":
          this.#travel(verb, call, apply, {
            done: (out) => this.#answer(verb, about, () => resolve(out)),
            threw: (error) => this.#answer(verb, about, () => reject(error as Error)),
            away: () => fail("away", !network.refusesAtOnce()),
          });
          return;
        case "reply lost":
        case "arrives late": {
          const givenUpMs = fail(fate, true);
          this.#inFlight.add(call);
          const travel = () => this.#travel(verb, call, apply, {});
          if (fate === "reply lost") travel();
          else this.#options.time.timer(givenUpMs + network.latenessMs(), travel);
          return;
        }
      }
    });
  }

  /** Of a lease of several queues: those whose part of the reply gets lost. */
  losesPartOf(queues: readonly string[]): readonly string[] {
    const { network, tally } = this.#options;
    const lost = network.losesPartOf(queues);
    if (lost.length > 0) tally.count("lease replies lost in part");
    return lost;
  }

  #countLost(fate: Fate): void {
    const isLost = fate === "reply lost" || fate === "arrives late";
    this.#leasesLost = isLost ? this.#leasesLost + 1 : 0;
    if (this.#leasesLost > 1) this.#options.tally.count("lease replies lost in a row");
  }

  onWakeup(listener: (wakeup: Wakeup) => void): () => void {
    this.#wakeupListeners.add(listener);
    return () => void this.#wakeupListeners.delete(listener);
  }

  /** What happened in the store may reach the process as a hint; hints on their way join. */
  hint({ queues, finished }: Wakeup): void {
    const { time, network, listener } = this.#options;
    if (this.#wakeupListeners.size === 0 || network.losesHint()) return;
    if (!this.#hint) {
      this.#hint = { queues: new Set(), finished: new Set() };
      time.timer(network.latencyMs(), () => listener.hear(() => this.#deliverHint()));
    }
    for (const queue of queues) this.#hint.queues.add(queue);
    for (const id of finished) this.#hint.finished.add(id);
  }

  #deliverHint(): void {
    const hint = this.#hint;
    this.#hint = null;
    if (!hint) return;
    const wakeup = { queues: [...hint.queues], finished: [...hint.finished] };
    for (const listener of [...this.#wakeupListeners]) listener(wakeup);
  }

  /** Done in the moment it arrives, unless the store is away or the process took it with it. */
  #travel<Out>(
    verb: string,
    call: Call,
    apply: () => Promise<Out>,
    tell: {
      readonly done?: (out: Out) => void;
      readonly threw?: (error: unknown) => void;
      readonly away?: () => void;
    },
  ): void {
    const { time, network, listener } = this.#options;
    this.#inFlight.add(call);
    time.timer(network.latencyMs(verb), () => {
      this.#inFlight.delete(call);
      if (call.isCut) return;
      if (network.isAway || listener.isCutOff) tell.away?.();
      // If the reply is lost, so is what went wrong.
      else time.during(apply().then(tell.done, tell.threw ?? (() => {})));
    });
  }

  #answer(verb: string, { queues = [], disowned = null }: About, deliver: () => void): void {
    const { time, network, listener, onAnswered } = this.#options;
    time.timer(network.latencyMs(verb), () =>
      listener.hear(() => {
        onAnswered(verb, { queues, disowned });
        deliver();
      }),
    );
  }

  /** Answers when the caller will know. */
  #fail(
    verb: string,
    why: Fate | "away",
    how: {
      readonly mayHaveHappened: boolean;
      readonly reject: (error: Error) => void;
      readonly jobs: readonly { readonly id: string }[];
    },
  ): number {
    const { time, network, listener, tally, onFailed } = this.#options;
    const { mayHaveHappened, reject } = how;
    tally.callFailed(why);
    const afterMs = mayHaveHappened ? network.patienceMs() : network.latencyMs();
    time.timer(afterMs, () =>
      listener.hear(() => {
        onFailed(
          verb,
          why,
          how.jobs.map(({ id }) => id),
        );
        reject(new StoreUnavailableError(`simulated: ${why}`, { mayHaveHappened }));
      }),
    );
    return afterMs;
  }
}
