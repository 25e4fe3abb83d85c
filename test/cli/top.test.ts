/** The live screen: what is on it fits, what is chosen is what is shown, and who leaves it has left. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Cli } from "../../packages/cli/src/cli.ts";
import { LiveScreen } from "../../packages/cli/src/commands/top.ts";
import { cutPainted, textWidth } from "../../packages/cli/src/output/text-width.ts";
import type { Holdfast } from "../../packages/holdfast/src/index.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { adopted, DEAD, makeSeed, useSeed } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

const OTHER = "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d77";

let terminal: Terminal;
beforeEach(async () => {
  terminal = await Terminal.open();
  await makeSeed(terminal.folder);
  const store = sqliteStore({
    file: useSeed(terminal.folder, terminal.folder),
    synchronous: "normal",
  });
  await store.open();
  // Newer than the other one, and with more to say than fits on a screen.
  const error = { category: "unknown", message: "a bug", stack: null, fingerprint: "fp" } as const;
  await store.adopt([
    adopted({
      ...{ id: OTHER, status: "dead", type: "bill.send", queue: "bills", reason: "failed", error },
      ...{ finishedAt: Date.now(), payload: JSON.stringify({ text: "long ".repeat(500) }) },
    }),
  ]);
  await store.close();
});
afterEach(() => terminal?.close());

/** What was drawn, line by line; codes take no room. */
function linesOf(out: string): string[] {
  const screens = out.replaceAll("\u001b[H", "\n");
  // oxlint-disable-next-line no-control-regex -- those codes are looked for
  return screens.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").split(/\r?\n/);
}

describe("top", () => {
  it.each([49, 40, 30, 20])("has no line that is wrapped at %i columns", async (columns) => {
    const keys = ["\t", "\t", "\r", "q", "\t", "/", "m", "\r", "q"];
    const { code, out } = await terminal.run(["top"], { columns, keys });
    expect(code).toBe(0);
    const lines = linesOf(out);
    expect(lines.join("\n")).toContain("bills");
    expect(lines.filter((line) => textWidth(line.trimEnd()) > columns)).toEqual([]);
  });

  it("shows a job of long lines on one screen", async () => {
    const keys = ["\t", "\t", "\r", "q", "q"];
    const { out } = await terminal.run(["top", "--no-color"], { columns: 80, keys });
    const lines = linesOf(out);
    expect(lines.some((line) => line.startsWith("payload") && line.includes("long"))).toBe(true);
    expect(lines.filter((line) => textWidth(line.trimEnd()) > 80)).toEqual([]);
  });

  it("opens the job that is selected among those that the filter leaves", async () => {
    const keys = ["\t", "\t", "/", "m", "a", "i", "l", "\r", "\r", "q", "q"];
    const { out } = await terminal.run(["top", "--no-color"], { columns: 120, keys });
    const jobs = linesOf(out).filter((line) => line === DEAD || line === OTHER);
    expect(new Set(jobs)).toEqual(new Set([DEAD]));
  });

  it("is left at once while the store does not answer, and draws nothing behind that", async () => {
    const never = () => new Promise<never>(() => {});
    const hf = { counts: never, workers: { list: never }, deadLetters: { list: never } };
    let [press, written] = [(_: string) => {}, ""];
    const write = (text: string) => (written += text);
    const output = { write, isTTY: true, columns: 80, rows: 24 };
    const io = {
      ...{ cwd: terminal.folder, env: {}, stdout: output, stderr: output, canAsk: false },
      ...{ ask: never, readAll: never, onStop: () => () => {}, onResize: () => () => {} },
      onKey: (hear: (key: string) => void) => {
        press = hear;
        return () => {};
      },
    };
    const screen = new LiveScreen(
      new Cli(io, {}),
      { ...hf, jobs: never } as unknown as Holdfast,
      "here",
    );
    const left = screen.run(1_000);
    press("q");
    await left;
    press("s");
    expect(written).toBe("");
  });
});

describe("a line with colours", () => {
  it("is cut by what is seen of it, and ends the colours that it begins", () => {
    const red = (text: string) => `\u001b[31m${text}\u001b[39m`;
    expect(cutPainted(red("abcdef"), 6)).toBe(red("abcdef"));
    expect(cutPainted(red("abcdef"), 4)).toBe(red("abc…"));
    expect(cutPainted(`ab${red("cd")}${red("ef")}`, 3)).toBe(`ab${red("…")}${red("")}`);
    expect(cutPainted("日本語", 4)).toBe("日…");
    expect(cutPainted(red("abc"), 0)).toBe(red(""));
  });
});
