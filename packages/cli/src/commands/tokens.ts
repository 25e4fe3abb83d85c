/** Tokens of the HTTP API: who may look, who may act. */
import type { Holdfast } from "holdfast";
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { ago } from "../output/words.ts";
import { readWhen } from "../settings/read-flags.ts";
import { loadServer, type TokensLike } from "./load-server.ts";
import { WHY, YES } from "./shared-options.ts";

async function tokensOf(hf: Holdfast): Promise<TokensLike> {
  const { Tokens } = await loadServer();
  return new Tokens(hf.tools.ledgerRecords, Date.now);
}

export const tokensList: Command = {
  name: "tokens list",
  needs: "server",
  summary: "lists the tokens of the HTTP API; their secrets are stored nowhere",
  examples: ["tokens"],
  async run(cli) {
    const tokens = await tokensOf(await cli.open());
    const all = (await tokens.list()).map(({ hash: _, ...token }) => token);
    const now = Date.now();
    cli.print(all, () =>
      all.length === 0
        ? "No tokens."
        : cli.table(all, [
            { title: "ID", value: ({ id }) => id },
            { title: "NAME", value: ({ name }) => name, atLeast: 6 },
            { title: "ROLE", value: ({ role }) => role },
            { title: "QUEUES", value: ({ queues }) => queues?.join(",") ?? "all", atLeast: 6 },
            { title: "MADE", value: (one) => ago(new Date(one.createdAt), now) },
            { title: "BY", value: ({ createdBy }) => createdBy, atLeast: 4 },
            {
              title: "EXPIRES",
              value: ({ expiresAt }) =>
                expiresAt === null ? "never" : ago(new Date(expiresAt), now),
            },
          ]),
    );
  },
};

export const tokensCreate: Command = {
  name: "tokens create",
  args: "<name>",
  needs: "server",
  summary: "makes a token, and shows its secret once",
  examples: [
    "tokens create dashboard --role viewer",
    "tokens create ops --role operator --queue mail",
  ],
  options: [
    {
      flags: "--role <role>",
      about: "what it may do (default viewer)",
      choices: ["viewer", "operator", "admin"],
    },
    { flags: "-q, --queue <name>", about: "only this queue; may be repeated", repeats: true },
    { flags: "--expires <when>", about: "in 30d, or at a date", read: readWhen },
    ...WHY,
  ],
  async run(cli, { args: [name] }) {
    const hf = await cli.open();
    const tokens = await tokensOf(hf);
    const {
      role = "viewer",
      queue,
      expires,
    } = cli.flags as {
      readonly role?: string;
      readonly queue?: readonly string[];
      readonly expires?: Date;
    };
    const { token, secret } = await tokens.create({
      ...{ role, queues: queue ?? null, name: String(name) },
      ...{ createdBy: cli.by, expiresAt: expires ?? null },
    });
    await note(cli, hf, "create token", { id: token.id, role, queues: queue ?? null });
    cli.print({ id: token.id, role, secret }, () =>
      [`Token ${token.id} (${role}). Its secret is shown now and never again:`, secret].join("\n"),
    );
  },
};

export const tokensRemove: Command = {
  name: "tokens remove",
  args: "<id>",
  needs: "server",
  summary: "ends a token; who uses it is refused within seconds",
  examples: ["tokens remove {token} --yes"],
  options: [...WHY, YES],
  async run(cli, { args: [id] }) {
    await cli.confirm(`End the token ${clean(id)}?`);
    const hf = await cli.open();
    const tokens = await tokensOf(hf);
    if (!(await tokens.remove(String(id)))) {
      throw new CliError(ExitCode.notFound, `there is no token ${clean(id)}`);
    }
    await note(cli, hf, "remove token", { id });
    cli.print({ id, state: "removed" }, () => `Token ${clean(id)} is ended.`);
  },
};

function note(
  cli: Cli,
  hf: Holdfast,
  action: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  return hf.tools.audit({ action, ...cli.why, details });
}
