/** Gates, schedules, settings and presets, made and taken away from a shell. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DEAD, FINGERPRINT, makeSeed, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

let seed: Terminal;
let terminal: Terminal;
beforeAll(async () => {
  seed = await Terminal.open();
  await makeSeed(seed.folder);
});
afterAll(() => seed?.close());
beforeEach(async () => {
  terminal = await Terminal.open();
  useSeed(seed.folder, terminal.folder);
});
afterEach(() => terminal?.close());

async function ok(...argv: readonly string[]): Promise<string> {
  const ran = await terminal.run(argv);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  return ran.out;
}

async function json(...argv: readonly string[]): Promise<unknown> {
  return JSON.parse(await ok(...argv, "--json"));
}

describe("gates", () => {
  it("are set as a whole, changed and removed", async () => {
    await ok(
      ...["gates", "set", "hubspot", "--queue", "mail", "--queue", "crm/tenant-7"],
      ...["--rate", "80/10s+20", "--rate", "1000/d", "--cooldown", "5m", "--breaker", "8/60s"],
      ...["--open", "30s", "--probes", "2", "--counts-as-down", "network", "--reason", "contract"],
    );
    expect(await json("gates")).toMatchObject([
      {
        name: "hubspot",
        targets: [{ queue: "mail" }, { queue: "crm", group: "tenant-7" }],
        rate: [
          { limit: 80, perMs: 10_000, burst: 20 },
          { limit: 1000, perMs: 86_400_000, burst: 100 },
        ],
        cooldown: { maxMs: 300_000 },
        breaker: { failures: 8, withinMs: 60_000, openMs: 30_000, probes: 2 },
        countsAsDown: ["network"],
      },
    ]);
    await ok("gates", "set", "hubspot", "--queue", "mail", "--rate", "5/s", "--per-group");
    expect(await json("gates")).toMatchObject([
      { name: "hubspot", per: "group", rate: [{ limit: 5 }], cooldown: null, breaker: null },
    ]);
    expect(await ok("audit")).toContain("contract");
    await ok("gates", "remove", "hubspot", "--yes");
    expect(await ok("gates")).toBe("No gates.\n");
  });

  it.each([
    [["gates", "set", "g"], 2, "rate"],
    [["gates", "set", "g", "--rate", "often"], 2, "80/10s"],
    [["gates", "set", "g", "--breaker", "8/60s"], 2, "--open"],
    [["gates", "set", "g", "--probes", "2"], 2, "--breaker"],
    [
      ["gates", "set", "g", "--breaker", "8/1m", "--open", "1m", "--counts-as-down", "x"],
      2,
      "rate_",
    ],
    [["gates", "set", "g", "--cooldown", "soon"], 2, "duration"],
    [["gates", "remove", "g", "--yes"], 3, "holdfast gates"],
    [["gates", "remove", "g"], 4, "--yes"],
    [["gates", "force", "g", "ajar"], 2, "open"],
  ] as const)("%j ends with %i and says %s", async (argv, code, words) => {
    const ran = await terminal.run(argv);
    expect(ran).toMatchObject({ code });
    expect(ran.err).toContain(words);
  });
});

describe("schedules", () => {
  it("are set, changed, previewed and removed", async () => {
    const set = ["schedules", "set", "weekly", "email.send", '{"to":"ann"}', "--queue", "mail"];
    const out = await ok(...set, "--cron", "0 9 * * 1", "--time-zone", "Europe/Berlin");
    expect(out).toMatch(/Schedule weekly is set\.\n(next {2}.+\n){5}/);
    expect(await json("schedules")).toMatchObject([
      {
        name: "weekly",
        cron: "0 9 * * 1",
        timeZone: "Europe/Berlin",
        job: { type: "email.send", queue: "mail", payload: { to: "ann" } },
        origin: "api",
      },
    ]);
    await ok(...set, "--every", "2m", "--overlap", "queue", "--missed", "skip");
    expect(await json("schedules")).toMatchObject([
      { cron: null, everyMs: 120_000, overlap: "queue", onMissed: "skip" },
    ]);
    expect(await json("schedules", "preview", "--every", "2m", "-n", "3")).toMatchObject({
      next: [expect.any(String), expect.any(String), expect.any(String)],
    });
    await ok("schedules", "remove", "weekly", "--yes");
    expect(await ok("schedules")).toBe("No schedules.\n");
  });

  const set = ["schedules", "set", "s", "email.send", "--queue", "mail"];
  it.each([
    [set, 2, "--every"],
    [[...set, "--cron", "0 9 * * 1", "--every", "2m"], 2, "either"],
    [[...set, "--cron", "every monday"], 2, "cron"],
    [[...set, "--cron", "0 9 * * 1", "--time-zone", "Mars/Base"], 2, "Mars/Base"],
    [["schedules", "set", "s", "email.send", "{", "--every", "2m"], 2, "JSON"],
    [["schedules", "set", "s", "nowhere", "--every", "2m"], 2, "--queue"],
    [["schedules", "remove", "s", "--yes"], 3, "s"],
    [["schedules", "preview"], 2, "--cron"],
  ] as const)("%j ends with %i and says %s", async (argv, code, words) => {
    const ran = await terminal.run(argv);
    expect(ran).toMatchObject({ code });
    expect(ran.err).toContain(words);
  });
});

it("settings of a queue are shown, changed one by one and taken back", async () => {
  expect(await ok("settings", "mail")).toContain("as in general");
  await ok(
    "settings",
    "mail",
    "--keep-dead",
    "none",
    "--keep-succeeded",
    "3d",
    "--max-waiting",
    "9",
  );
  await ok("settings", "mail", "--overflow", "reject");
  expect(await json("settings", "mail")).toMatchObject({
    ...{ keep: { dead: null, succeeded: { maxAgeMs: 259_200_000 } }, maxWaiting: 9 },
    overflow: "reject",
  });
  expect(await ok("settings", "mail")).toMatch(/keep succeeded +3d\n +keep dead +for ever/);
  await ok("settings", "mail", "--follow-general-keep", "--max-waiting", "none");
  expect(await json("settings", "mail")).toMatchObject({ keep: {}, maxWaiting: null });
});

it("a replay is saved under a name, planned by it and forgotten", async () => {
  await ok("dead", "save", "nightly", "--category", "network", "--limit", "5");
  expect(await json("dead", "presets")).toEqual([
    { name: "nightly", options: { category: "network", limit: 5 } },
  ]);
  expect(await ok("dead", "replay", "--preset", "nightly", "--dry-run")).toContain("retry 1 job");
  const choices = [["--limit", "1"], ["--queue", "mail"], ["--since", "1d"], ["a-fingerprint"]];
  for (const beside of choices) {
    const both = ["dead", "replay", "--preset", "nightly", ...beside, "--dry-run"];
    expect(await terminal.run(both)).toMatchObject({ code: 2 });
  }
  await ok("dead", "forget", "nightly");
  expect(await ok("dead", "presets")).toBe("No presets.\n");
  expect(await terminal.run(["dead", "forget", "nightly"])).toMatchObject({ code: 3 });
});

it("a fault that was ignored is opened again", async () => {
  await ok("dead", "ignore", FINGERPRINT);
  expect(await ok("dead", "groups")).toBe("No dead jobs.\n");
  await ok("dead", "reopen", FINGERPRINT);
  expect(await ok("dead", "groups")).toContain(FINGERPRINT);
});

it("a tenant is erased, by this process where no worker runs", async () => {
  expect(await terminal.run(["erase", "tenant-7"])).toMatchObject({ code: 4 });
  const out = await ok("erase", "tenant-7", "--reason", "asked for", "--yes");
  expect(out).toMatch(/^Erased: 1 job, /);
  expect(await json("jobs", "--group", "tenant-7")).toMatchObject({ jobs: [] });
  expect(await ok("job", DEAD)).toContain(DEAD);
});
