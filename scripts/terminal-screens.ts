/**
 * The screens of docs/guides/command-line.md, from a real terminal: `node scripts/terminal-screens.ts`. It starts
 * examples/live, types the commands in tmux as a person would, and writes what is to be seen between the marks
 * `<!-- screen: … -->` and `<!-- /screen -->`. Needs tmux.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const guide = join(root, "docs/guides/command-line.md");
const bin = join(root, "packages/cli/src/bin.ts");
const SOCKET = "holdfast-screens";
const [COLUMNS, ROWS] = ["100", "26"];
/** Until the schedule has fired and some jobs have died. */
const LIVE_MS = 30_000;
const MARKED = /<!-- screen: (.+?) -->[^]*?<!-- \/screen -->/g;

const tmux = (...argv: readonly string[]) =>
  execFileSync("tmux", ["-L", SOCKET, ...argv], { encoding: "utf8" });
/** Without the empty middle of a live screen. */
const seen = () =>
  tmux("capture-pane", "-p", "-t", "screen")
    .trimEnd()
    .replaceAll(/\n{3,}/g, "\n\n");

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-screens-"));
  const flags = ["--conditions=@holdfast/source"];
  const node = [process.execPath, ...flags];
  // In a folder of its own, with the default store there.
  const { HOLDFAST_URL: _, ...env } = process.env;
  const argv = [...flags, join(root, "examples/live/main.ts"), "--port", "0"];
  const live = spawn(process.execPath, argv, {
    ...{ cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] },
  });
  const ended = once(live, "exit");
  try {
    await once(live.stdout, "data");
    await pause(LIVE_MS);
    tmux("new-session", "-d", "-s", "screen", "-x", COLUMNS, "-y", ROWS, "bash --norc");
    const shell = `cd ${folder}; unset HOLDFAST_URL; export USER=ann PS1='$ '; holdfast() { ${node.join(" ")} ${bin} "$@"; }`;
    await typed(shell);
    await typed("holdfast pause tour.tenants --for 30m --reason 'migration of tenant-big'");
    const page = readFileSync(guide, "utf8");
    const screens = new Map<string, string>();
    for (const [, command = ""] of page.matchAll(MARKED)) {
      screens.set(
        command,
        command.endsWith(" top") ? await liveScreen(command) : await typed(command),
      );
    }
    const written = page.replaceAll(MARKED, (_, command: string) => {
      const text = `\`\`\`text\n$ ${command}\n${screens.get(command)}\n\`\`\``;
      return `<!-- screen: ${command} -->\n\n${text}\n\n<!-- /screen -->`;
    });
    writeFileSync(guide, written);
  } finally {
    try {
      tmux("kill-server");
    } catch {
      // It was not started.
    }
    live.kill("SIGINT");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

let count = 0;

/** Answers what a command has written, once it has ended. */
async function typed(command: string): Promise<string> {
  const done = `done-${++count}`;
  tmux(
    "send-keys",
    "-t",
    "screen",
    `clear; ${command}; tmux -L ${SOCKET} wait-for -S ${done}`,
    "Enter",
  );
  tmux("wait-for", done);
  // The terminal draws after the shell has gone on.
  await pause(200);
  return seen().replace(/\n\$$/, "");
}

/** Answers the screen of a command that goes on until a key is pressed. */
async function liveScreen(command: string): Promise<string> {
  tmux("send-keys", "-t", "screen", `clear; ${command}`, "Enter");
  while (!/QUEUE .*READY/.test(seen())) await pause(200);
  await pause(3_000);
  const screen = seen();
  tmux("send-keys", "-t", "screen", "q");
  await pause(1_000);
  return screen;
}

await main();
