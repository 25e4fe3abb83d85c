/** Serves the HTTP API, and the dashboard where it is there; with --work also runs a worker. */
import type { Holdfast, Logger } from "holdfast";
import { checkFleet, checkStore } from "holdfast/doctor";
import { hideCredentials, optionsOf } from "holdfast/env";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { readWhole } from "../settings/read-flags.ts";
import { importMounts } from "./load-imports.ts";
import { classicMount, loadServer, SERVER } from "./load-server.ts";
import { logEvents, pinoLogger } from "../output/log-lines.ts";
import { stopped, WORK_OPTIONS } from "./work.ts";

export const serve: Command = {
  name: "serve",
  needs: "server",
  summary: "serves the HTTP API until Ctrl-C or SIGTERM",
  about: `Needs the package ${SERVER}. On this machine only, unless --host says otherwise and there is a token.`,
  examples: ["serve --port 0", "serve --port 0 --work --jobs ./jobs.ts"],
  options: [
    { flags: "--port <n>", about: "default 4680; 0: any that is free", read: readWhole },
    { flags: "--host <address>", about: "default 127.0.0.1" },
    { flags: "--read-only", about: "refuse every write" },
    { flags: "--classic", about: "also the endpoints of the systems that people come from" },
    {
      flags: "--classic-anonymous <role>",
      about: "whom callers of those without a token are taken for, on this machine",
      choices: ["viewer", "operator", "admin"],
    },
    { flags: "--work", about: "run a worker in this process, too" },
    { flags: "--jobs <file>", about: "the module that defines the jobs" },
    ...WORK_OPTIONS,
  ],
  async run(cli) {
    const { values, warnings } = await cli.settings();
    if (cli.flags["classicAnonymous"] !== undefined && values.classic !== true) {
      throw new CliError(
        ExitCode.usage,
        "--classic-anonymous is about the classic routes: say --classic, too",
      );
    }
    const { createServer } = await loadServer();
    for (const warning of warnings) cli.note(`holdfast: ${warning}`);
    const logger = pinoLogger(cli, values.logLevel ?? "info");
    const hf = await cli.open({ makesFile: true, withJobs: true, logger });
    logEvents(hf, logger);
    const url = cli.absolute(await cli.url());
    const server = createServer(hf, {
      logger: logger satisfies Logger,
      print: (line: string) => cli.note(line),
      ...(values.adminToken !== undefined && { auth: { adminToken: values.adminToken } }),
      ...(values.readOnly === true && { readOnly: true }),
      mounts: [
        ...(values.classic === true ? [await classicMount(values)] : []),
        ...(await importMounts(hf)),
      ],
      ...(values.classic === true && { enqueue: "any" }),
      doctor: () => findings(hf, url),
    });
    cli.closeLater(() => server.close());
    const { port, host } = values;
    const listening = await server.listen({
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
    });
    if (cli.flags["work"] === true) await hf.work(optionsOf(values).work);
    const store = hideCredentials(await cli.url());
    logger.info(`listening on ${listening.url}`, {
      event: "serve:start",
      url: listening.url,
      store,
    });
    await stopped(cli);
    logger.info("stopping", { event: "serve:stop" });
    await server.close();
    await hf.close();
    logger.info("stopped", { event: "serve:end" });
  },
};

/** As the server says them. */
async function findings(hf: Holdfast, url: string): Promise<readonly unknown[]> {
  const all = [...(await checkStore(url)).findings, ...(await checkFleet(hf))];
  return all.map(({ check, level, message }) => ({
    level: level === "trouble" ? "problem" : level === "warning" ? "warning" : "ok",
    ...{ what: `${check}: ${message}`, advice: null },
  }));
}
