/** What `npm start` shows: it ends by itself, can be repeated on the same file, and can be stopped. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const main = fileURLToPath(new URL("../../examples/tour/main.ts", import.meta.url));

describe("the tour", () => {
  let cwd: string;

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "holdfast-tour-"));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true, maxRetries: 3 }));

  function start() {
    const { HOLDFAST_URL: _, ...env } = process.env;
    const child = spawn(process.execPath, [main], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const end = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
      ([[code], stdout, stderr]) => ({ code: code as number | null, stdout, stderr }),
    );
    return { child, end };
  }

  it("finishes hundreds of jobs of every kind", async () => {
    const { code, stdout, stderr } = await start().end;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(row(stdout, "mail.hopeless")).toEqual([6, 0, 0, 0, 6]);
    expect(row(stdout, "mail.once")).toEqual([10, 20, 0, 10, 0]);
    expect(row(stdout, "mail.flaky")).toEqual([20, 0, 30, 20, 0]);
    expect(row(stdout, "order.checkout")).toEqual([5, 0, 5, 5, 0]);
    expect(row(stdout, "mail.quick")).toEqual([150, 0, 0, 150, 0]);
    expect(row(stdout, "mail.receipt")).toEqual([0, 0, 0, 5, 0]);
    expect(stdout).toContain("each order.checkout spawned one with its success");
    expect(row(stdout, "in all")).toEqual([376, 20, 35, 375, 6]);
  });

  it("stops at Ctrl-C, and the next run finishes what was left", async () => {
    const stopped = start();
    await once(stopped.child.stdout, "data");
    stopped.child.kill("SIGINT");
    const first = await stopped.end;
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: "" });
    const left = Number(/Stopped\. (\d+) jobs wait/.exec(first.stdout)?.[1]);
    expect(left).toBeGreaterThan(0);

    const second = await start().end;
    expect(second.stdout).toContain(`${left} jobs are left from an earlier run`);
    const [, , , succeeded = 0, dead = 0] = row(second.stdout, "in all");
    const [, , , before = 0, deadBefore = 0] = row(first.stdout, "in all");
    expect(succeeded + before).toBe(2 * 375);
    expect(dead + deadBefore).toBe(2 * 6);
  });
});

/** The numbers behind a name in the closing table. */
function row(stdout: string, name: string): number[] {
  const line = stdout.split("\n").find((each) => each.startsWith(name)) ?? "";
  return line.slice(16).trim().split(/ +/).map(Number);
}
