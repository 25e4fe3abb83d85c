/** A process that imports: it says each batch that it begins and ends, so that it can be killed at any point. */
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { z } from "zod";
import { defineImport, openImports, type ImportTarget } from "@holdfast/imports";
import { targetOf, type TargetName } from "./target-of.ts";

export interface ImportWorkerOptions {
  readonly jobs: string;
  readonly inbox: string;
  readonly target: TargetName;
  readonly url: string;
  /** Works; otherwise it only defines. */
  readonly works?: boolean;
}

export const peopleSchema = z.object({
  email: z.string().min(1),
  name: z.string().optional(),
  amount: z.coerce.number().optional(),
  day: z.iso.date().optional(),
  n: z.coerce.number().int().optional(),
});

const quiet = () => {};

export async function openPeople(
  options: ImportWorkerOptions,
  watch = (target: ImportTarget) => target,
) {
  const store = sqliteStore({ file: options.jobs, synchronous: "normal" });
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const hf = new Holdfast({ store, logger });
  const people = defineImport({
    ...{ type: "people", schema: peopleSchema, key: ["email"] },
    target: watch(targetOf(options.target, options.url)),
    job: { maxCrashes: 1_000, retry: { maxAttempts: 1_000, delaysMs: [1] } },
  });
  const imports = await openImports(hf, { inbox: options.inbox, types: [people] });
  return { hf, imports };
}

if (process.argv[2] !== undefined && process.argv[1]?.endsWith("import-worker.ts") === true) {
  const options = JSON.parse(process.argv[2]) as ImportWorkerOptions;
  // The test is gone: no other process would end this one.
  process.stdin.on("end", () => process.exit(3)).resume();
  const say = (word: string) => void process.stdout.write(`${word}\n`);
  const { hf } = await openPeople(options, (target) => {
    const write = target.write.bind(target);
    target.write = async (batch) => {
      say("write");
      const answer = await write(batch);
      say("written");
      return answer;
    };
    return target;
  });
  await hf.work({ queues: ["imports"], concurrency: 1, leaseMs: 500, renewMs: 100, pollMs: 50 });
  say("up");
}
