/**
 * A day in the life of a back office: its processes, what callers asked of it, and what must be true in the evening.
 * The day has chapters, each a file of its own; one more is one more line in `CHAPTERS` of day.test.ts.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hubspotDouble, type HubSpotDouble } from "@holdfast/crm/double";
import { Holdfast, type FinishedJob } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { readEnv } from "../../../apps/backoffice/src/config/settings.ts";
import { dataOfUrl } from "../../../apps/backoffice/src/data/data-of-url.ts";
import type { Data } from "../../../apps/backoffice/src/data/data.ts";
import { Office, SECRET, type Answer, type Env } from "../office.ts";
import { OfficeProcess } from "./fleet.ts";
import type { OfficeProcessOptions } from "./office-process.ts";

export interface Chapter {
  /** What it shows, as a claim. */
  readonly claim: string;
  tell(day: Day): Promise<void>;
}

export interface DayOptions {
  readonly env: Env;
  /** Of the spreadsheet of the morning. */
  readonly rows: number;
}

/** Whoever was killed is found out soon, and a machine that is busy loses no lease. */
const LEASES = { HOLDFAST_LEASE_MS: "2500", HOLDFAST_RENEW_MS: "400", HOLDFAST_POLL_MS: "100" };
/** Minutes of system 4 as tenths of a second; a breaker that is open long enough to be looked at. */
const CRM = {
  ...{ HUBSPOT_RETRY_BASE_MS: "100", HUBSPOT_BREAKER_OPEN_MS: "3000" },
  SIMULATION_WATCH_MS: "200",
};
/** How the subject of a note begins that nobody asked for: something died in the CRM's queue. */
export const ALERT = "integration_error";
const PATIENCE_MS = 120_000;
export const WAIT = { timeout: PATIENCE_MS };

export class Day {
  readonly rows: number;
  /** Ids of all jobs that callers made: each must succeed, and there are no others but alerts. */
  readonly asked = new Set<string>();
  /** Notifications by their subject. */
  readonly notes = new Set<string>();
  /** Their ids. Jobs of theirs are nobody's but theirs. */
  readonly simulations = new Set<string>();
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #processes: OfficeProcess[] = [];
  #front: OfficeProcess | null = null;
  readonly hf: Holdfast;
  readonly data: Data;
  /** Here, and in no process of the fleet: whoever is killed, HubSpot knows nothing of it. */
  readonly crm: HubSpotDouble;

  private constructor(parts: Pick<Day, "rows" | "hf" | "data" | "crm">, env: Env, folder: string) {
    this.rows = parts.rows;
    this.hf = parts.hf;
    this.data = parts.data;
    this.crm = parts.crm;
    this.#env = env;
    this.#folder = folder;
  }

  static async begin({ env: given, rows }: DayOptions): Promise<Day> {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-day-"));
    // Tests of the sync itself keep HubSpot's rate; this day need not wait for it.
    const crm = await hubspotDouble({ limits: { max: 10_000 } });
    const env = {
      ...{ JWT_SECRET: SECRET, IMPORT_INBOX: join(folder, "inbox"), ...LEASES },
      ...{ HUBSPOT_TOKEN: crm.token, HUBSPOT_URL: crm.url, ...CRM },
      ...(!("DATABASE_URL" in given) && { DATABASE_URL: `sqlite:${join(folder, "day.db")}` }),
      ...given,
    };
    const { jobsUrl, ledgerUrl, dataUrl } = readEnv(env);
    const data = await dataOfUrl(dataUrl);
    await data.migrate();
    const ledger = ledgerUrl === undefined ? undefined : await storeOfUrl(ledgerUrl);
    const quiet = () => {};
    const hf = new Holdfast({
      ...{ store: await storeOfUrl(jobsUrl), ...(ledger && { ledger }) },
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    }) as Holdfast;
    return new Day({ rows, hf, data, crm }, env, folder);
  }

  /** Another process of the fleet. The first one brings the sample. */
  async comes(options: Omit<OfficeProcessOptions, "env" | "seeds">): Promise<OfficeProcess> {
    const seeds = this.#processes.length === 0;
    const one = await OfficeProcess.start({ ...options, seeds, env: this.#env });
    this.#processes.push(one);
    return one;
  }

  /** The process that a chapter leaves to the next one. */
  get front(): OfficeProcess {
    if (this.#front) return this.#front;
    throw new Error("no chapter before has left a process");
  }

  set front(one: OfficeProcess) {
    this.#front = one;
  }

  /** The back office as callers of this process see it. */
  at({ url }: OfficeProcess): Office {
    const inbox = this.#env["IMPORT_INBOX"] ?? "";
    return Office.at({ url, inbox, data: this.data, hf: this.hf });
  }

  /** The id of the job that an answer tells of; from now on it must succeed. */
  took(answer: Answer): string {
    const { jobId } = (answer.body.data ?? answer.body) as { jobId?: string };
    if (answer.status !== 202 || jobId === undefined) {
      throw new Error(`no job was taken: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    this.asked.add(jobId);
    return jobId;
  }

  /** A note to staff, which must reach each of them once. */
  async note(office: Office, subject: string): Promise<void> {
    this.notes.add(subject);
    this.took(await office.post("staff", "/api/notifications", { subject, body: "As told." }));
  }

  /** Whatever it is. */
  endOf(jobId: string): Promise<FinishedJob> {
    return this.hf.waitFor(jobId, { timeoutMs: PATIENCE_MS });
  }

  async resultOf(jobId: string): Promise<Readonly<Record<string, unknown>>> {
    const done = await this.endOf(jobId);
    if (done.status === "succeeded") return done.result as Readonly<Record<string, unknown>>;
    throw new Error(`job ${jobId} is ${done.status}`);
  }

  async end(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.kill()));
    await this.crm.close();
    await this.hf.close();
    await this.data.close();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
