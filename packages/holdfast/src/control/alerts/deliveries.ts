/**
 * Brings alerts to functions and webhooks, by jobs: one for each alert and channel, so that a killed process
 * loses none and a webhook that is away does not call a function again. Their ids follow from alert and
 * channel: to store them again changes nothing.
 */
import { createHash } from "node:crypto";
import { alertOf, ALERTS_QUEUE, type Alert } from "../../core/alert.ts";
import { DEFAULT_PRIORITY, defineJob, type JobContract } from "../../core/contract.ts";
import { PermanentError, PrivateAddressError } from "../../core/errors.ts";
import type { NewJob } from "../../core/job.ts";
import { uuidV7 } from "../../core/uuid.ts";
import type { ExtensionHost, OwnHandler } from "../../engine/extension.ts";
import type { Notifier } from "./alert-options.ts";
import { Webhook } from "./webhook.ts";

const TYPE = "holdfast.notify";
/** A channel that no process has had for so long was taken out of the code. */
const GONE_AFTER_MS = 3_600_000;
const LOOK_AGAIN_MS = 5_000;

interface Delivery {
  readonly channel: string;
  readonly alert: unknown;
}

const contract: JobContract = defineJob({
  ...{ type: TYPE, queue: ALERTS_QUEUE, timeoutMs: 60_000 },
  // 5 s, 20 s, 80 s, 5 min: a receiver that is being deployed is back by then.
  retry: { maxAttempts: 5, baseMs: 5_000, factor: 4, maxMs: 300_000 },
}) as JobContract;

export class Deliveries {
  readonly #host: Pick<ExtensionHost, "runtime" | "jobs" | "logger">;
  readonly #channels: ReadonlyMap<string, Notifier | Webhook>;

  constructor(host: ExtensionHost, notify: readonly (Notifier | Webhook)[]) {
    this.#host = host;
    this.#channels = channelsOf(notify);
    if (this.hasChannels) host.handleOwn(contract, (job) => this.#deliver(job));
    host.events.on("dead", ({ id, queue, failure }) => {
      if (queue !== ALERTS_QUEUE) return;
      host.logger.error(`an alert could not be delivered: ${failure.message}`, { job: id });
    });
  }

  get hasChannels(): boolean {
    return this.#channels.size > 0;
  }

  /** Stores what is to be delivered. */
  async store(alert: Alert): Promise<void> {
    const jobs = [...this.#channels.keys()].map((channel) => this.#job(alert, channel));
    if (jobs.length > 0) await this.#host.jobs.insert(jobs, { evenIfFull: true });
  }

  #job(alert: Alert, channel: string): NewJob {
    const delivery: Delivery = { channel, alert };
    const chance = createHash("sha256").update(`${alert.id}\n${channel}`).digest();
    return {
      ...{ id: uuidV7(alert.at.getTime(), chance), queue: ALERTS_QUEUE, group: "", type: TYPE },
      ...{ payload: JSON.stringify(delivery), priority: DEFAULT_PRIORITY, delayMs: 0 },
      ...{ runAt: null, maxAttempts: contract.retry.maxAttempts, dedupe: null, tags: [] },
      ...{ meta: null, trace: null },
    };
  }

  async #deliver(job: Parameters<OwnHandler>[0]): Promise<unknown> {
    const { channel: key, alert: stored } = job.payload as Delivery;
    const channel = this.#channels.get(key);
    const { runtime } = this.#host;
    if (channel === undefined) {
      // Another release of the code may have it.
      const isGone = runtime.wallClock() - job.createdAt.getTime() > GONE_AFTER_MS;
      return isGone ? job.cancel(`no process has the channel ${key}`) : job.snooze(LOOK_AGAIN_MS);
    }
    const alert = alertOf(JSON.stringify(stored));
    if (!(channel instanceof Webhook)) return void (await channel(alert));
    try {
      return await channel.send(alert, { now: runtime.wallClock(), signal: job.signal });
    } catch (error) {
      if (!(error instanceof PrivateAddressError)) throw error;
      throw new PermanentError(error.message, { cause: error });
    }
  }
}

/** Webhooks by their URL, functions by their name or their place in the list. */
function channelsOf(notify: readonly (Notifier | Webhook)[]): Map<string, Notifier | Webhook> {
  const channels = new Map<string, Notifier | Webhook>();
  notify.forEach((channel, at) => {
    const name = channel instanceof Webhook ? channel.key : `function:${channel.name || at}`;
    channels.set(channels.has(name) ? `${name}#${at}` : name, channel);
  });
  return channels;
}
