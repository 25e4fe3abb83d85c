/**
 * Where members and payments are synced to: HubSpot, or the double of `@holdfast/crm` in this process. The double is
 * empty at every start, so what the operations need is made in it first.
 */
import { Inject, Injectable, type OnApplicationShutdown } from "@nestjs/common";
import { ensureHubSpot, HubSpotClient, type Vocabulary } from "@holdfast/crm";
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";
import type { CrmSettings } from "./crm-settings.ts";

/** Activities of simulations are written under ids of ours, too. */
export const VOCABULARY: Vocabulary = { externalIds: ["calls", "tasks", "tickets"] };

export class CrmTarget {
  readonly token: string;
  readonly url: string | undefined;
  /** Null: it is HubSpot. */
  readonly double: HubSpotDouble | null;

  private constructor(target: Pick<CrmTarget, "token" | "url" | "double">) {
    this.token = target.token;
    this.url = target.url;
    this.double = target.double;
  }

  static async open({ token, url }: CrmSettings): Promise<CrmTarget> {
    if (token !== null) return new CrmTarget({ token, url, double: null });
    const double = await hubspotDouble();
    const target = new CrmTarget({ token: double.token, url: double.url, double });
    await ensureHubSpot(
      new HubSpotClient({ token: double.token, baseUrl: double.url }),
      VOCABULARY,
    );
    return target;
  }
}

/** Last of all: jobs that end during a stop still call it. */
@Injectable()
export class CrmCloser implements OnApplicationShutdown {
  constructor(@Inject(CrmTarget) private readonly target: CrmTarget) {}

  async onApplicationShutdown(): Promise<void> {
    await this.target.double?.close();
  }
}
