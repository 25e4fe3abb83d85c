/** From nothing to a running worker: a configuration file and a first module of jobs. One question. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";

const STORES: Readonly<Record<string, { readonly url: string; readonly driver: string | null }>> = {
  sqlite: { url: "sqlite:holdfast.db", driver: null },
  postgres: { url: "postgres://localhost/holdfast", driver: "pg" },
  redis: { url: "redis://localhost:6379", driver: "ioredis" },
  mongodb: { url: "mongodb://localhost/holdfast", driver: "mongodb" },
};

const JOBS = `import type { Holdfast } from "holdfast";

/** The jobs of this project. \`npx holdfast work\` runs them. */
export function jobs(hf: Holdfast) {
  hf.define({
    type: "hello.say",
    async run(job) {
      const { name = "world" } = (job.payload ?? {}) as { name?: string };
      return \`Hello \${name}\`;
    },
  });
}
`;

const configOf = (url: string, jobs: string) => `import type { Config } from "@holdfast/cli";

/** Settings of the command line. Flags and HOLDFAST_* variables are over them. */
const config: Config = {
  url: ${JSON.stringify(url)},
  jobs: ${JSON.stringify(jobs)},
};

export default config;
`;

export const init: Command = {
  name: "init",
  summary: "makes a configuration file and a first module of jobs",
  examples: ["init --store sqlite --folder {empty}"],
  options: [
    {
      flags: "--store <which>",
      about: "where the jobs are kept; else you are asked",
      choices: Object.keys(STORES),
    },
    { flags: "--folder <path>", about: "where; default: here" },
    { flags: "--force", about: "write over files that are there" },
  ],
  async run(cli) {
    const folder = resolve(cli.io.cwd, (cli.flags["folder"] as string | undefined) ?? ".");
    const { url, driver } = await choose(cli);
    const isTypeScript = true;
    const ending = isTypeScript ? "ts" : "js";
    const files = {
      [`holdfast.config.${ending}`]: configOf(url, `./jobs.${ending}`),
      [`jobs.${ending}`]: JOBS,
    };
    refuseExisting(cli, folder, Object.keys(files));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const missing = missingPackages(folder, driver);
    const steps = [
      ...(missing.length > 0 ? [`npm install ${missing.join(" ")}`] : []),
      "npx holdfast work",
      `npx holdfast enqueue hello.say '{"name":"Ann"}' --wait`,
    ];
    cli.print({ folder, files: Object.keys(files), steps }, () =>
      [
        `Made ${Object.keys(files).join(" and ")} in ${clean(folder)}.`,
        "",
        "Next:",
        ...steps.map(
          (step, at) => `  ${step}${at === steps.length - 1 ? "   (in another terminal)" : ""}`,
        ),
      ].join("\n"),
    );
  },
};

async function choose(cli: Cli): Promise<{ readonly url: string; readonly driver: string | null }> {
  const given = cli.flags["store"] as string | undefined;
  const url = cli.flags["url"] as string | undefined;
  const scheme = (given ?? url?.split(":")[0] ?? "").replace(/^postgresql$/, "postgres");
  const known = STORES[scheme];
  if (url !== undefined) return { url, driver: known?.driver ?? null };
  if (known) return known;
  if (!cli.io.canAsk) return STORES["sqlite"] as { url: string; driver: null };
  const names = Object.keys(STORES);
  const answer = (
    await cli.io.ask(`Where are the jobs kept: ${names.join(", ")}? [sqlite] `)
  ).trim();
  const store = STORES[answer === "" ? "sqlite" : answer.toLowerCase()];
  if (store) return store;
  throw new CliError(ExitCode.usage, `there is no store ${clean(answer)}: ${names.join(", ")}`);
}

function refuseExisting(cli: Cli, folder: string, names: readonly string[]): void {
  if (!existsSync(folder))
    throw new CliError(ExitCode.usage, `there is no folder ${clean(folder)}`);
  const there = names.filter((name) => existsSync(join(folder, name)));
  if (there.length === 0 || cli.flags["force"] === true) return;
  throw new CliError(
    ExitCode.refused,
    `${there.join(" and ")} ${there.length === 1 ? "is" : "are"} there already: nothing was written. --force writes over it`,
  );
}

function missingPackages(folder: string, driver: string | null): string[] {
  const file = join(folder, "package.json");
  const manifest = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, Record<string, string> | undefined>)
    : {};
  const has = { ...manifest["dependencies"], ...manifest["devDependencies"] };
  return ["holdfast", "@holdfast/cli", ...(driver === null ? [] : [driver])].filter(
    (name) => has[name] === undefined,
  );
}
