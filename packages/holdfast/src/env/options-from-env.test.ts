import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "../core/errors.ts";
import { Holdfast } from "../holdfast.ts";
import { memoryStore } from "../stores/memory/index.ts";
import { optionsFromEnv } from "./options-from-env.ts";
import { hideCredentials, readSettings } from "./read-settings.ts";

const quiet = { onWarning: () => {} };

describe("options from the environment", () => {
  it("an empty environment sets nothing", () => {
    expect(optionsFromEnv({ PATH: "/bin", WORKER_CONCURRENCY: "" })).toEqual({});
  });

  it("names of other systems set what ours set", () => {
    const options = optionsFromEnv({
      ...{ WORKER_QUEUE_NAME: "ai-cfo-jobs", WORKER_CONCURRENCY: "4", QUEUE_POLL_MS: "5000" },
      ...{ QUEUE_MAX_ATTEMPTS: "3", QUEUE_VISIBILITY_MS: "30000", QUEUE_HEARTBEAT_MS: "10000" },
      ...{ QUEUE_RESILIENT_MODE: "true", JOB_DLQ_RETENTION_DAYS: "14" },
      JOB_FAILURE_SPIKE_THRESHOLD: "12",
    });
    const maxAgeMs = 14 * 86_400_000;
    expect(options).toEqual({
      work: {
        ...{ queues: ["ai-cfo-jobs"], concurrency: 4, pollMs: 5000 },
        ...{ leaseMs: 30_000, renewMs: 10_000 },
      },
      maxAttempts: 3,
      resilient: "inline",
      alerts: { spike: { failures: 12 }, dead: false },
      retention: { dead: { maxAgeMs }, ledger: { failure: { maxAgeMs } } },
    });
  });

  it("a password is hidden to its last letter, also with an @ in it", () => {
    expect(hideCredentials("postgres://ann:p@ss@db.example/jobs?sslmode=require")).toBe(
      "postgres://…@db.example/jobs",
    );
    expect(hideCredentials("redis://:s3cret@cache:6379/0")).toBe("redis://…@cache:6379/0");
    expect(hideCredentials("sqlite:///data/ann@home.db")).toBe("sqlite:///data/ann@home.db");
  });

  it("a Holdfast takes all of them", async () => {
    const options = optionsFromEnv({
      ...{ HOLDFAST_CONCURRENCY: "2", HOLDFAST_MAX_ATTEMPTS: "3", HOLDFAST_RESILIENT: "yes" },
      ...{ HOLDFAST_DEAD_RETENTION_DAYS: "7", HOLDFAST_REDACT_KEYS: "iban, card" },
      ...{ JOB_LOCK_STALE_MINUTES: "5", HOLDFAST_APP_VERSION: "2.4.1", HOLDFAST_GRACE_MS: "100" },
    });
    expect(options.lock).toEqual({ staleMs: 300_000 });
    const hf = new Holdfast({ store: memoryStore(), ...options });
    hf.define({ type: "one", run: () => {} });
    hf.define({ type: "named", retry: { maxAttempts: 9 }, run: () => {} });
    hf.define({ type: "paced", retry: { baseMs: 10 }, run: () => {} });
    const worker = await hf.work();
    expect((await hf.workers.list())[0]).toMatchObject({ slots: 2, version: "2.4.1" });
    for (const [type, attempts] of Object.entries({ one: 3, named: 9, paced: 3 })) {
      const { id } = await hf.enqueue(type, null, { delayMs: 60_000 });
      expect((await hf.job(id))?.maxAttempts).toBe(attempts);
    }
    await worker.stop();
    await hf.close();
  });

  it("a heartbeat alone raises the lease to three times that", () => {
    expect(optionsFromEnv({ QUEUE_HEARTBEAT_MS: "10000" })).toEqual({
      work: { renewMs: 10_000, leaseMs: 30_000 },
    });
  });

  it("every bad value is named at once", () => {
    const env = { WORKER_CONCURRENCY: "many", QUEUE_POLL_MS: "-5", QUEUE_RESILIENT_MODE: "maybe" };
    const asking = () => optionsFromEnv(env, quiet);
    expect(asking).toThrow(InvalidOptionError);
    for (const name of Object.keys(env)) expect(asking).toThrow(name);
  });

  it("two names of one setting with different values stop the start", () => {
    const asking = () => optionsFromEnv({ WORKER_CONCURRENCY: "4", QUEUE_CONCURRENCY: "8" }, quiet);
    expect(asking).toThrow(/WORKER_CONCURRENCY is 4 and QUEUE_CONCURRENCY is 8/);
  });

  it("two names with the same meaning do not", () => {
    const env = { HOLDFAST_RESILIENT: "yes", QUEUE_RESILIENT_MODE: "1" };
    expect(optionsFromEnv(env)).toEqual({ resilient: "inline" });
  });

  it("of two leases the first wins, with a warning", () => {
    const warnings: string[] = [];
    const options = optionsFromEnv(
      { QUEUE_VISIBILITY_MS: "30000", QUEUE_STUCK_THRESHOLD_MS: "300000" },
      { onWarning: (warning) => warnings.push(warning) },
    );
    expect(options).toEqual({ work: { leaseMs: 30_000 } });
    expect(warnings).toEqual([expect.stringContaining("QUEUE_VISIBILITY_MS wins")]);
  });

  it("a misspelt name of ours is a warning with the nearest name", () => {
    const { warnings } = readSettings({ env: { HOLDFAST_CONCURENCY: "4" } });
    expect(warnings).toEqual([expect.stringContaining("did you mean HOLDFAST_CONCURRENCY?")]);
    // The beginning that all of them share makes no two of them near.
    const { warnings: others } = readSettings({ env: { HOLDFAST_XYZ: "4" } });
    expect(others).toEqual(["HOLDFAST_XYZ is set, and nothing reads it"]);
  });

  it("no message shows a password or a token", () => {
    const env = { HOLDFAST_URL: "topsecret", HOLDFAST_ADMIN_TOKEN: "x".repeat(5_000) };
    const { problems } = readSettings({ env });
    expect(problems).toHaveLength(2);
    expect(problems.join()).not.toMatch(/topsecret|xxx/);
  });
});

describe("settings in layers", () => {
  it("a flag is over the environment, that is over the file", () => {
    const file = { name: "holdfast.config.ts", values: { concurrency: 1, pollMs: 1, leaseMs: 99 } };
    const { values, sources } = readSettings({
      flags: { concurrency: 3 },
      env: { HOLDFAST_CONCURRENCY: "2", HOLDFAST_POLL_MS: "2" },
      file,
    });
    expect(values).toEqual({ concurrency: 3, pollMs: 2, leaseMs: 99 });
    expect(sources).toEqual({
      concurrency: "--concurrency",
      pollMs: "HOLDFAST_POLL_MS",
      leaseMs: "leaseMs in holdfast.config.ts",
    });
  });

  it("a setting that a file misspells stops the start", () => {
    const file = { name: "holdfast.config.json", values: { concurency: 3 } };
    expect(readSettings({ file }).problems).toEqual([
      "holdfast.config.json has no setting concurency: did you mean concurrency?",
    ]);
  });

  it("a bad value is named even where another layer is over it", () => {
    const layers = { flags: { concurrency: 3 }, env: { HOLDFAST_CONCURRENCY: "many" } };
    expect(readSettings(layers).problems).toHaveLength(1);
  });
});
