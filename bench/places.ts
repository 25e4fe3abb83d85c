/** The filled places of a run: each is made once, then copied, or used as it is. */
import { type Ground, groundAt, openSite, type Site, type SiteOptions } from "./ground.ts";
import type { Contender } from "./contender.ts";
import type { StoreName } from "./contenders/index.ts";
import type { Prefill } from "./scenario.ts";
import { runTask } from "./task.ts";

export class Places {
  readonly #store: StoreName;
  readonly #site: Site;
  readonly #ground: Ground;
  readonly #masters = new Map<string, Promise<string>>();

  private constructor(store: StoreName, site: Site, ground: Ground) {
    this.#store = store;
    this.#site = site;
    this.#ground = ground;
  }

  static async open(store: StoreName, options: SiteOptions): Promise<Places> {
    const site = await openSite(store, options);
    return new Places(store, site, await groundAt(store, site.address));
  }

  get address(): string {
    return this.#site.address;
  }

  get facts(): string {
    return this.#site.facts;
  }

  /**
   * A store with these jobs in it, closed cleanly; made when it is first asked for. Null if the
   * measurement is to fill one of its own, because this kind of place cannot be copied.
   */
  async master(contender: string, prefill: Prefill): Promise<string | null> {
    if (!this.#ground.copy && prefill.inPlace !== true) return null;
    const key = JSON.stringify([contender, prefill]);
    let master = this.#masters.get(key);
    if (!master) {
      master = this.#filled(contender, prefill);
      this.#masters.set(key, master);
    }
    return master;
  }

  /** An empty one. */
  fresh(): Promise<string> {
    return this.#ground.make();
  }

  async describe({ name }: Contender): Promise<string> {
    const place = await this.#ground.make();
    const described = await runTask({
      kind: "describe",
      store: this.#store,
      contender: name,
      place,
    });
    await this.#ground.remove(place);
    return described;
  }

  /** Lets go of the masters: the next scenario has others. */
  async clear(): Promise<void> {
    for (const master of this.#masters.values()) await this.#ground.remove(await master);
    this.#masters.clear();
  }

  async close(): Promise<void> {
    await this.#ground.close();
    await this.#site.close();
  }

  async #filled(contender: string, prefill: Prefill): Promise<string> {
    const place = await this.#ground.make();
    await runTask({ kind: "prefill", store: this.#store, contender, place, prefill });
    await this.#ground.rest?.(place);
    return place;
  }
}
