/** A server with something of everything to look at: jobs in every state, faults, lines, gates, schedules, locks. */
import type { Holdfast } from "holdfast";
import type { ServerOptions } from "@holdfast/server";
import { serve, type Served, type StoreName } from "../server/served.ts";
import { openBatteries, type Batteries } from "./batteries.ts";

/** Part B8 of the attacks: each would do something if it were not shown as text. */
export const HOSTILE = [
  `<img src=x onerror="alert('html')">`,
  `</script><script>alert('script')</script>`,
  `javascript:alert('link')`,
  `"><svg onload=alert('svg')>`,
  `{{constructor.constructor('alert(1)')()}}`,
];

/** For pictures that people look at. */
const CALM = [
  ...["HTTP 410 Gone", "the endpoint was removed", "https://example.com/hook", "row 12", "by hand"],
];

export const ENVIRONMENT = { name: "production" };
export interface House extends Served {
  readonly batteries: Batteries;
  /** Ids of jobs, by what they are. */
  readonly jobs: Readonly<
    Record<"dead" | "running" | "waiting" | "held" | "done" | "hostile", string>
  >;
}

export interface HouseOptions {
  /** Without the hostile strings. */
  readonly isCalm?: boolean;
  readonly server?: ServerOptions;
}

export async function openHouse(
  store: StoreName,
  { server = {}, isCalm = false }: HouseOptions = {},
): Promise<House> {
  const texts = isCalm ? CALM : HOSTILE;
  let batteries: Batteries | null = null;
  const served = await serve(store, async (hf) => {
    batteries = await openBatteries(hf);
    return { environment: ENVIRONMENT, mounts: batteries.mounts, ...server };
  });
  const opened = batteries as unknown as Batteries;
  const close = async () => {
    await served.close();
    await opened.close();
  };
  try {
    const jobs = await fill(served, texts);
    await opened.fill(served, texts);
    return { ...served, jobs, batteries: opened, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fill({ hf, data }: Served, texts: readonly string[]): Promise<House["jobs"]> {
  const bad = texts.join(" ");
  const [first = "", second = "", third = "", fourth = ""] = texts;
  define(hf, texts);
  const put = async (type: string, payload: unknown, options: object = {}) =>
    (await hf.enqueue(type as never, payload as never, options as never)).id;
  const done = await put(
    "email.send",
    { to: "a@example.com", apiToken: "hidden" },
    { group: "tenant-1" },
  );
  for (let at = 0; at < 40; at += 1) {
    await put("email.send", { at }, { group: `tenant-${at % 7}`, tags: ["nightly"] });
  }
  const running = await put("import.run", { rows: 1000 });
  const big = await put(
    "crm.sync",
    { amount: 1, ssn: "hidden" },
    { group: "tenant-7", tags: ["beta"] },
  );
  for (let at = 0; at < 8; at += 1) await put("crm.sync", { at }, { group: `tenant-${at}` });
  const failing: string[] = [];
  for (let at = 0; at < 3; at += 1) failing.push(await put("billing.recalc", { at }));
  const hostile = await put(
    "webhook.send",
    { [first]: bad, link: third },
    {
      tags: [first],
      idempotencyKey: bad.slice(0, 200),
      meta: { note: bad, trace: second },
    },
  );
  await hf.work({
    queues: ["mail", "imports", "crm", "billing", "hooks", "reports"],
    concurrency: 8,
  } as never);
  for (const id of [done, big, hostile, ...failing]) await hf.waitFor(id, { timeoutMs: 20_000 });
  await put("report.make", { month: "2026-10" }).then((id) => hf.waitFor(id).catch(() => null));

  await hf.pause("reports", {
    by: "ops",
    reason: `month end is late ${first}`,
    forMs: 3_600_000,
  });
  const held = await put("report.make", { month: "2026-11" });
  const waiting = await put("email.send", { later: true }, { delayMs: 3_600_000 });
  await hf.limit("mail", {
    maxActive: 50,
    maxActivePerGroup: 5,
    weights: { "tenant-1": 3 },
  } as never);
  await hf.queues.set("mail", { keep: { dead: null, succeeded: { maxAgeMs: 86_400_000 } } });
  await hf.gates.set("hubspot", {
    queue: "crm",
    rate: { limit: 80, perMs: 10_000, burst: 20 },
    breaker: { failures: 8, withinMs: 60_000, openMs: 30_000, probes: 2 },
  });
  await hf.gates.force("hubspot", "open", { by: "ops", reason: bad.slice(0, 200) });
  await data("PUT", "/api/v1/schedules/weekly-report", {
    body: {
      ...{ cron: "0 9 * * 1", timeZone: "Europe/Berlin", reason: bad.slice(0, 200) },
      job: { type: "report.make", payload: { month: bad.slice(0, 200) } },
    },
  });
  await hf.schedules.runNow("weekly-report", { by: "ops", reason: "to see it" });
  const plan = await hf.deadLetters.plan({ queue: "billing", limit: 2 });
  await plan.start({ by: "ops", reason: `try again ${fourth}`, perSecond: 1 });
  await data("POST", "/api/v1/tokens", { body: { role: "viewer", name: bad.slice(0, 90) } });
  return { dead: big, running, waiting, held, done, hostile };
}

function define(hf: Holdfast, texts: readonly string[]): void {
  const bad = texts.join(" ");
  const add = (definition: object) => void hf.define(definition as never);
  add({ type: "email.send", queue: "mail", run: async () => ({ sent: true }) });
  add({
    type: "import.run",
    queue: "imports",
    async run(job: {
      progress(percent: number, message: string): Promise<void>;
      signal: AbortSignal;
    }) {
      await job.progress(42, `row 420 ${texts[0]}`);
      await new Promise((resolve) => job.signal.addEventListener("abort", resolve));
    },
  });
  add({
    ...{ type: "crm.sync", queue: "crm", retry: { maxAttempts: 1 } },
    async run() {
      throw Object.assign(new Error("connect ECONNREFUSED hubspot:443"), { code: "ECONNREFUSED" });
    },
  });
  add({
    ...{ type: "billing.recalc", queue: "billing", retry: { maxAttempts: 1 } },
    async run() {
      throw new TypeError("Cannot read properties of undefined (reading 'rate')");
    },
  });
  add({
    ...{ type: "webhook.send", queue: "hooks", retry: { maxAttempts: 1 } },
    async run(job: {
      log(text: string): void;
      step(name: string, body: () => unknown): Promise<unknown>;
    }) {
      job.log(bad);
      await job.step("load", async () => bad);
      throw new Error(`${texts[0]}\n${bad}`);
    },
  });
  add({
    ...{ type: "report.make", queue: "reports" },
    lock: { key: "monthly", scope: (payload: { month: string }) => payload.month.slice(0, 60) },
    run: async () => "made",
  });
}
