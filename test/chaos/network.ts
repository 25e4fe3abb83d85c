/**
 * The way from the children to the servers: each child has proxies of its own, one for each node, so
 * that one child can be cut off while all others go on. A child that is replaced gets new ones.
 */
import { FaultProxy } from "../servers/fault-proxy.ts";
import type { StartedStore } from "./chaos-store.ts";
import type { Routes } from "./route-connections.ts";

export class Network {
  readonly #nodes: readonly string[];
  readonly #proxies = new Map<string, readonly FaultProxy[]>();
  #isSilent = false;

  constructor({ nodes = [] }: Pick<StartedStore, "nodes">) {
    this.#nodes = nodes;
  }

  async open(name: string): Promise<Routes> {
    const routes: Record<string, string> = {};
    const proxies: FaultProxy[] = [];
    for (const node of this.#nodes) {
      const proxy = new FaultProxy(`tcp://${node}`);
      if (this.#isSilent) proxy.set("hole");
      routes[node] = new URL(await proxy.open()).host;
      proxies.push(proxy);
    }
    this.#proxies.set(name, proxies);
    return routes;
  }

  of(name: string): readonly FaultProxy[] {
    return this.#proxies.get(name) ?? [];
  }

  /** Nobody hears anything any more, until it is over: for children to come as well. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
    for (const proxies of this.#proxies.values()) {
      for (const proxy of proxies) proxy.set(isSilent ? "hole" : "open");
    }
  }

  /** Its child is gone. */
  async close(name: string): Promise<void> {
    const proxies = this.of(name);
    this.#proxies.delete(name);
    await Promise.all(proxies.map((proxy) => proxy.close()));
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#proxies.keys()].map((name) => this.close(name)));
  }
}
