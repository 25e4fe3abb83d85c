/** Hand-made evidence, so that the judge itself can be judged. Times are milliseconds. */
import type { AttemptRecord, StoredJob } from "../../../packages/holdfast/src/core/job.ts";
import type { OutcomeKind } from "../../../packages/holdfast/src/core/outcome.ts";
import type { ChaosResult } from "../contracts.ts";
import type { FaultKind } from "../strikes.ts";
import type { OutageKind, Saw, SlotOutage, WitnessLine } from "../witness.ts";
import { judge, type CaseFile, type Verdict } from "./judge.ts";

const LEASE_MS = 10_000;

type Ended = Pick<AttemptRecord, "outcome" | "fence" | "worker">;

interface StoredAs extends Partial<Omit<StoredJob, "result" | "history">> {
  readonly result?: ChaosResult;
  readonly history?: readonly Ended[];
}

export class CaseOf {
  readonly #lines: WitnessLine[] = [];
  readonly #stored: StoredJob[] = [];

  #saw(at: number, by: string, saw: Saw): this {
    this.#lines.push({ at, by, ...saw });
    return this;
  }

  /** Up at 0 with ten slots, and still there at the end. Its name is also what the store calls it. */
  worker(name: string, { upAt = 0 }: { readonly upAt?: number } = {}): this {
    this.#saw(upAt, "harness", { what: "began", to: name, role: "worker" });
    this.#saw(upAt, name, { what: "named", worker: name });
    return this.#saw(upAt, name, { what: "up", concurrency: 10 });
  }

  tried(key: string): this {
    return this.#saw(1, "p1", { what: "try", key });
  }
  enqueued(key: string, id: string): this {
    return this.tried(key).#saw(2, "p1", { what: "acknowledged", key, id, answer: "added" });
  }
  refused(key: string, { mayHaveHappened }: { readonly mayHaveHappened: boolean }): this {
    return this.#saw(3, "p1", { what: "refused", key, error: "away", mayHaveHappened });
  }

  leased(at: number, by: string, id: string, fence: number, askedAt = at - 1): this {
    return this.#saw(at, by, {
      what: "leased",
      askedAt,
      jobs: [{ id, fence, attempt: 1 }],
    });
  }
  renewed(at: number, by: string, id: string, fence: number): this {
    return this.#saw(at, by, { what: "renewed", askedAt: at - 1, kept: [{ id, fence }], lost: [] });
  }
  reaped(at: number, by: string, id: string, worker: string): this {
    return this.#saw(at, by, { what: "reaped", askedAt: at - 1, jobs: [{ id, worker }] });
  }
  settled(
    at: number,
    by: string,
    id: string,
    fence: number,
    kind: OutcomeKind,
    answer: "settled" | "lost" = "settled",
  ): this {
    this.settling(at, by, id, fence, kind);
    const jobs = [{ id, fence, kind, answer }];
    return this.#saw(at + 1, by, { what: "settled", askedAt: at, jobs });
  }
  /** Sent, and nobody knows what became of it. */
  settling(at: number, by: string, id: string, fence: number, kind: OutcomeKind): this {
    return this.#saw(at, by, { what: "settling", jobs: [{ id, fence, kind }] });
  }
  started(
    at: number,
    by: string,
    id: string,
    fence: number,
    options: { readonly key: string; readonly row?: number; readonly type?: string },
  ): this {
    const { key, row = 0, type = "quick" } = options;
    return this.#saw(at, by, { what: "start", id, fence, attempt: 1, type, key, row });
  }
  ended(
    at: number,
    by: string,
    id: string,
    fence: number,
    how: "returned" | "threw" | "aborted" = "returned",
  ): this {
    return this.#saw(at, by, { what: "end", id, fence, how });
  }
  stepRan(at: number, by: string, fence: number): this {
    return this.#saw(at, by, { what: "step ran", id: "id1", fence, step: "first" });
  }
  stepStored(at: number, by: string, fence: number, value: number): this {
    return this.#saw(at, by, { what: "step stored", id: "id1", fence, step: "first", value });
  }
  saved(at: number, by: string, fence: number, row: number): this {
    return this.#saw(at, by, { what: "saved", id: "id1", fence, row });
  }
  within(at: number, by: string, id: string, fence: number): this {
    return this.#saw(at, by, { what: "within", id, fence });
  }
  stalled(by: string, from: number, to: number): this {
    return this.#saw(to, by, { what: "stalled", from });
  }
  answeredAgain(by: string, from: number, at: number): this {
    return this.#saw(at, by, { what: "answered again", from });
  }
  reported(at: number, by: string, text: string): this {
    return this.#saw(at, by, { what: "log", level: "error", text });
  }

  killed(at: number, to: string): this {
    this.#saw(at, "harness", { what: "kill", to });
    return this.exited(at + 1, to, null, "SIGKILL");
  }
  stopped(to: string, from: number, until: number): this {
    this.#saw(from, "harness", { what: "stop", to });
    return this.#saw(until, "harness", { what: "continue", to });
  }
  terminated(to: string, at: number, exitedAt: number, code = 0): this {
    return this.#saw(at, "harness", { what: "terminate", to }).exited(exitedAt, to, code);
  }
  exited(at: number, to: string, code: number | null, signal: string | null = null): this {
    return this.#saw(at, "harness", { what: "exited", to, code, signal });
  }
  cutOff(to: string, from: number, until: number, how: FaultKind = "hole"): this {
    return this.#saw(until, "harness", { what: "cut off", to, how, from });
  }
  outage(from: number, until: number, how: OutageKind = "halted"): this {
    return this.#saw(until, "harness", { what: "outage", how, from, healingAt: until - 1 });
  }
  movedSlots(from: number, until: number, slots: readonly SlotOutage[]): this {
    const how = "moved slots";
    return this.#saw(until, "harness", { what: "outage", how, from, healingAt: until, slots });
  }
  unwritable(from: number, to: number): this {
    return this.#saw(to, "harness", { what: "unwritable", from });
  }

  /** w2 runs j1 again and succeeds, as if the lease of w1 had run out. */
  runAgain(at: number): this {
    this.leased(at, "w2", "id1", 20).started(at + 1, "w2", "id1", 20, { key: "j1" });
    this.ended(at + 50, "w2", "id1", 20).settled(at + 51, "w2", "id1", 20, "succeed");
    return this.stored("id1", "j1", {
      result: { by: "w2", fence: 20 },
      attempts: 2,
      crashes: 1,
      history: [
        { outcome: "crashed", fence: 10, worker: "w1" },
        { outcome: "succeeded", fence: 20, worker: "w2" },
      ],
    });
  }

  /** A success at the first attempt, unless told otherwise. */
  stored(id: string, key: string, { result, history = [], ...as }: StoredAs): this {
    const stored = {
      ...{ id, queue: "chaos", type: "quick", status: "succeeded", reason: null },
      ...{ attempts: 1, maxAttempts: 100, crashes: 0 },
      ...as,
      payload: JSON.stringify({ key, ms: 1 }),
      result: result ? JSON.stringify(result) : null,
      history,
    };
    // The judge reads no other fields.
    this.#stored.push(stored as unknown as StoredJob);
    return this;
  }
  changed(id: string, changes: Partial<StoredJob>): this {
    const at = this.#stored.findIndex((job) => job.id === id);
    this.#stored[at] = { ...this.#stored[at]!, ...changes };
    return this;
  }

  /** Whoever is left over is stopped gracefully, long after everything. */
  verdict(options: Partial<CaseFile> = {}): Verdict {
    const lines = [...this.#lines];
    const gone = new Set(lines.flatMap((line) => (line.what === "exited" ? [line.to] : [])));
    for (const line of this.#lines) {
      if (line.what !== "began" || gone.has(line.to)) continue;
      const { to } = line;
      lines.push({ at: 1_000_000, by: "harness", what: "terminate", to });
      lines.push({ at: 1_000_001, by: "harness", what: "exited", to, code: 0, signal: null });
    }
    const times = { leaseMs: LEASE_MS, recoveryMs: 12_000, healMs: 5_000, transactionMs: 0 };
    const settings = { ...times, forgiveStalls: false, damage: [] };
    return judge({ lines, stored: this.#stored, ...settings, ...options });
  }
  texts(options?: Partial<CaseFile>): string[] {
    return this.verdict(options)
      .findings.map(({ rule, text }) => `${rule}: ${text}`)
      .sort();
  }
  rules(options?: Partial<CaseFile>): string[] {
    return [...new Set(this.verdict(options).findings.map(({ rule }) => rule))].sort();
  }
}
