/**
 * Options from `@nestjs/config`, by the keys that applications with a queue of their own have:
 *
 *     useFactory: (config: ConfigService) => ({ url: config.get("queue.url"), ...optionsFromConfig(config) })
 */
import { Logger } from "@nestjs/common";
import { optionsOf, readSettings, refuseProblems, type SettingName } from "holdfast/env";
import type { HoldfastModuleOptions } from "./module-options.ts";

/** What `ConfigService` has. */
export interface ConfigLike {
  get(key: string): unknown;
}

/** Below the prefix. Of two keys for one setting the first wins. */
const KEYS: Readonly<Record<string, SettingName>> = {
  ...{ pollMs: "pollMs", maxAttempts: "maxAttempts", concurrency: "concurrency" },
  ...{ visibilityMs: "leaseMs", stuckThresholdMs: "leaseMs", heartbeatMs: "renewMs" },
  ...{ graceMs: "graceMs", resilientMode: "resilient", maxPayloadBytes: "maxPayloadBytes" },
  ...{ dlqRetentionDays: "deadRetentionDays", failureSpikeThreshold: "spikeFailures" },
  ...{ lockStaleMinutes: "lockStaleMinutes", name: "queues" },
};

/** Throws one `InvalidOptionError` that names every bad value. `prefix`: where the keys are, default `queue`. */
export function optionsFromConfig(
  config: ConfigLike,
  prefix = "queue",
): Partial<HoldfastModuleOptions> {
  const values: Partial<Record<SettingName, unknown>> = {};
  const problems: string[] = [];
  for (const [key, name] of Object.entries(KEYS)) {
    const raw = config.get(`${prefix}.${key}`);
    if (raw === undefined || raw === null || raw === "") continue;
    const read = readSettings({ file: { name: "it", values: { [name]: raw } } });
    problems.push(
      ...read.problems.map((said) => said.replace(`${name} in it`, `${prefix}.${key}`)),
    );
    if (name in values) {
      new Logger("Holdfast").warn(`${prefix}.${key} is passed over: another key sets the same`);
      continue;
    }
    Object.assign(values, { [name]: raw });
  }
  refuseProblems("the configuration", problems);
  const read = readSettings({ file: { name: prefix, values } });
  const [queue] = read.values.queues ?? [];
  return { ...optionsOf(read.values), ...(queue !== undefined && { defaultQueue: queue }) };
}
