/**
 * For `@nestjs/terminus` and for probes of one's own: `health.check([() => holdfast.isHealthy()])`. The shape is
 * Terminus's; the package is not needed.
 */
import { InvalidOptionError, type Holdfast } from "holdfast";

export type HealthIndicatorResult<Key extends string = string> = Record<
  Key,
  { readonly status: "up" | "down" } & Readonly<Record<string, unknown>>
>;

export interface PingOptions {
  /** Default 1,000. */
  readonly timeoutMs?: number | undefined;
}

export class HoldfastHealthIndicator {
  readonly #hf: Holdfast;

  constructor(hf: Holdfast) {
    this.#hf = hf;
  }

  /** Does this process do its work? Asks nobody and answers at once: for readiness and liveness. */
  async isHealthy<Key extends string = "holdfast">(
    key: Key = "holdfast" as Key,
  ): Promise<HealthIndicatorResult<Key>> {
    const { ok, lastLeaseAt, lastCallAt, workers, spooled } = this.#hf.health();
    const details = {
      ...{ lastLeaseAt, lastCallAt, workers: workers.length },
      running: workers.reduce((sum, { running }) => sum + running, 0),
      ...(spooled !== null && { spooled }),
    };
    return result(key, ok, { ...details, ...(!ok && { message: "the store does not answer" }) });
  }

  /** Does the store answer now? A round trip. */
  async pingCheck<Key extends string = "holdfast">(
    key: Key = "holdfast" as Key,
    options: PingOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const { timeoutMs = 1_000 } = options;
    if (!Number.isInteger(timeoutMs) || timeoutMs < 1) {
      throw new InvalidOptionError("timeoutMs is a whole number of milliseconds above 0");
    }
    const began = performance.now();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("no answer in time")), timeoutMs);
    try {
      const asked = this.#hf.tools.ping();
      asked.catch(() => {});
      await Promise.race([asked, late]);
      return result(key, true, { tookMs: Math.round(performance.now() - began) });
    } catch (error) {
      const message = error instanceof Error ? this.#hf.tools.redact.text(error.message) : "";
      return result(key, false, { message });
    } finally {
      clearTimeout(timer);
    }
  }
}

function result<Key extends string>(key: Key, isUp: boolean, details: object) {
  return { [key]: { status: isUp ? "up" : "down", ...details } } as HealthIndicatorResult<Key>;
}
