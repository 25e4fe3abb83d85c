/** The tutorial as a newcomer goes through it: each line is in the page, and is run as it is printed there. */
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { startCli } from "../cli/real-process.ts";
import type { InstalledPackage, Ran } from "../packaging/install-package.ts";
import { startProgram } from "./started-program.ts";

const page = new URL("../../docs/guides/tutorial.md", import.meta.url);

export async function walkTutorial(installed: InstalledPackage, cwd: string): Promise<void> {
  const shell = [...(await readFile(page, "utf8")).matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .map(([, block = ""]) => block)
    .join("");
  const run = async (line: string): Promise<Ran> => {
    expect(shell).toContain(line);
    const [program, first = "", ...words] = wordsOf(line);
    if (program === "node") return installed.node([first, ...words], { cwd });
    // The command line from the sources, on the file that the packed library has made.
    const { code, out, err } = await startCli(words, cwd, { NO_COLOR: "1" }).ended;
    return { code, stdout: out, stderr: err };
  };
  const well = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await run(line);
    expect({ code, stderr }, line).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const look = () => well("node look.ts");

  await well('node book.ts acme 2026-05-04 "first invoice" 1200');
  await well('node book.ts acme 2026-05-12 "a desk" -300.50');
  const refused = await run("node close-month.ts acme 2026-13");
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toContain("is a month such as 2026-05");
  expect(await well("node close-month.ts acme 2026-05")).toMatch(/^closed, job [\w-]+\n$/);
  const late = await run('node book.ts acme 2026-05-30 "too late" 10');
  expect(late.stderr).toContain("2026-05 of acme is closed");

  expect(shell).toContain("node worker.ts");
  const worker = await startProgram("worker.ts", { cwd, env: { PORT: "0" } });
  try {
    await expect.poll(() => worker.printed(), { timeout: 20_000 }).toMatch(/dashboard: http/);
    const [, url = ""] = /dashboard: (\S+)/.exec(worker.printed()) ?? [];
    const [token = ""] = /hf_[\w-]+/.exec(worker.printed()) ?? [];
    const resultOf = async (closed: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const id = closed.trim().split(" ").at(-1);
      const answer = await fetch(`${url}/api/v1/jobs/${id}`, { headers });
      return ((await answer.json()) as { data: { result: unknown } }).data.result;
    };
    expect((await fetch(url)).headers.get("content-type")).toContain("text/html");
    await expect.poll(look, { timeout: 20_000 }).toBe("acme 2026-05 899.50\n");

    const again = await well("node close-month.ts acme 2026-05");
    const skipped = { skipped: "already_completed" };
    await expect.poll(() => resultOf(again), { timeout: 20_000 }).toEqual(skipped);

    await well('node book.ts acme 2026-06-03 "a server" -200 USD');
    await well("node close-month.ts acme 2026-06");
    const groups = () => well("npx holdfast dead groups --url sqlite:books.db");
    await expect.poll(groups, { timeout: 20_000 }).toContain("no rate for USD in 2026-06");
    await well("node rate.ts USD 2026-06 0.9");
    await well(
      'npx holdfast dead replay --type snapshot.make --reason "the rate is there" --yes --url sqlite:books.db',
    );
    await expect
      .poll(look, { timeout: 20_000 })
      .toBe("acme 2026-05 899.50\nacme 2026-06 -180.00\n");
    const nothing = await installed.node(["replay.ts"], { cwd });
    expect(nothing).toEqual({ code: 0, stdout: "0 to replay\n", stderr: "" });

    expect(await well("npx holdfast schedules --url sqlite:books.db")).toContain("close-months");
    await well("npx holdfast schedules run close-months --url sqlite:books.db");
  } finally {
    const { code, stderr } = await worker.stop();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  }
}

/** As a shell has them: quotes hold words together. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
