/**
 * Raises alerts: once per subject and hour over the fleet. A record says that it was raised, before anything is
 * sent; whoever finds one whose sending was never finished sends it. So a killed process loses none.
 */
import { alertOf, type Alert, type AlertKind } from "../../core/alert.ts";
import { HOUR_MS, isDue, NOTHING_TOLD, raised, type AlertRecord } from "../../core/alert-record.ts";
import type { Records, StoredRecord } from "../../core/records.ts";
import type { ExtensionHost } from "../../engine/extension.ts";
import type { Deliveries } from "./deliveries.ts";

export const SUBJECTS = "holdfast/alerts/about/";
/** What still must be told is kept until it is. */
const UNTOLD_MS = 30 * 86_400_000;
/** A sender that is alive has finished by then. */
const SENDING_MS = 30_000;
const PAGE = 200;

const LOG_TYPES: Readonly<Record<AlertKind, string>> = {
  ...{ spike: "QUEUE_FAILURE_SPIKE", lag: "QUEUE_LAG", depth: "QUEUE_DEPTH" },
  ...{ memory: "STORE_MEMORY", dead: "DEAD_JOBS", unrecoverable: "UNRECOVERABLE_ERROR" },
  ...{ operation: "OPERATION_STOPPED" },
};

export interface Found {
  readonly record: AlertRecord | null;
  readonly version: number | null;
}

export class RaiseAlerts {
  readonly #host: ExtensionHost;
  readonly #deliveries: Deliveries;

  constructor(host: ExtensionHost, deliveries: Deliveries) {
    this.#host = host;
    this.#deliveries = deliveries;
  }

  /** False: it was told of already, by this process or another. */
  async once(
    subject: string,
    make: (about: { readonly id: string; readonly at: Date }) => Alert,
    everyMs = HOUR_MS,
  ): Promise<boolean> {
    const key = SUBJECTS + subject;
    const { record, version } = await this.read(key);
    if (record !== null && record.toldAt !== null) return false;
    const now = await this.#host.jobs.now();
    const before = record ?? NOTHING_TOLD;
    return this.raise({ key, before, version, now, everyMs }, make);
  }

  /** Writes down that it is raised, then sends it. False: another process was first. */
  async raise(
    about: {
      readonly key: string;
      readonly before: Omit<AlertRecord, "mark">;
      readonly version: number | null;
      readonly now: number;
      readonly everyMs?: number;
    },
    make: (about: { readonly id: string; readonly at: Date }) => Alert,
  ): Promise<boolean> {
    const { key, before, version, now, everyMs = HOUR_MS } = about;
    const { runtime } = this.#host;
    const made = this.#safe(make({ id: runtime.id(), at: new Date(now) }));
    const record = {
      ...raised(before, JSON.stringify(made), runtime.id(), now),
      ...(everyMs !== HOUR_MS && { everyMs }),
    };
    const stored = await this.write(key, record, version);
    if (stored === null) return false;
    await this.#send(key, { record, version: stored });
    return true;
  }

  async read(key: string): Promise<Found> {
    const [found] = await this.#host.records.read([key]);
    return found ? foundOf(found) : { record: null, version: null };
  }

  /** The new version; null: another process wrote it meanwhile. */
  async write(
    key: string,
    record: AlertRecord,
    expect: number | null,
    ttlMs = UNTOLD_MS,
  ): Promise<number | null> {
    const swap = { key, expect, value: JSON.stringify(record), ttlMs };
    const [result] = await this.#host.records.swap([swap]);
    if (result?.swapped) return result.version;
    // A lost reply looks like a lost race: what is there may be our own.
    const current = result?.swapped === false ? result.current : null;
    const isOurs = current !== null && foundOf(current).record?.mark === record.mark;
    return isOurs ? current.version : null;
  }

  /** What other processes began and did not finish, and what has waited for its hour. Answers how many. */
  async catchUp(
    isStopped: () => boolean,
    tell: (key: string, found: Found, now: number) => Promise<boolean>,
  ): Promise<number> {
    let told = 0;
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Records["scan"]>> = await this.#host.records.scan({
        ...{ prefix: SUBJECTS, limit: PAGE, cursor },
      });
      const now = page.records.length === 0 ? 0 : await this.#host.jobs.now();
      for (const stored of page.records) {
        if (isStopped()) return told;
        const found = foundOf(stored);
        const { record } = found;
        if (record?.sending != null && now - (record.toldAt ?? 0) >= SENDING_MS) {
          await this.#send(stored.key, { record, version: stored.version });
          told += 1;
        } else if (record?.deaths != null && isDue(record, now)) {
          if (await tell(stored.key, found, now)) told += 1;
        }
      }
      cursor = page.nextCursor;
    } while (cursor !== null);
    return told;
  }

  async #send(
    key: string,
    { record, version }: { readonly record: AlertRecord; readonly version: number },
  ): Promise<void> {
    const alert = alertOf(record.sending ?? "{}");
    this.#tell(alert);
    await this.#deliveries.store(alert);
    await this.#note(alert);
    let current: Found = { record, version };
    // Deaths may have gathered meanwhile: they stay.
    while (current.record !== null && current.record.sending === record.sending) {
      const sent = { ...current.record, sending: null, mark: this.#host.runtime.id() };
      const ttlMs = sent.deaths === null ? (sent.everyMs ?? HOUR_MS) : UNTOLD_MS;
      if ((await this.write(key, sent, current.version, ttlMs)) !== null) return;
      current = await this.read(key);
    }
  }

  /** Whatever leaves has no secret in it. */
  #safe(alert: Alert): Alert {
    const { redactor } = this.#host;
    const plain: unknown = JSON.parse(JSON.stringify(alert), (name, value: unknown) =>
      typeof value === "string" && name !== "link" ? redactor.text(value) : value,
    );
    const hidden = redactor.value(plain);
    const { id, kind, at } = alert;
    const shown = typeof hidden === "object" && hidden !== null ? hidden : { message: hidden };
    return { ...shown, id, kind, at } as Alert;
  }

  #tell(alert: Alert): void {
    const { logger, events } = this.#host;
    const type = LOG_TYPES[alert.kind];
    if (alert.kind === "spike") {
      const { failedLastHour, threshold, queue: queueName } = alert;
      logger.error(alert.message, { type, failedLastHour, threshold, queueName });
    } else {
      logger.error(alert.message, { type, alert });
    }
    events.emit("alert", () => alert);
  }

  /** For people who look later. The ledger may be away: that is no reason not to deliver. */
  async #note(alert: Alert): Promise<void> {
    const { hasLedger, ledger, logger, entryTime } = this.#host;
    if (!hasLedger) return;
    const { id, kind } = alert;
    const about = { jobId: null, group: null, category: null, state: kind, at: entryTime() };
    const queue = "queue" in alert ? alert.queue : null;
    const type = "type" in alert ? alert.type : null;
    const fingerprint = "fingerprint" in alert ? alert.fingerprint : null;
    const body = JSON.stringify(alert);
    const entry = { id, kind: "alert", ...about, queue, type, fingerprint, body };
    try {
      await ledger((book) => book.append([entry]));
    } catch (error) {
      logger.warn(`alert ${id} (${kind}) could not be noted in the ledger`, { error });
    }
  }
}

function foundOf({ value, version }: StoredRecord): Found & { readonly version: number } {
  return { record: JSON.parse(value) as AlertRecord, version };
}
