import { describe, expect, it } from "vitest";
import { pinoLogger } from "./log-lines.ts";

type LineCli = Parameters<typeof pinoLogger>[0];

/** A logger of a process whose output is no terminal, and the lines that it wrote. */
function machine(level = "info") {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) > 0;
  const cli = { io: { stdout: { isTTY: false, write } }, isJson: true } as unknown as LineCli;
  return { logger: pinoLogger(cli, level), lines };
}

describe("log lines", () => {
  it("are JSON with level, time, process and message, from the level that was asked for on", () => {
    const { logger, lines } = machine();
    logger.debug("started");
    logger.warn("leases ran out", { event: "reap", count: 2 });
    expect(lines).toMatchObject([
      ...[{ level: 40, pid: process.pid, msg: "leases ran out", event: "reap", count: 2 }],
    ]);
    expect(lines[0]?.["time"]).toBeTypeOf("number");
  });

  it("have no token and no password of a URL, wherever an error says one", () => {
    const { logger, lines } = machine();
    const cause = new Error("401 for Bearer abc.def");
    const error = new Error("cannot reach postgres://ann:hush@db/jobs", { cause });
    logger.error("dead: refused Bearer xyz", { reason: "Bearer uvw", error });
    const text = JSON.stringify(lines);
    expect(text).not.toMatch(/hush|xyz|uvw|abc\.def/);
    expect(lines[0]).toMatchObject({ msg: "dead: refused Bearer [REDACTED]" });
    expect(lines[0]?.["err"]).toMatchObject({ type: "Error" });
    expect(text).toContain("postgres://ann:[REDACTED]@db/jobs");
  });

  it("show what was thrown that is no error", () => {
    const { logger, lines } = machine();
    logger.error("it failed", { error: "a text" });
    expect(lines[0]).toMatchObject({ err: { message: "a text" } });
  });
});
