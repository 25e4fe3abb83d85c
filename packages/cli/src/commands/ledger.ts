/** The ledger: what failed, and what people did. */
import type { AuditBody } from "holdfast";
import type { Command } from "../command.ts";
import { safeJson } from "../output/clean.ts";
import { ago, many } from "../output/words.ts";
import { readSince } from "../settings/read-flags.ts";
import { moreWords } from "./jobs.ts";
import { CATEGORIES, CURSOR, LIMIT, pageOf, YES } from "./shared-options.ts";

const WORDS = ["queue", "type", "group", "category", "fingerprint", "company"];

export const failuresList: Command = {
  name: "failures list",
  summary: "lists failed attempts from the ledger, newest first",
  examples: ["failures", "failures --type email.send --final --since 1d"],
  options: [
    { flags: "-q, --queue <name>", about: "of this queue" },
    { flags: "-t, --type <type>", about: "of this type" },
    { flags: "-g, --group <group>", about: "of this group" },
    { flags: "--company <id>", about: "of this customer" },
    { flags: "--category <category>", about: "of one category", choices: CATEGORIES },
    { flags: "--fingerprint <text>", about: "of this fault" },
    { flags: "--job <id>", about: "of this job" },
    { flags: "--final", about: "only those after which the job was dead" },
    { flags: "--since <when>", about: "since: 2h, 3d, or a date", read: readSince },
    LIMIT,
    CURSOR,
  ],
  async run(cli) {
    const { flags } = cli;
    const hf = await cli.open();
    const words = WORDS.flatMap((word) => (flags[word] === undefined ? [] : [[word, flags[word]]]));
    const page = await hf.failures.list({
      ...Object.fromEntries(words),
      ...(flags["job"] !== undefined && { jobId: flags["job"] as string }),
      ...(flags["final"] === true && { final: true }),
      ...(flags["since"] !== undefined && { from: flags["since"] as Date }),
      ...pageOf(flags),
    });
    const now = Date.now();
    cli.print(page, () =>
      page.failures.length === 0
        ? "No failures."
        : cli.table(page.failures, [
            { title: "WHEN", value: ({ failedAt }) => ago(failedAt, now) },
            { title: "JOB", value: ({ jobId }) => jobId },
            { title: "TYPE", value: ({ type }) => type, atLeast: 8 },
            { title: "TRY", value: (one) => `${one.attempt}/${one.maxAttempts}`, align: "right" },
            { title: "END", value: (one) => (one.final ? "dead" : "retried") },
            { title: "CATEGORY", value: ({ category }) => category },
            { title: "MESSAGE", value: ({ message }) => message, atLeast: 10 },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};

export const failuresPrune: Command = {
  name: "failures prune",
  summary: "removes failures that are past their retention now",
  examples: ["failures prune --yes"],
  options: [YES],
  async run(cli) {
    await cli.confirm("Remove failures that are past their retention?");
    const hf = await cli.open();
    const pruned = await hf.failures.prune();
    cli.print({ pruned }, () => `${many(pruned, "entry").replace(/entrys$/, "entries")} removed.`);
  },
};

export const audit: Command = {
  name: "audit",
  summary: "lists what people did to jobs, queues and workers",
  examples: ["audit", "audit --queue mail --since 7d"],
  options: [
    { flags: "-q, --queue <name>", about: "to this queue" },
    { flags: "--job <id>", about: "to this job" },
    { flags: "--since <when>", about: "since: 2h, 3d, or a date", read: readSince },
    LIMIT,
    CURSOR,
  ],
  async run(cli) {
    const { queue, job, since } = cli.flags;
    const hf = await cli.open();
    const page = await hf.ledger({
      kind: "audit",
      ...(queue !== undefined && { queue: queue as string }),
      ...(job !== undefined && { jobId: job as string }),
      ...(since !== undefined && { from: since as Date }),
      ...pageOf(cli.flags),
    });
    const now = Date.now();
    cli.print(page, () =>
      page.entries.length === 0
        ? "Nothing was done by hand."
        : cli.table(page.entries, [
            { title: "WHEN", value: ({ at }) => ago(at, now) },
            { title: "ACTION", value: ({ body }) => (body as AuditBody).action },
            { title: "BY", value: ({ body }) => (body as AuditBody).by, atLeast: 4 },
            { title: "ABOUT", value: (entry) => entry.jobId ?? entry.queue, atLeast: 8 },
            { title: "REASON", value: ({ body }) => (body as AuditBody).reason, atLeast: 6 },
            {
              title: "DETAILS",
              value: ({ body }) => {
                const { details } = body as AuditBody;
                return Object.keys(details).length === 0 ? "" : safeJson(details);
              },
              atLeast: 8,
            },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};
