/** A CRM from the shell: is it as the sync needs it, and make what is missing. The token is never an argument. */
import type { Cli } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { loadCrm } from "./load-crm.ts";

const ABOUT =
  "The token comes from HUBSPOT_TOKEN: an argument would be seen by everybody on this machine. HUBSPOT_URL is another address than HubSpot's own, for tests.";

export const crmCheck: Command = {
  name: "crm check",
  summary: "checks token, scopes, limits and properties of HubSpot",
  about: `Changes nothing. Exit code 1: something is missing. ${ABOUT}`,
  examples: ["crm check", "crm check --json"],
  needs: "crm",
  async run(cli) {
    const { checkHubSpot } = await loadCrm();
    const findings = await checkHubSpot(accessOf(cli));
    const { paint } = cli;
    cli.print({ findings }, () =>
      findings
        .map(({ check, level, message }) => {
          const mark = level === "ok" ? paint.green("✓") : paint.red("✗");
          return `${mark} ${check}: ${clean(message)}`;
        })
        .join("\n"),
    );
    return findings.some(({ level }) => level === "trouble") ? ExitCode.failed : ExitCode.ok;
  },
};

export const crmEnsure: Command = {
  name: "crm ensure",
  summary: "makes the properties in HubSpot that the sync writes",
  about: `What is there stays as it is. ${ABOUT}`,
  examples: ["crm ensure"],
  needs: "crm",
  async run(cli) {
    const { HubSpotClient, ensureHubSpot } = await loadCrm();
    const ensured = await ensureHubSpot(new HubSpotClient(accessOf(cli))).catch(
      (error: unknown) => {
        const { code, message } = error as { code?: unknown; message: string };
        if (code !== "HOLDFAST_HUBSPOT") throw error;
        throw new CliError(ExitCode.failed, message);
      },
    );
    cli.print(ensured, () =>
      [
        `portal ${ensured.portalId}, time zone ${clean(ensured.timeZone)}`,
        ...ensured.properties.map(({ object, property, state }) => {
          const words = state === "made" ? cli.paint.green("made") : "was there";
          return `${clean(object)}.${clean(property)} ${words}`;
        }),
      ].join("\n"),
    );
    return ExitCode.ok;
  },
};

function accessOf({ io }: Cli): { readonly token: string; readonly baseUrl?: string } {
  const { HUBSPOT_TOKEN: token = "", HUBSPOT_URL: baseUrl = "" } = io.env;
  if (token === "") {
    throw new CliError(
      ExitCode.usage,
      "HUBSPOT_TOKEN is not set: put a service key or a token there",
    );
  }
  return { token, ...(baseUrl !== "" && { baseUrl }) };
}
