/** What `npm start -- --live` shows: a server and a worker with live work, until Ctrl-C. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../servers/free-port.ts";

const main = fileURLToPath(new URL("../../examples/live/main.ts", import.meta.url));

interface Live {
  readonly child: ChildProcess;
  readonly said: { out: string; err: string };
  readonly ended: Promise<number | null>;
}

describe("npm start -- --live", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "holdfast-live-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true, maxRetries: 3 }));

  function start(...argv: readonly string[]): Live {
    const { HOLDFAST_URL: _, HOLDFAST_ADMIN_TOKEN: __, HOLDFAST_PORT: ___, ...env } = process.env;
    const child = spawn(process.execPath, ["--conditions=@holdfast/source", main, ...argv], {
      ...{ cwd, env, stdio: ["ignore", "pipe", "pipe"] },
    });
    const said = { out: "", err: "" };
    child.stdout?.on("data", (part: Buffer) => (said.out += part.toString()));
    child.stderr?.on("data", (part: Buffer) => (said.err += part.toString()));
    return { child, said, ended: once(child, "close").then(([code]) => code as number | null) };
  }

  it("serves live work with the token that it prints, and stops cleanly at Ctrl-C", async () => {
    const live = start("--port", "0");
    await expect.poll(() => live.said.out + live.said.err, { timeout: 20_000 }).toContain("Ctrl-C");
    const [, url = ""] = /address +(\S+)/.exec(live.said.out) ?? [];
    const [, token = ""] = /token +(\S+)/.exec(live.said.out) ?? [];
    const ask = async (path: string) => {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      // oxlint-disable-next-line typescript/no-explicit-any -- what a server sends is read as it comes
      return ((await answer.json()) as any).data;
    };
    const overview = async () => (await ask("/api/v1/overview")).totals.succeeded as number;
    await expect.poll(overview, { timeout: 20_000 }).toBeGreaterThan(5);
    const gates = (await ask("/api/v1/gates")).items as { name: string }[];
    expect(gates).toMatchObject([{ name: "provider", state: "closed" }]);
    const schedules = (await ask("/api/v1/schedules")).items as { name: string }[];
    expect(schedules.map(({ name }) => name)).toEqual([
      "monday-at-nine",
      "report-every-20-seconds",
    ]);
    // The dashboard's address is printed exactly if there is one.
    const page = await fetch(`${url}/`);
    expect(live.said.out.includes("  dashboard  ")).toBe(page.status === 200);

    // npm passes on what the terminal sent already: the same Ctrl-C comes twice.
    live.child.kill("SIGINT");
    live.child.kill("SIGINT");
    expect(await live.ended).toBe(0);
    expect(live.said.out).toContain("Stopped.");
    expect(live.said.err).toBe("");
  }, 60_000);

  it("says that a port is in use, and which to take instead", async () => {
    const port = await freePort();
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    const live = start("--port", String(port));
    expect(await live.ended).toBe(1);
    expect(live.said.err).toContain(`port ${port} of 127.0.0.1 is in use`);
    expect(live.said.err).toContain("npm start -- --live --port 0");
    expect(live.said.err).not.toContain("    at ");
    other.close();
  });

  it.each([
    [["--nonsense"], "--tour or --port"],
    [["--port", "x"], "0 to 65535"],
  ])("%j is refused in words", async (argv, words) => {
    const live = start(...argv);
    expect(await live.ended).toBe(2);
    expect(live.said.err).toContain(words);
  });
});
