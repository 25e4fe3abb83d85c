/** The schema: what is there, what is wanted, and the SQL of it. */
import { checkStore, type SchemaState } from "holdfast/doctor";
import { postgresSchemaSql } from "holdfast/postgres";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { DRY_RUN } from "./shared-options.ts";

function stateWords({ state, found, wanted }: SchemaState): string {
  switch (state) {
    case "none":
      return `There is no schema yet; this Holdfast has version ${wanted}.`;
    case "old":
      return `The schema is version ${found}, this Holdfast has ${wanted}: holdfast migrate up brings it there.`;
    case "newer":
      return `The schema is version ${found}, newer than this Holdfast (${wanted}).`;
    case "current":
      return `The schema is up to date: version ${found}.`;
  }
}

export const migrateStatus: Command = {
  name: "migrate status",
  summary: "says which version the schema has; exit code 1 if it is old or not there",
  examples: ["migrate status"],
  async run(cli) {
    const { schema } = await checkStore(cli.absolute(await cli.url()));
    cli.print(schema, () => stateWords(schema));
    return schema.state === "none" || schema.state === "old" ? ExitCode.failed : ExitCode.ok;
  },
};

export const migrateUp: Command = {
  name: "migrate up",
  summary: "brings the schema up to date; programs of the version before go on",
  examples: ["migrate up", "migrate up --dry-run"],
  options: [DRY_RUN],
  async run(cli) {
    const url = cli.absolute(await cli.url());
    const { schema } = await checkStore(url);
    if (cli.flags["dryRun"] === true) return cli.print(schema, () => stateWords(schema));
    const store = await cli.store({ makesFile: true });
    await store.open();
    cli.closeLater(() => store.close());
    const after = (await checkStore(url)).schema;
    cli.print({ before: schema, after }, () =>
      schema.found === after.found
        ? stateWords(after)
        : `The schema was version ${schema.found} and is ${after.found} now.`,
    );
  },
};

export const migrateSql: Command = {
  name: "migrate sql",
  summary: "prints the SQL of a new schema, for those who run it by hand (PostgreSQL)",
  examples: ["migrate sql", "migrate sql --schema jobs"],
  options: [{ flags: "--schema <name>", about: "the schema (default holdfast)" }],
  async run(cli) {
    const { values } = await cli.settings();
    const scheme = (values.url ?? "postgres:").split(":")[0] ?? "";
    if (!scheme.startsWith("postgres")) {
      throw new CliError(
        ExitCode.usage,
        `${scheme} has no SQL to run by hand: holdfast migrate up does it`,
      );
    }
    const { schema } = cli.flags;
    cli.say(postgresSchemaSql(typeof schema === "string" ? { schema } : {}));
  },
};
