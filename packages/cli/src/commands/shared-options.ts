/** Options that several commands have. */
import type { JobsFilter, JobStatus } from "holdfast";
import type { Cli, Flags } from "../cli.ts";
import type { Option } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { readSince, readWhole } from "../settings/read-flags.ts";

/** Statuses, and what other systems call them. */
const STATUS_WORDS: Readonly<Record<string, Pick<JobsFilter, "status" | "delayed" | "retrying">>> =
  {
    ...{ queued: { status: "queued" }, processing: { status: "processing" } },
    ...{ succeeded: { status: "succeeded" }, dead: { status: "dead" } },
    ...{ cancelled: { status: "cancelled" }, pending: { status: "queued" } },
    ...{ waiting: { status: "queued", delayed: false }, active: { status: "processing" } },
    ...{ completed: { status: "succeeded" }, failed: { status: "dead" } },
    ...{ delayed: { status: "queued", delayed: true } },
    ...{ retrying: { status: "queued", retrying: true } },
  };

export const CATEGORIES = ["rate_limit", "network", "auth", "validation", "timeout", "unknown"];

export const LIMIT: Option = {
  ...{ flags: "-n, --limit <n>", about: "at most so many (default 50)", read: readWhole },
};
export const CURSOR: Option = { flags: "--cursor <text>", about: "go on after the page before" };
export const YES: Option = { flags: "-y, --yes", about: "do it without asking" };
export const DRY_RUN: Option = {
  flags: "--dry-run",
  about: "say what would be done, and do nothing",
};
export const WHY: readonly Option[] = [
  { flags: "--reason <text>", about: "why; it is kept in the audit" },
  { flags: "--by <name>", about: "who; default: your user name" },
];

export const FILTER: readonly Option[] = [
  {
    flags: "-s, --status <status>",
    about: `one of ${Object.keys(STATUS_WORDS).join(", ")}`,
    choices: Object.keys(STATUS_WORDS),
    repeats: false,
  },
  { flags: "-q, --queue <name>", about: "of this queue" },
  { flags: "-t, --type <type>", about: "of this type" },
  { flags: "-g, --group <group>", about: "of this group" },
  { flags: "--tag <tag>", about: "with this tag" },
  { flags: "--category <category>", about: "whose last error is one", choices: CATEGORIES },
  { flags: "--fingerprint <text>", about: "whose last error looks like that" },
  { flags: "--worker <id>", about: "that this worker has" },
  { flags: "--since <when>", about: "created since: 2h, 3d, or a date", read: readSince },
];

const WORDS = ["queue", "type", "group", "tag", "category", "fingerprint", "worker"];

/** What the flags say of jobs; empty if they say nothing. */
export function filterOf(flags: Flags): JobsFilter {
  const status = flags["status"] as string | undefined;
  const words = WORDS.flatMap((word) => (flags[word] === undefined ? [] : [[word, flags[word]]]));
  return {
    ...(status !== undefined && STATUS_WORDS[status]),
    ...(Object.fromEntries(words) as JobsFilter),
    ...(flags["since"] !== undefined && { from: flags["since"] as Date }),
  };
}

export function oneStatus(flags: Flags): JobStatus | null {
  const { status } = filterOf(flags);
  return typeof status === "string" ? status : null;
}

export function pageOf(flags: Flags): { limit?: number; cursor?: string } {
  return {
    ...(flags["limit"] !== undefined && { limit: flags["limit"] as number }),
    ...(flags["cursor"] !== undefined && { cursor: flags["cursor"] as string }),
  };
}

/** As over HTTP: a payload that is left out is empty, and null is one like any other. */
export async function readPayload(cli: Cli, given: unknown): Promise<unknown> {
  const text = given === "-" ? await cli.io.readAll() : String(given ?? "{}");
  return readJson("the payload", text);
}

export function readJson(what: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const said = error instanceof Error ? error.message : "";
    throw new CliError(
      ExitCode.usage,
      `${what} is not JSON (${said}): write it in single quotes, for example '{"to":"ann"}'`,
    );
  }
}
