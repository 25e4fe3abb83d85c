/** What a person meets: exit codes, questions, words, and what does not reach the terminal. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DEAD, holdfastOn, makeSeed, QUEUED, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

let seed: Terminal;
let terminal: Terminal;
let file: string;
beforeAll(async () => {
  seed = await Terminal.open();
  await makeSeed(seed.folder);
});
afterAll(() => seed?.close());
beforeEach(async () => {
  terminal = await Terminal.open();
  file = useSeed(seed.folder, terminal.folder);
});
afterEach(() => terminal?.close());

describe("exit codes", () => {
  it.each([
    [["jobs"], 0],
    [["nonsense"], 2],
    [["jobs", "--nonsense"], 2],
    [["jobs", "--since", "yesterdayish"], 2],
    [["enqueue", "hello.say", "{not json", "--queue", "default"], 2],
    [["job", "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d99"], 3],
    [["ops", "show", "nothing"], 3],
    [["workers", "quiet", "nobody"], 3],
    [["lines", "nowhere"], 3],
    [["retry", QUEUED], 4],
    [["remove", DEAD], 4],
    [["retry", DEAD, "--limit", "1"], 2],
    [["retry", "--status", "dead", "--payload", "{}"], 2],
    [["serve", "--classic-anonymous", "viewer"], 2],
    [["tokens", "create", "x", "--queue", "../x"], 2],
    [["tokens", "create", "x", "--expires", "2020-01-01"], 2],
    [["move", "--to", "sqlite:holdfast.db", "--yes"], 4],
    [["import-from", "bullmq", "--from", "redis://127.0.0.1:1", "--queue", "to=a b", "--yes"], 2],
    [["jobs", "--url", "sqlite:typo.db"], 3],
    [["jobs", "--url", "postgres://ann:s3cret@127.0.0.1:1/jobs"], 5],
    [["jobs", "--url", "mysql://localhost/x"], 2],
  ] as const)("holdfast %j ends with %i", async (argv, code) => {
    const ran = await terminal.run(argv);
    expect(ran, ran.err).toMatchObject({ code });
    if (code > 0) expect(ran.out + ran.err).not.toBe("");
    expect(ran.out + ran.err).not.toMatch(/s3cret|\n\s+at /);
  });

  it("a word that is near is suggested", async () => {
    expect((await terminal.run(["qeues"])).err).toContain("Did you mean queues?");
  });
});

it("of several jobs that are named, one that is not there keeps no other from its turn", async () => {
  const gone = "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d99";
  const { code, out } = await terminal.run(["retry", gone, DEAD]);
  expect(out).toBe(`missing ${gone}\nretried ${DEAD}\n`);
  expect(code).toBe(3);
});

describe("settings", () => {
  it("all bad values are named at once, and stop the command", async () => {
    const env = { HOLDFAST_CONCURRENCY: "x", WORKER_CONCURRENCY: "y", QUEUE_POLL_MS: "0" };
    const { code, err } = await terminal.run(["jobs"], { env });
    expect(code).toBe(2);
    for (const name of Object.keys(env)) expect(err).toContain(name);
  });

  it("a configuration file in TypeScript is read as it is", async () => {
    const text = `const config: { url: string } = { url: "sqlite:holdfast.db" };\nexport default config;\n`;
    writeFileSync(join(terminal.folder, "holdfast.config.ts"), text);
    const { out, code } = await terminal.run(["doctor"]);
    expect(out).toContain("from url in holdfast.config.ts");
    expect(code).toBe(0);
  });
});

describe("what comes from a store", () => {
  it("reaches a terminal without its control characters", async () => {
    for (const argv of [["jobs"], ["job", DEAD], ["dead", "groups"], ["jobs", "--json"]]) {
      const { out } = await terminal.run([...argv, "--no-color"], { columns: 120 });
      expect(out).toContain("ECONNRESET");
      // oxlint-disable-next-line no-control-regex -- that is what must not be there
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    }
  });

  it("has its secrets hidden, unless a person wants them", async () => {
    const payload = '{"to":"ann","apiKey":"s3cret"}';
    const { out } = await terminal.run(["enqueue", "x", payload, "--queue", "default"]);
    const id = out.split(" ")[1]?.trim() ?? "";
    for (const argv of [
      ["jobs", "--json"],
      ["job", id],
      ["job", id, "--json"],
    ]) {
      const shown = await terminal.run(argv);
      expect(shown.out).toContain("[REDACTED]");
      expect(shown.out).not.toContain("s3cret");
    }
    expect((await terminal.run(["job", id, "--reveal"])).out).toContain("s3cret");
  });

  it("fits the terminal, and is whole in a pipe", async () => {
    for (const columns of [120, 90, 70]) {
      const { out } = await terminal.run(["jobs", "--no-color"], { columns });
      for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
      // What people copy is never cut.
      expect(out).toContain(DEAD);
    }
    expect((await terminal.run(["jobs"])).out).toContain("10.0.0.1:25");
    const { out: queues } = await terminal.run(["queues", "--no-color"], { columns: 55 });
    for (const line of queues.split("\n")) expect(line.length).toBeLessThanOrEqual(55);
  });
});

describe("what cannot be undone", () => {
  const removal = ["remove", "--status", "dead"];

  it("is refused where no person can be asked", async () => {
    const { code, err } = await terminal.run(removal);
    expect(code).toBe(4);
    expect(err).toContain("--yes");
  });

  it("is not done if the answer is no", async () => {
    expect((await terminal.run(removal, { answers: ["n"] })).code).toBe(4);
    expect((await terminal.run(["job", DEAD])).code).toBe(0);
  });

  it("is done if the answer is yes, by this process where no worker runs", async () => {
    const { code, out, err } = await terminal.run(removal, { answers: ["yes"] });
    expect(code, err).toBe(0);
    expect(out).toContain("1 of 1 done");
    expect((await terminal.run(["job", DEAD])).code).toBe(3);
    expect((await terminal.run(["schedules", "runs", "no-such"])).code).toBe(3);
  });

  it("is only told by a dry run", async () => {
    const { code, out } = await terminal.run([...removal, "--dry-run"]);
    expect([code, out.includes("Would remove 1 job")]).toEqual([0, true]);
    expect((await terminal.run(["job", DEAD])).code).toBe(0);
  });

  it("is noted in the audit, with who and why", async () => {
    await terminal.run(["cancel", QUEUED, "--reason", "not needed"]);
    const { out } = await terminal.run(["audit", "--json"]);
    const { entries } = JSON.parse(out) as { entries: { body: { by: string; reason: string } }[] };
    expect(entries[0]?.body).toMatchObject({ action: "cancel", by: "ann", reason: "not needed" });
  });
});

it("Ctrl-C leaves an operation paused, and resume goes on", async () => {
  const hf = holdfastOn(file);
  await hf.enqueueAll(
    Array.from({ length: 50 }, () => ({ type: "email.send", payload: null, queue: "many" })),
  );
  await hf.close();
  const argv = ["cancel", "--queue", "many", "--per-second", "1", "--yes"];
  const ran = await terminal.run(argv, {
    columns: 80,
    stopWhen: (written) => / of 50/.test(written),
  });
  expect(ran.out).toContain("It is paused");
  const [, id = ""] = /ops resume (\S+)/.exec(ran.out) ?? [];
  expect((await terminal.run(["ops", "resume", id])).code).toBe(0);
  const { out } = await terminal.run(["ops", "show", id, "--json"]);
  expect(JSON.parse(out)).toMatchObject({ state: "running", of: 50 });
});

it("work runs a module of TypeScript and stops cleanly", async () => {
  const enqueued = await terminal.run([
    "enqueue",
    "hello.say",
    '{"name":"Ann"}',
    "--queue",
    "default",
  ]);
  const id = enqueued.out.split(" ")[1]?.trim() ?? "";
  const ran = await terminal.run(["work", "--jobs", "./jobs.ts"], {
    stopWhen: (written) => written.includes("job:succeeded"),
  });
  expect(ran.code, ran.err).toBe(0);
  const lines = ran.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { event: string });
  expect(lines.map(({ event }) => event)).toEqual([
    ...["work:start", "job:succeeded", "work:stop", "work:end"],
  ]);
  const { out } = await terminal.run(["job", id]);
  expect(out).toContain('"Hello Ann"');
});

it("top draws queues, sorts, filters, pauses and shows a job", async () => {
  const keys = ["/", "m", "a", "\r", "p", "\t", "\t", "\r", "q", "q"];
  const { code, out } = await terminal.run(["top", "--no-color"], { columns: 100, keys });
  expect(code).toBe(0);
  expect(out).toContain("holdfast top");
  expect(out).toContain("filter: ma");
  expect(out).toContain("Queue mail is paused.");
  expect(out).toContain(DEAD);
  const { out: queues } = await terminal.run(["queues", "--json"]);
  expect(JSON.parse(queues)).toMatchObject([{ queue: "mail", held: "paused by ann: top" }]);
});

it("top fits half a screen: no line of it is wrapped", async () => {
  for (const columns of [70, 60]) {
    const keys = ["\t", "\t", "\t", "q"];
    const { out } = await terminal.run(["top", "--no-color"], { columns, keys });
    // Each screen begins at the top; what else moves the cursor takes no room.
    const screens = out.replaceAll("\u001b[H", "\n");
    // oxlint-disable-next-line no-control-regex -- those codes are looked for
    const lines = screens.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").split("\n");
    expect(lines.join("\n")).toContain(DEAD);
    expect(lines.filter((line) => line.trimEnd().length > columns)).toEqual([]);
  }
});

it("the completion of bash knows commands, those below them, and options", async () => {
  const { spawnSync } = await import("node:child_process");
  const { out } = await terminal.run(["completion", "bash"]);
  const ask = (words: readonly string[]) => {
    const script = `${out}\nCOMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length - 1}; _holdfast; echo "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim();
  };
  expect(ask(["holdfast", "que"])).toBe("queues");
  expect(ask(["holdfast", "dead", "re"])).toBe("replay resolve reopen");
  expect(ask(["holdfast", "dead", "replay", "--per-s"])).toBe("--per-second");
  expect(ask(["holdfast", "jobs", "--st"])).toBe("--status");
});
