/** Dead letters: which faults, which jobs, run them again. */
import type { DeadLettersQuery, FaultGroup, Holdfast } from "holdfast";
import type { Cli, Flags } from "../cli.ts";
import type { Command, Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { ago, count, many } from "../output/words.ts";
import { readDuration, readShare, readSince, readWhole } from "../settings/read-flags.ts";
import { carryOut } from "./bulk.ts";
import { jobColumns, jobWords, lookAtJob, moreWords, noJob } from "./jobs.ts";
import { CATEGORIES, CURSOR, DRY_RUN, LIMIT, pageOf, WHY, YES } from "./shared-options.ts";

export const DEAD: readonly Option[] = [
  { flags: "-q, --queue <name>", about: "of this queue" },
  { flags: "-t, --type <type>", about: "of this type" },
  { flags: "-g, --group <group>", about: "of this group" },
  { flags: "--tag <tag>", about: "with this tag" },
  { flags: "--category <category>", about: "that died of one", choices: CATEGORIES },
  { flags: "--fingerprint <text>", about: "that died of this fault" },
  { flags: "--text <words>", about: "with these words in the error" },
  { flags: "--since <when>", about: "died since: 2h, 3d, or a date", read: readSince },
];
const WORDS = ["queue", "type", "group", "tag", "category", "fingerprint", "text"];

export function deadFilter(flags: Flags): DeadLettersQuery {
  const words = WORDS.flatMap((word) => (flags[word] === undefined ? [] : [[word, flags[word]]]));
  const since = flags["since"] as Date | undefined;
  return { ...Object.fromEntries(words), ...(since !== undefined && { from: since }) };
}

export const deadList: Command = {
  name: "dead list",
  summary: "lists dead jobs, newest first",
  examples: ["dead list", "dead list --category network --text ECONNRESET"],
  options: [...DEAD, LIMIT, CURSOR],
  async run(cli) {
    const hf = await cli.open();
    const query = { ...deadFilter(cli.flags), ...pageOf(cli.flags) };
    const { jobs, nextCursor } = await hf.deadLetters.list(query);
    const page = { jobs: await cli.hide(jobs), nextCursor };
    cli.print(page, () =>
      page.jobs.length === 0
        ? "No dead jobs."
        : cli.table(page.jobs, jobColumns(Date.now())) + moreWords(cli, page.nextCursor),
    );
  },
};

export const deadGroups: Command = {
  name: "dead groups",
  summary: "the faults that jobs died of, the commonest first",
  examples: ["dead groups", "dead groups --queue mail --all"],
  options: [
    { flags: "-q, --queue <name>", about: "of this queue" },
    { flags: "--all", about: "those that are resolved or ignored, too" },
    LIMIT,
  ],
  async run(cli) {
    const hf = await cli.open();
    const { queue, all, limit } = cli.flags;
    const found = await hf.deadLetters.groups({
      ...(queue !== undefined && { queue: queue as string }),
      ...(all === true && { all }),
      ...(limit !== undefined && { limit: limit as number }),
    });
    const groups = found.map((group) => hiddenGroup(hf, group));
    cli.print(groups, () => (groups.length === 0 ? "No dead jobs." : groupsTable(cli, groups)));
  },
};

function hiddenGroup(hf: Holdfast, group: FaultGroup): FaultGroup {
  const { message } = group;
  return { ...group, message: message === null ? null : hf.tools.redact.text(message) };
}

function groupsTable(cli: Cli, groups: readonly FaultGroup[]): string {
  const now = Date.now();
  return cli.table(groups, [
    { title: "FAULT", value: ({ fingerprint }) => fingerprint, atLeast: 16 },
    { title: "JOBS", value: (group) => count(group.count), align: "right" },
    { title: "TYPE", value: ({ type }) => type, atLeast: 8 },
    { title: "CATEGORY", value: ({ category }) => category },
    { title: "LAST", value: ({ lastAt }) => ago(lastAt, now) },
    { title: "STATE", value: ({ state }) => state },
    { title: "MESSAGE", value: ({ message }) => message, atLeast: 10 },
  ]);
}

export const deadShow: Command = {
  name: "dead show",
  args: "<id>",
  summary: "shows a dead job, or a fault with some of its jobs",
  examples: ["dead show 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d22"],
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    const name = String(id);
    const found = await lookAtJob(cli, hf, name);
    if (found !== null) return cli.print(found, () => jobWords(cli, found));
    const known = (await hf.deadLetters.groups({ all: true, limit: 200 })).find(
      ({ fingerprint }) => fingerprint === name,
    );
    const jobs = await cli.hide((await hf.deadLetters.list({ fingerprint: name, limit: 10 })).jobs);
    if (known === undefined && jobs.length === 0) throw noJob(name);
    if (known === undefined) {
      // One that is rarer than two hundred others is no group of the list.
      return cli.print({ fingerprint: name, jobs }, () => cli.table(jobs, jobColumns(Date.now())));
    }
    const group = hiddenGroup(hf, known);
    cli.print({ ...group, jobs }, () =>
      [
        `${clean(group.type)}: ${clean(group.message ?? "no message")}`,
        `${many(group.count, "job")}, ${group.category ?? "no category"}, ${group.state}`,
        cli.table(jobs, jobColumns(Date.now())),
      ].join("\n"),
    );
  },
};

export const deadReplay: Command = {
  name: "dead replay",
  args: "[fingerprint]",
  summary: "runs dead jobs again, in an operation that survives this process",
  examples: [
    "dead replay --category network --per-second 20 --dry-run",
    'dead replay --type email.send --reason "SMTP is back" --yes',
  ],
  options: [
    ...DEAD,
    { flags: "--preset <name>", about: "as a preset says" },
    { flags: "--strategy <which>", about: "which first", choices: ["oldest", "newest", "random"] },
    { flags: "-n, --limit <n>", about: "at most so many (and at most 10,000)", read: readWhole },
    { flags: "--per-category <n>", about: "at most so many of one category", read: readWhole },
    { flags: "--per-second <n>", about: "at most so many a second", read: readWhole },
    { flags: "--attempts <n>", about: "how many each gets: a number, or full (default 1)" },
    { flags: "--delay <duration>", about: "due so much later", read: readDuration },
    {
      flags: "--stop-at-failure-rate <share>",
      about: "stop once more than this share fails again",
      read: readShare,
    },
    ...[...WHY, DRY_RUN, YES],
  ],
  async run(cli, { args: [fingerprint] }) {
    const { flags } = cli;
    const choice = ["strategy", "limit", "perCategory"].flatMap((word) =>
      flags[word] === undefined ? [] : [[word, flags[word]]],
    );
    const others = [fingerprint, ...Object.keys(deadFilter(flags)), ...choice];
    if (flags["preset"] !== undefined && others.some((one) => one !== undefined)) {
      throw new CliError(
        ExitCode.usage,
        "a preset has a filter and a choice of its own: leave the others out, or the preset",
      );
    }
    if (fingerprint !== undefined && flags["fingerprint"] !== undefined) {
      throw new CliError(ExitCode.usage, "dead replay takes one fingerprint: leave the other out");
    }
    const hf = await cli.open();
    const plan =
      typeof flags["preset"] === "string"
        ? await hf.deadLetters.presets.plan(flags["preset"])
        : await hf.deadLetters.plan({
            ...deadFilter(flags),
            ...(fingerprint !== undefined && { fingerprint: String(fingerprint) }),
            ...Object.fromEntries(choice),
          });
    return carryOut(cli, hf, plan);
  },
};

export const deadResolve: Command = {
  name: "dead resolve",
  args: "<fingerprint>",
  summary: "calls a fault resolved; it is shown again if it comes back",
  examples: ['dead resolve {fingerprint} --reason "fixed in 2.4.1"'],
  options: WHY,
  async run(cli, { args: [fingerprint] }) {
    const hf = await cli.open();
    await mustBeFault(hf, String(fingerprint));
    await hf.deadLetters.resolve(String(fingerprint), cli.why);
    cli.print({ fingerprint, state: "resolved" }, () => "It is resolved.");
  },
};

export const deadIgnore: Command = {
  name: "dead ignore",
  args: "<fingerprint>",
  summary: "hides a fault, until it comes more often than you say",
  examples: ["dead ignore {fingerprint} --until-per-hour 100"],
  options: [
    { flags: "--until-per-hour <n>", about: "shown again at so many an hour", read: readWhole },
    ...WHY,
  ],
  async run(cli, { args: [fingerprint] }) {
    const hf = await cli.open();
    await mustBeFault(hf, String(fingerprint));
    const until = cli.flags["untilPerHour"] as number | undefined;
    await hf.deadLetters.ignore(String(fingerprint), {
      ...cli.why,
      ...(until !== undefined && { untilPerHour: until }),
    });
    cli.print({ fingerprint, state: "ignored" }, () => "It is ignored.");
  },
};

export const deadReopen: Command = {
  name: "dead reopen",
  args: "<fingerprint>",
  summary: "shows a fault again, as if nothing had been decided",
  examples: ["dead reopen {fingerprint}"],
  options: WHY,
  async run(cli, { args: [fingerprint] }) {
    const hf = await cli.open();
    await mustBeFault(hf, String(fingerprint));
    await hf.deadLetters.reopen(String(fingerprint), cli.why);
    cli.print({ fingerprint, state: "open" }, () => "It is open again.");
  },
};

async function mustBeFault(hf: Holdfast, fingerprint: string): Promise<void> {
  if (await hf.deadLetters.isKnown(fingerprint)) return;
  throw new CliError(
    ExitCode.notFound,
    `no fault has the fingerprint ${clean(fingerprint)}: holdfast dead groups lists them`,
  );
}
