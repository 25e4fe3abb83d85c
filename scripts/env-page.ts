/** `docs/reference/env.md`, made from the table of settings. `node scripts/env-page.ts` writes it. */
import { writeFileSync } from "node:fs";
import { format } from "prettier";
import {
  kebab,
  SETTING_NAMES,
  SETTINGS,
  type Setting,
  type SettingKind,
} from "../packages/holdfast/src/env/index.ts";

const PAGE = new URL("../docs/reference/env.md", import.meta.url);

const HEAD = `# Settings outside of code

A flag is over the environment, that is over \`holdfast.config.ts\` (\`.js\`, \`.json\`), that is over the default.
\`holdfast doctor\` shows where each value came from. A value that cannot be used stops the start, and all of them
are named at once.

The library reads no environment by itself. \`new Holdfast({ store, ...optionsFromEnv() })\`, with
\`optionsFromEnv\` from \`holdfast/env\`, does; the command line and the server do, too.

An empty variable is one that is not set. Two names of one setting with different values stop the start, naming
both; of two names of the lease the first wins, with a warning.

This page is made from the code, by \`scripts/env-page.ts\`.
`;

const TAIL = `
## Where others differ

- Another system's waits of \`BASE * FACTOR^attempt\` begin at 2 s for a base of 1 s; ours begin at the base, 1 s.
- \`QUEUE_POLL_MS\` is how long an idle worker waits without a wakeup. A due job is never late because of it.
- MySQL and SQS are not offered: a store must hold a job, its key and its outcome in one step, and must let a
  stale worker change nothing. SQS cannot, and PostgreSQL, SQLite, Redis and MongoDB cover where MySQL users are.
`;

const TITLES = {
  library: "The library, the command line and the server",
  "command line": "The command line and the server",
  server: "The server",
} as const;

export async function envPage(): Promise<string> {
  const parts = Object.entries(TITLES).map(([who, title]) => {
    const rows = SETTING_NAMES.filter((name) => SETTINGS[name].for === who).map(row);
    const head = "| Variable | Flag and file | Takes | Sets | Their default | Ours |";
    return `\n## ${title}\n\n${[head, "|---|---|---|---|---|---|", ...rows].join("\n")}\n`;
  });
  return format(`${HEAD}${parts.join("")}${TAIL}`, { parser: "markdown", printWidth: 100 });
}

function row(name: keyof typeof SETTINGS): string {
  const { env, kind, sets, theirs = "–", ours }: Setting = SETTINGS[name];
  const names = env.map((one) => `\`${one}\``).join(", ");
  const cells = [names, `\`--${kebab(name)}\`, \`${name}\``, takes(kind), sets, theirs, ours];
  return `| ${cells.join(" | ")} |`;
}

function takes(kind: SettingKind): string {
  switch (kind.is) {
    case "whole":
      return `${kind.min} to ${kind.max}`;
    case "list":
      return "names, with commas";
    case "one of":
      return kind.words.map((word) => `\`${word}\``).join(", ");
    case "yes or no":
      return "`true` or `false`";
    case "url":
      return "a URL";
    case "secret":
    case "text":
      return "a text";
  }
}

if (import.meta.main) writeFileSync(PAGE, await envPage());
