/**
 * Brings what the spy sees before the invariants, item by item, and then into the book. The first
 * complaint counts: what follows a broken promise proves nothing.
 */
import type { NewJob } from "../../packages/holdfast/src/core/job.ts";
import type { HoldChange, LimitChange } from "../../packages/holdfast/src/core/line.ts";
import type { Swap } from "../../packages/holdfast/src/core/records.ts";
import type {
  DisownRequest,
  InsertResult,
  LeaseReply,
  LeaseRequest,
  ReapedJob,
  Renewal,
  RenewResult,
  Settlement,
  SettleResult,
} from "../../packages/holdfast/src/core/store.ts";
import { applySettle } from "./facts/apply-end.ts";
import { applyInsert } from "./facts/apply-insert.ts";
import {
  applyDisown,
  applyLease,
  applyReap,
  applyRenewal,
  disownedBy,
} from "./facts/apply-lease.ts";
import {
  applyHold,
  applyLimit,
  applyOperation,
  type Operation,
  type OperationResult,
} from "./facts/apply-operate.ts";
import type { Book } from "./facts/book.ts";
import type { JobFacts } from "./facts/job-facts.ts";
import type { Watcher } from "./watcher.ts";

export interface JudgeOptions {
  readonly book: Book;
  readonly watchers: readonly Watcher[];
  /** Which process a worker's name belongs to. */
  readonly processOf: (worker: string) => string;
}

export class Judge {
  readonly book: Book;
  readonly #watchers: readonly Watcher[];
  readonly #processOf: (worker: string) => string;

  constructor(options: JudgeOptions) {
    this.book = options.book;
    this.#watchers = options.watchers;
    this.#processOf = options.processOf;
  }

  /** The store has done a verb: before it is judged, what was due by then is in its line. */
  begin(): void {
    this.book.moveDue();
  }

  tell(show: (watcher: Watcher) => void): void {
    for (const watcher of this.#watchers) show(watcher);
  }

  inserted(
    jobs: readonly NewJob[],
    results: readonly InsertResult[],
    how: { readonly evenIfFull: boolean },
  ): void {
    jobs.forEach((job, at) => {
      const result = results[at]!;
      this.tell((watcher) => watcher.inserted?.(job, result, how));
      if (result.outcome === "added" && !this.book.jobs.has(job.id)) applyInsert(this.book, job);
    });
  }

  leased(request: LeaseRequest, reply: LeaseReply): void {
    this.tell((watcher) => watcher.leaseAsked?.(request));
    for (const leased of reply.jobs) {
      this.tell((watcher) => watcher.leased?.(leased, request));
      const job = this.book.jobs.get(leased.id);
      if (!job) continue;
      const { worker, leaseMs } = request;
      applyLease(this.book, job, { leased, worker, process: this.#processOf(worker), leaseMs });
    }
    this.tell((watcher) => watcher.leaseAnswered?.(request, reply));
  }

  renewed(
    renewals: readonly Renewal[],
    results: readonly RenewResult[],
    { leaseMs }: { readonly leaseMs: number },
  ): void {
    renewals.forEach((renewal, at) => {
      this.tell((watcher) => watcher.renewed?.(renewal, results[at]!));
      applyRenewal(this.book, renewal, leaseMs);
    });
  }

  settled(settlements: readonly Settlement[], results: readonly SettleResult[]): void {
    settlements.forEach((settlement, at) => {
      this.tell((watcher) => watcher.settled?.(settlement, results[at]!));
      applySettle(this.book, settlement);
    });
  }

  reaped(reaped: readonly ReapedJob[]): void {
    for (const one of reaped) {
      this.tell((watcher) => watcher.reaped?.(one));
      const job = this.book.jobs.get(one.id);
      if (job) applyReap(this.book, job);
    }
  }

  disownedBy(request: DisownRequest): JobFacts[] {
    return disownedBy(this.book, request);
  }

  disowned(request: DisownRequest, count: number): void {
    const taken = disownedBy(this.book, request);
    this.tell((watcher) => watcher.disowned?.(request, taken, count));
    applyDisown(this.book, request);
  }

  operated(
    id: string,
    operation: Operation,
    result: OperationResult | "missing",
    by: string | null,
  ): void {
    this.tell((watcher) => watcher.operated?.(id, operation, result, by));
    const job = this.book.jobs.get(id);
    if (job) applyOperation(this.book, job, operation);
  }

  held(changes: readonly HoldChange[], process: string): void {
    for (const change of changes) {
      this.tell((watcher) => watcher.held?.(change, process));
      applyHold(this.book, change);
    }
  }

  /** A record was written or deleted. */
  swapped(swap: Swap, process: string): void {
    this.tell((watcher) => watcher.swapped?.(swap, process));
  }

  limited(changes: readonly LimitChange[]): void {
    for (const change of changes) applyLimit(this.book, change);
  }
}
