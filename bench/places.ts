/** One temporary folder for a whole run: all contenders on one file system, and nothing left behind. */
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Contender } from "./contender.ts";
import type { StoreName } from "./contenders/index.ts";
import type { Prefill } from "./scenario.ts";
import { runTask } from "./task.ts";

export class Places {
  readonly #folder: string;
  readonly #store: StoreName;
  readonly #masters = new Map<string, Promise<string>>();

  private constructor(folder: string, store: StoreName) {
    this.#folder = folder;
    this.#store = store;
  }

  static async under(parent: string, store: StoreName): Promise<Places> {
    return new Places(await mkdtemp(join(parent, "holdfast-bench-")), store);
  }

  /** A folder for one measurement; the way to be rid of it comes along. */
  async scratch(): Promise<{ readonly folder: string; remove(): Promise<void> }> {
    const folder = await mkdtemp(join(this.#folder, "scratch-"));
    return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
  }

  /** A store with these jobs in it, closed cleanly; made when it is first asked for. */
  master(contender: string, prefill: Prefill): Promise<string> {
    const key = JSON.stringify([contender, prefill]);
    let master = this.#masters.get(key);
    if (!master) {
      const place = join(this.#folder, `master-${this.#masters.size}.db`);
      master = runTask({ kind: "prefill", store: this.#store, contender, place, prefill }).then(
        () => place,
      );
      this.#masters.set(key, master);
    }
    return master;
  }

  async describe({ name }: Contender): Promise<string> {
    const { folder, remove } = await this.scratch();
    const place = join(folder, "0.db");
    const described = await runTask({
      kind: "describe",
      store: this.#store,
      contender: name,
      place,
    });
    await remove();
    return described;
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}
