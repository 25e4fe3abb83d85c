/** While the store is away a server answers 503, stays alive, and keeps its listeners, whom it tells. */
import { afterEach, describe, expect, it } from "vitest";
import type { Store } from "holdfast";
import { SERVERS, type OutageServer, type ServerKind } from "../resilience/outage-servers.ts";
import { onlyInFull } from "../runner/tier.ts";
import { FaultProxy } from "../servers/fault-proxy.ts";
import { listenTo } from "./listen-events.ts";
import { serve, type Served } from "./served.ts";

describe("while the store is away", () => {
  const closings: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
  });

  async function started(kind: ServerKind, through?: (url: string) => Promise<string>) {
    const server: OutageServer = await kind.start();
    closings.push(() => server.stop());
    const url = (await through?.(server.url)) ?? server.url;
    const served = await serve("sqlite", {}, { link: (): Store => kind.store(url) });
    closings.push(() => served.close());
    served.hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    await served.hf.work();
    return { server, served };
  }

  /** From a listener that hears, through an outage, to the same listener hearing again. */
  async function survives(
    served: Served,
    outage: { begin(): Promise<void>; end(): Promise<void> },
  ): Promise<void> {
    const ear = await listenTo(served.url);
    await ear.next("overview");
    await expect.poll(() => status(served, "/readyz")).toBe(200);

    await outage.begin();
    expect((await ear.next("store")).data).toEqual({ isAway: true });
    const jobs = await served.call("GET", "/api/v1/jobs");
    expect(jobs.status).toBe(503);
    expect(Number(jobs.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(jobs.text).not.toMatch(/ECONN|127\.0\.0\.1|:\d{4}/);
    const ready = await served.call("GET", "/readyz", { token: null });
    expect(ready).toMatchObject({ status: 503, json: { data: { ok: false, store: false } } });
    expect(Number(ready.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await status(served, "/healthz")).toBe(200);
    const newcomer = await listenTo(served.url);
    expect((await newcomer.next("store")).data).toEqual({ isAway: true });

    await outage.end();
    for (const one of [ear, newcomer]) {
      expect((await one.next("store")).data).toEqual({ isAway: false });
      expect((await one.next("overview")).data).toMatchObject({ queueCount: expect.any(Number) });
      one.close();
    }
    const { id } = await served.hf.enqueue("mail.send", {});
    expect(await served.hf.waitFor(id, { timeoutMs: 30_000 })).toMatchObject({
      status: "succeeded",
    });
    await expect.poll(() => status(served, "/readyz"), { timeout: 20_000 }).toBe(200);
    expect(await status(served, "/api/v1/jobs")).toBe(200);
  }

  for (const kind of SERVERS) {
    const isDaily = kind.name === "Redis";

    it(
      `a ${kind.name} that is stopped and started again costs no listener`,
      { timeout: 90_000 },
      async (test) => {
        if (!isDaily) onlyInFull(test);
        const { server, served } = await started(kind);
        await survives(served, { begin: () => server.halt("fast"), end: () => server.resume() });
      },
    );

    it(`a ${kind.name} that is killed costs no listener`, { timeout: 90_000 }, async (test) => {
      onlyInFull(test);
      const { server, served } = await started(kind);
      await survives(served, { begin: () => server.halt("kill"), end: () => server.resume() });
    });

    it(
      `a ${kind.name} that swallows everything costs no listener`,
      { timeout: 90_000 },
      async (test) => {
        onlyInFull(test);
        const proxy: { current: FaultProxy | null } = { current: null };
        const { served } = await started(kind, async (url) => {
          proxy.current = new FaultProxy(url);
          closings.push(async () => proxy.current?.close());
          return proxy.current.open();
        });
        await survives(served, {
          begin: async () => proxy.current?.set("hole"),
          async end() {
            proxy.current?.set("open");
            proxy.current?.cut();
          },
        });
      },
    );
  }
});

async function status(served: Served, path: string): Promise<number> {
  return (await served.call("GET", path)).status;
}
