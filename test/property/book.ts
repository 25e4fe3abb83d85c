/** What the callers of one store have seen of it: what `DrawnLease` and its like speak of. */
import type { LeaseRef, OutboxItem } from "../../packages/holdfast/src/core/store.ts";
import type { DrawnLease } from "./operation.ts";

/** Above every fence a store gives within a run: half a year of microseconds. */
const FAR = 2 ** 44;

export class Book {
  readonly #leases: LeaseRef[] = [];
  readonly #versions = new Map<string, number>();
  readonly #outbox: string[] = [];

  leased(refs: readonly LeaseRef[]): void {
    this.#leases.push(...refs);
  }

  /** Null: none was ever taken. */
  lease({ back, fence }: DrawnLease): LeaseRef | null {
    const ref = this.#leases.at(-1 - (back % this.#leases.length));
    if (ref === undefined) return null;
    const { id, queue, handle } = ref;
    switch (fence) {
      case "own":
        return { id, queue, handle, fence: ref.fence };
      case "low":
        return { id, queue, handle, fence: 1 };
      case "high":
        return { id, queue, handle, fence: ref.fence + FAR };
    }
  }

  leases(drawn: readonly DrawnLease[] | "all"): LeaseRef[] {
    const all = this.#leases.map((_, back): DrawnLease => ({ back, fence: "own" }));
    return (drawn === "all" ? all : drawn).flatMap((one) => this.lease(one) ?? []);
  }

  sawVersion(key: string, version: number): void {
    this.#versions.set(key, version);
  }

  version(key: string): number | null {
    return this.#versions.get(key) ?? null;
  }

  sawOutbox(items: readonly OutboxItem[]): void {
    this.#outbox.push(...items.map(({ id }) => id));
  }

  outboxId(back: number): string | null {
    return this.#outbox.at(-1 - (back % this.#outbox.length)) ?? null;
  }
}
