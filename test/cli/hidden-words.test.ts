/** Secrets that a job's error says reach no terminal, nor what would move its cursor. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { pinoLogger } from "../../packages/cli/src/output/log-lines.ts";
import { NO_PAINT } from "../../packages/cli/src/output/paint.ts";
import { sqliteStore } from "../../packages/holdfast/src/stores/sqlite/index.ts";
import { adopted } from "./seeded-store.ts";
import { Terminal } from "./terminal.ts";

const ID = "01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d22";
const message = "cannot reach postgres://ann:s3cret@db/jobs";

let terminal: Terminal;
beforeEach(async () => {
  terminal = await Terminal.open();
  const file = `${terminal.folder}/holdfast.db`;
  const store = sqliteStore({ file, synchronous: "normal" });
  await store.open();
  const error = { category: "network", message, stack: null, fingerprint: "fp" } as const;
  const about = { id: ID, status: "dead", reason: "failed", error } as const;
  await store.adopt([adopted({ ...about, finishedAt: Date.now() })]);
  await store.close();
});
afterEach(() => terminal?.close());

it.each([
  [["dead", "groups"]],
  [["dead", "groups", "--json"]],
  [["dead", "show", "fp"]],
  [["dead", "show", "fp", "--json"]],
  [["why", ID]],
  [["why", ID, "--json"]],
] as const)("holdfast %j hides them", async (argv) => {
  const { code, out } = await terminal.run([...argv]);
  expect(code).toBe(0);
  expect(out).toContain("postgres://ann:[REDACTED]@db/jobs");
  expect(out).not.toContain("s3cret");
});

it("top hides them", async () => {
  const keys = ["\t", "\t", "\r", "q", "q"];
  const { out } = await terminal.run(["top", "--no-color"], { columns: 160, keys });
  expect(out).toContain("[REDACTED]@db");
  expect(out).not.toContain("s3cret");
});

it("a line of a worker at a terminal obeys nothing that a handler's error says", () => {
  const lines: string[] = [];
  const stdout = { isTTY: true, write: (line: string) => lines.push(line) };
  const cli = { io: { stdout }, isJson: false, paint: NO_PAINT };
  const logger = pinoLogger(cli as unknown as Parameters<typeof pinoLogger>[0], "info");
  const hostile = "refused\u001b]0;owned\u0007\u001b[2J\r\nfaked line";
  logger.error(`dead: ${hostile}`, { reason: hostile, error: new Error(hostile) });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain("dead: refused faked line");
  // oxlint-disable-next-line no-control-regex -- that is what must not be there
  expect(lines[0]?.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
