/**
 * A server's program from Debian's packages: the last way, for root on Debian. Test files run in
 * processes of their own, and apt refuses to run twice at a time, so they take turns.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { isAlive } from "./is-alive.ts";

const LOCK = join(tmpdir(), "holdfast-apt.lock");
const DEADLINE_MS = 300_000;

/** Answers what `find` answers once the package is there; null if there is no way to install it. */
export async function fromDebianPackage(
  name: string,
  find: () => string | null,
): Promise<string | null> {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return null;
  await lock();
  try {
    const found = find();
    if (found !== null) return found;
    console.log(`no ${name} here: apt-get install ${name} …`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const run = promisify(execFile);
    await run("apt-get", ["update"], { env, timeout: DEADLINE_MS });
    const install = ["install", "--yes", "--no-install-recommends", name];
    await run("apt-get", install, { env, timeout: DEADLINE_MS });
    return find();
  } finally {
    await rm(LOCK, { recursive: true, force: true });
  }
}

async function lock(): Promise<void> {
  const owner = join(LOCK, "owner");
  for (;;) {
    try {
      await mkdir(LOCK);
      await writeFile(owner, String(process.pid));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const pid = Number(await readFile(owner, "utf8").catch(() => ""));
    if (pid > 0 && !isAlive(pid)) await rm(LOCK, { recursive: true, force: true });
    await sleep(200);
  }
}
