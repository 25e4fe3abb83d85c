/** The screens of the guide were made in a real terminal; what stands in their first line is still printed so. */
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { holdfastOn, makeSeed, useSeed } from "../cli/seeded-store.ts";
import { Terminal } from "../cli/terminal.ts";

const page = await readFile(new URL("../../docs/guides/command-line.md", import.meta.url), "utf8");
const screens = [...page.matchAll(/<!-- screen: holdfast (.+?) -->\n\n```text\n([^]*?)```/g)];
const titlesOf = (screen: string) => {
  const line = screen.split("\n").find((each) => /^(QUEUE|FAULT|NAME) /.test(each)) ?? "";
  // A live screen clears the rest of each line.
  return line.replaceAll("\u001b[K", "").trim().split(/ {2,}/);
};

let terminal: Terminal;
beforeAll(async () => {
  terminal = await Terminal.open();
  await makeSeed(terminal.folder);
  const hf = holdfastOn(useSeed(terminal.folder, terminal.folder));
  await hf.gates.set("provider", { queue: "mail", cooldown: true });
  await hf.schedules.set("weekly", {
    cron: "0 9 * * 1",
    job: { type: "t", queue: "mail", payload: null },
  });
  await hf.close();
});
afterAll(() => terminal?.close());

it("there are screens", () => {
  expect(screens.map(([, command]) => command)).toEqual(
    expect.arrayContaining(["queues", "dead groups", "gates", "schedules", "top"]),
  );
  expect(page).not.toMatch(/holdfast-screens|\/tmp\//);
});

it.each(screens.map(([, command = "", screen = ""]) => [command, screen] as const))(
  "holdfast %s has the columns of its screen",
  async (command, screen) => {
    const ran = await terminal.run([...command.split(" "), "--no-color"], {
      ...{ columns: 100, keys: ["q"] },
    });
    expect(ran.code, ran.err).toBe(0);
    expect(titlesOf(ran.out)).toEqual(titlesOf(screen));
    expect(titlesOf(screen).length).toBeGreaterThan(3);
  },
);
