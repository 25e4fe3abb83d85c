/** Execution locks. */
import type { Command } from "../command.ts";
import { clean } from "../output/clean.ts";
import { ago } from "../output/words.ts";
import { moreWords } from "./jobs.ts";
import { CURSOR, LIMIT, pageOf, WHY, YES } from "./shared-options.ts";

export const locksList: Command = {
  name: "locks list",
  summary: "lists execution locks: which work runs, or is done and does not run again",
  examples: ["locks", "locks --key monthly_snapshot --state running"],
  options: [
    { flags: "--key <key>", about: "of this key" },
    { flags: "--owner <owner>", about: "of this owner" },
    {
      flags: "--state <state>",
      about: "in this state",
      choices: ["running", "completed", "failed"],
    },
    LIMIT,
    CURSOR,
  ],
  async run(cli) {
    const hf = await cli.open();
    const words = ["key", "owner", "state"].flatMap((word) =>
      cli.flags[word] === undefined ? [] : [[word, cli.flags[word]]],
    );
    const query = { ...(Object.fromEntries(words) as object), ...pageOf(cli.flags) };
    const page = await hf.locks.list(query);
    const now = Date.now();
    cli.print(page, () =>
      page.locks.length === 0
        ? "No locks."
        : cli.table(page.locks, [
            { title: "ID", value: (lock) => lock.id, atLeast: 12 },
            { title: "KEY", value: (lock) => lock.key, atLeast: 8 },
            { title: "SCOPE", value: (lock) => lock.scope, atLeast: 8 },
            { title: "OWNER", value: (lock) => lock.owner, atLeast: 6 },
            { title: "STATE", value: (lock) => lock.state },
            { title: "JOB", value: (lock) => lock.jobId, atLeast: 8 },
            { title: "SINCE", value: (lock) => ago(lock.finishedAt ?? lock.startedAt, now) },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};

export const locksRelease: Command = {
  name: "locks release",
  args: "<id>",
  summary: "lets go of a lock, so that its work may run again",
  examples: ['locks release {lock} --reason "run it again" --yes'],
  options: [...WHY, YES],
  async run(cli, { args: [id] }) {
    await cli.confirm(`Release the lock ${clean(id)}, so that its work may run again?`);
    const hf = await cli.open();
    await hf.locks.release(String(id), cli.why);
    cli.print({ id, state: "released" }, () => `Lock ${clean(id)} is released.`);
  },
};
