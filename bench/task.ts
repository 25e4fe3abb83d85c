/**
 * What a child process does: exactly one thing, then it ends. So no contender inherits another one's
 * heap, hot code or open files.
 */
import { fork } from "node:child_process";
import { copyFile, constants, open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contenderNamed, type StoreName } from "./contenders/index.ts";
import { fill } from "./prefill.ts";
import type { MeasureBench, Metrics, Prefill, Size } from "./scenario.ts";
import { scenarioNamed } from "./scenarios/index.ts";

const FILE = fileURLToPath(import.meta.url);
/** Far beyond the longest task: a hang must end the run with a sentence, not in silence. */
const PATIENCE_MS = 600_000;

export type Task = { readonly store: StoreName } & (
  | { readonly kind: "describe"; readonly contender: string; readonly place: string }
  | {
      readonly kind: "prefill";
      readonly contender: string;
      readonly place: string;
      readonly prefill: Prefill;
    }
  | {
      readonly kind: "measure";
      readonly scenario: string;
      readonly variant: string;
      readonly size: Size;
      /** A folder of its own, emptied afterwards. */
      readonly scratch: string;
      readonly master: string | null;
    }
);

/** Answers a sentence, nothing, or what was measured. */
export function runTask(task: Task & { readonly kind: "describe" }): Promise<string>;
export function runTask(task: Task & { readonly kind: "prefill" }): Promise<null>;
export function runTask(task: Task & { readonly kind: "measure" }): Promise<Metrics>;
export function runTask(task: Task): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = fork(FILE, [JSON.stringify(task)], { timeout: PATIENCE_MS });
    let answer: { readonly value: unknown } | null = null;
    child.on("message", (message) => (answer = message as { readonly value: unknown }));
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      if (answer && code === 0) resolve(answer.value);
      else reject(new Error(`${nameOf(task)} ended with ${signal ?? code} and no answer`));
    });
  });
}

function nameOf(task: Task): string {
  return task.kind === "measure"
    ? `measuring ${task.scenario} (${task.variant})`
    : `${task.kind} of ${task.contender}`;
}

async function perform(task: Task): Promise<unknown> {
  switch (task.kind) {
    case "describe":
    case "prefill": {
      const session = await contenderNamed(task.store, task.contender).open(task.place, {
        keep: true,
      });
      const answer = task.kind === "describe" ? await session.describe() : null;
      if (task.kind === "prefill") await fill(session, task.prefill);
      await session.close();
      return answer;
    }
    case "measure": {
      const variants = scenarioNamed(task.scenario).variants(task.size);
      const variant = variants.find(({ label }) => label === task.variant);
      if (!variant) throw new Error(`there is no variant "${task.variant}"`);
      const contender = contenderNamed(task.store, variant.contender);
      let places = 0;
      const bench: MeasureBench = {
        store: task.store,
        contender: contender.name,
        async place() {
          if (task.master !== null && variant.prefill?.inPlace) return task.master;
          const place = join(task.scratch, `${places++}.db`);
          if (task.master !== null) await copyDurably(task.master, place);
          return place;
        },
        open: (place) => contender.open(place, { keep: true, ...variant.settings }),
      };
      return variant.measure(bench);
    }
  }
}

/** Onto the disk before anything is measured: else the first fsyncs would pay for the copy. */
async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const file = await open(to, "r+");
  await file.sync();
  await file.close();
}

if (process.argv[1] === FILE) {
  const value = await perform(JSON.parse(process.argv[2] ?? "") as Task);
  process.send?.({ value });
  // Not process.exit: what a contender left behind after its close would show as a hang.
  process.disconnect?.();
}
