/** Which types fail most. */
export interface FailingType {
  readonly type: string;
  /** Failed attempts, those included after which the job was dead. */
  readonly failed: number;
  readonly dead: number;
}

const TOP = 5;

export class FailingTypes {
  readonly #byType = new Map<string, FailingType>();

  add({ type, failed, dead }: FailingType): void {
    if (failed === 0) return;
    const before = this.#byType.get(type);
    this.#byType.set(type, {
      type,
      failed: (before?.failed ?? 0) + failed,
      dead: (before?.dead ?? 0) + dead,
    });
  }

  /** In all. */
  get sum(): { readonly failed: number; readonly dead: number } {
    let failed = 0;
    let dead = 0;
    for (const one of this.#byType.values()) {
      failed += one.failed;
      dead += one.dead;
    }
    return { failed, dead };
  }

  /** Those that are not told apart have no name. */
  top(): FailingType[] {
    return [...this.#byType.values()]
      .filter(({ type }) => type !== "")
      .sort((one, other) => other.failed - one.failed || (one.type < other.type ? -1 : 1))
      .slice(0, TOP);
  }
}
