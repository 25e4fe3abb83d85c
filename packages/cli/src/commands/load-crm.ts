/** The sync of a CRM, by its shape: a package of its own, which may not be installed. */
import { CliError, ExitCode } from "../exit-code.ts";

export interface CrmFinding {
  readonly check: string;
  readonly level: "ok" | "trouble";
  readonly message: string;
}

interface ClientOptions {
  readonly token?: string;
  readonly baseUrl?: string;
}

export interface CrmModule {
  readonly HubSpotClient: new (options: ClientOptions) => object;
  checkHubSpot(options: ClientOptions): Promise<readonly CrmFinding[]>;
  ensureHubSpot(client: object): Promise<{
    readonly portalId: number;
    readonly timeZone: string;
    readonly properties: readonly {
      readonly object: string;
      readonly property: string;
      readonly state: "there" | "made";
    }[];
  }>;
}

export const CRM = "@holdfast/crm";

export async function loadCrm(): Promise<CrmModule> {
  try {
    return (await import(CRM)) as CrmModule;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(ExitCode.failed, `this needs the package ${CRM}: npm install ${CRM}`);
  }
}
