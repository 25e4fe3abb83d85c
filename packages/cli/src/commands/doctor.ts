/** Is everything as it should be: configuration, store, fleet. Says for each finding what to do. */
import { checkFleet, checkStore, type Finding } from "holdfast/doctor";
import { SETTING_NAMES, SETTINGS, shownValue } from "holdfast/env";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { ExitCode, exitCodeOf, isExpected } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import type { Paint } from "../output/paint.ts";
import { readDuration } from "../settings/read-flags.ts";

interface Value {
  readonly setting: string;
  readonly value: string;
  readonly source: string;
}

export const doctor: Command = {
  name: "doctor",
  summary: "checks configuration, store and fleet, and says what to do",
  about:
    "Changes nothing. Exit code 0: nothing is wrong, 1: there is a warning or trouble, 2: settings cannot be used, 5: the store is away.",
  examples: ["doctor", "doctor --json"],
  options: [
    {
      flags: "--long-transaction <duration>",
      about: "PostgreSQL: what counts as long (default 5m)",
      read: readDuration,
    },
  ],
  async run(cli) {
    const { read } = await cli.read();
    const values = SETTING_NAMES.flatMap((name): Value[] => {
      const source = read.sources[name];
      if (source === undefined) return [];
      const value = shownValue(SETTINGS[name].kind, read.values[name]);
      return [{ setting: name, value, source }];
    });
    const findings: Finding[] = [
      ...read.problems.map((message) => found("setting", "trouble", message)),
      ...read.warnings.map((message) => found("setting", "warning", message)),
    ];
    let code: ExitCode = read.problems.length > 0 ? ExitCode.usage : ExitCode.ok;
    let store: string | null = null;
    if (code === ExitCode.ok) {
      try {
        const url = cli.absolute(await cli.url());
        const longTransactionMs = cli.flags["longTransaction"] as number | undefined;
        const check = await checkStore(url, { longTransactionMs });
        store = check.version;
        findings.push(...check.findings);
        const isThere = check.schema.state === "current" || check.schema.state === "newer";
        if (isThere && !isHopeless(check.findings)) {
          findings.push(...(await checkFleet(await cli.open({ logger: silent }))));
        }
      } catch (error) {
        if (!isExpected(error)) throw error;
        code = exitCodeOf(error);
        findings.push(found("store", "trouble", (error as Error).message));
      }
    }
    const isBad = findings.some(({ level }) => level === "warning" || level === "trouble");
    if (code === ExitCode.ok && isBad) code = ExitCode.failed;
    cli.print({ store, values, findings }, () => words(cli, { store, values, findings }));
    return code;
  },
};

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Opening such a file would do harm, or fail. */
function isHopeless(findings: readonly Finding[]): boolean {
  return findings.some(
    ({ check, level }) =>
      level === "trouble" && ["file system", "layout", "replica"].includes(check),
  );
}

function found(check: string, level: Finding["level"], message: string): Finding {
  return { check, level, message };
}

const MARKS = { ok: "✓", note: "·", warning: "!", trouble: "✗" } as const;

function dressOf(level: Finding["level"], paint: Paint): (text: string) => string {
  switch (level) {
    case "ok":
      return paint.green;
    case "note":
      return paint.dim;
    case "warning":
      return paint.yellow;
    case "trouble":
      return paint.red;
  }
}

function words(
  cli: Cli,
  {
    store,
    values,
    findings,
  }: {
    readonly store: string | null;
    readonly values: readonly Value[];
    readonly findings: readonly Finding[];
  },
): string {
  const { paint } = cli;
  const settings =
    values.length === 0
      ? [paint.dim("  nothing is set: every value is the default")]
      : values.map(
          ({ setting, value, source }) =>
            `  ${setting.padEnd(18)}${clean(value)} ${paint.dim(`from ${clean(source)}`)}`,
        );
  const lines = findings.map(({ check, level, message }) => {
    const dress = dressOf(level, paint);
    return `${dress(MARKS[level])} ${clean(check)}: ${clean(message)}`;
  });
  const bad = findings.filter(({ level }) => level === "trouble" || level === "warning").length;
  const end = bad === 0 ? paint.green("All is well.") : `${bad} to look at.`;
  return [
    paint.bold("Settings"),
    ...settings,
    "",
    paint.bold(store === null ? "Store" : clean(store)),
    ...lines,
    "",
    end,
  ].join("\n");
}
