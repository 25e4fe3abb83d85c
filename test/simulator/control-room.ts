/**
 * A person at the controls of a world under control: plans and starts operations, pauses, resumes and aborts them,
 * pauses gated queues, and the other side goes down and comes back.
 */
import { checkGate, type Gate } from "../../packages/holdfast/src/control/gates/gate-options.ts";
import { RULES } from "../../packages/holdfast/src/control/gates/gate-records.ts";
import { HoldfastError } from "../../packages/holdfast/src/core/errors.ts";
import type { Store } from "../../packages/holdfast/src/core/store.ts";
import { FRAGILE, METERED, QUEUES } from "./contracts.ts";
import type { Draw } from "./draw.ts";
import type { Book } from "./facts/book.ts";
import type { ControlSettings } from "./settings.ts";
import type { SimProcess } from "./sim-process.ts";
import type { Tally } from "./tally.ts";

const ACTIONS = { retry: 5, many: 2, command: 6, pause: 2, resume: 2, weather: 3 } as const;
const BY = "controller";
const ALL_QUEUES = [...QUEUES, METERED, FRAGILE];

export interface ControlRoomOptions {
  readonly draw: Draw;
  readonly book: Book;
  readonly tally: Tally;
  readonly process: () => SimProcess;
  readonly onSurprise: (error: unknown) => void;
}

export class ControlRoom {
  readonly #options: ControlRoomOptions;
  /** Is the other side down? */
  isDown = false;

  constructor(options: ControlRoomOptions) {
    this.#options = options;
  }

  act(): void {
    this.#do().catch((error: unknown) => {
      if (!(error instanceof HoldfastError)) this.#options.onSurprise(error);
    });
  }

  /** What was stopped for a while goes on, so that it comes to its end. */
  async letGo(): Promise<void> {
    const { book, process } = this.#options;
    const { hf } = process();
    for (const { id, state } of book.operations.values()) {
      if (state === "paused") await (await hf.operations.get(id)).resume().catch(() => {});
    }
  }

  get isBusy(): boolean {
    const { book } = this.#options;
    return [...book.operations.values()].some(
      ({ state }) => state === "running" || state === "paused",
    );
  }

  async #do(): Promise<unknown> {
    const { draw, tally, process } = this.#options;
    const { hf } = process();
    const action = draw.weighted(ACTIONS);
    switch (action) {
      case "retry": {
        const queue = draw.chance(0.5) ? { queue: draw.pick(ALL_QUEUES) } : {};
        const plan = await hf.operations.plan({
          ...{ action: "retry", filter: { status: "dead", ...queue } },
          strategy: draw.pick(["oldest", "newest", "random"]),
        });
        tally.count("operations: retry");
        return plan.start({
          by: BY,
          attempts: draw.pick([1, 2, "full"]),
          ...(draw.chance(0.7) && { perSecond: draw.pick([1, 1, 5, 50]) }),
          ...(draw.chance(0.3) && { stopAtFailureRate: 0.5 }),
        });
      }
      case "many": {
        const what = draw.pick(["cancel", "remove", "reschedule"] as const);
        const status = what === "remove" ? "dead" : "queued";
        const filter = { queue: draw.pick(ALL_QUEUES), status } as const;
        const plan = await hf.operations.plan({ action: what, filter, limit: 10 });
        tally.count(`operations: ${what}`);
        return plan.start({ by: BY, ...(what === "reschedule" && { delayMs: 500 }) });
      }
      case "command":
        return this.#command(draw.pick(["pause", "resume", "resume", "abort"]));
      case "pause":
        return hf.pause(draw.pick([METERED, FRAGILE]), { forMs: draw.whole(500, 8_000) });
      case "resume":
        return hf.resume(draw.pick([METERED, FRAGILE]));
      case "weather":
        this.isDown = !this.isDown;
        return null;
    }
  }

  async #command(command: "pause" | "resume" | "abort"): Promise<void> {
    const { draw, book, tally, process } = this.#options;
    const wanted = command === "resume" ? ["paused"] : ["running", "paused", "planned"];
    const some = [...book.operations.values()].filter(({ state }) => wanted.includes(state));
    if (some.length === 0) return;
    const operation = await process().hf.operations.get(draw.pick(some).id);
    await operation[command]();
    tally.count(`operations: ${command}`);
  }
}

/** There before the first process comes up: none of them starts a job without knowing of them. */
export async function putGates(store: Store, control: ControlSettings): Promise<void> {
  const { rate, isPerGroup, breaker } = control;
  const gates = {
    meter: checkGate({ queue: METERED, rate, ...(isPerGroup && { per: "group" as const }) }),
    crm: checkGate({ queue: FRAGILE, breaker }),
  };
  const swaps = Object.entries(gates).map(([name, checked]) => {
    const gate: Gate = { name, id: "1", forced: "auto", ...checked };
    return { key: RULES + name, expect: null, value: JSON.stringify(gate), ttlMs: null };
  });
  await store.records.swap(swaps);
}
