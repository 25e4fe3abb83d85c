/**
 * What a child process does: exactly one thing, then it ends. So no contender inherits another one's
 * heap, hot code or open files.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { contenderNamed, type StoreName } from "./contenders/index.ts";
import { groundAt } from "./ground.ts";
import { PastClock } from "./past-clock.ts";
import { fill } from "./prefill.ts";
import type { MeasureBench, Metrics, Prefill, Size } from "./scenario.ts";
import { scenarioNamed } from "./scenarios/index.ts";

const FILE = fileURLToPath(import.meta.url);
/** Far beyond the longest task: a hang must end the run with a sentence, not in silence. */
const PATIENCE_MS = 600_000;

interface Opening {
  readonly store: StoreName;
  readonly contender: string;
  readonly place: string;
}
type Describe = Opening & { readonly kind: "describe" };
type Fill = Opening & { readonly kind: "prefill"; readonly prefill: Prefill };
interface Measure {
  readonly kind: "measure";
  readonly store: StoreName;
  readonly scenario: string;
  readonly variant: string;
  readonly size: Size;
  /** Of the ground on which it makes its places. */
  readonly address: string;
  readonly master: string | null;
}
export type Task = Describe | Fill | Measure;

/** Answers a sentence, nothing, or what was measured. */
export function runTask(task: Describe): Promise<string>;
export function runTask(task: Fill): Promise<null>;
export function runTask(task: Measure): Promise<Metrics>;
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

let mustEnd = false;

async function perform(task: Task): Promise<unknown> {
  if (task.kind === "measure") return measure(task);
  const contender = await contenderNamed(task.store, task.contender);
  mustEnd = contender.doesNotEnd === true;
  const past = task.kind === "prefill" && task.prefill.past ? new PastClock() : null;
  const session = await contender.open(task.place, { keep: true, clock: past?.now });
  const answer = task.kind === "describe" ? await session.describe() : null;
  if (task.kind === "prefill") await fill(session, task.prefill, past);
  await session.close();
  return answer;
}

async function measure({ store, master, ...task }: Measure): Promise<Metrics> {
  const variants = scenarioNamed(store, task.scenario).variants(task.size);
  const variant = variants.find(({ label }) => label === task.variant);
  if (!variant) throw new Error(`there is no variant "${task.variant}"`);
  const { prefill } = variant;
  const contender = await contenderNamed(store, variant.contender);
  mustEnd = contender.doesNotEnd === true;
  const ground = await groundAt(store, task.address);
  const made: string[] = [];
  const newPlace = async (): Promise<string> => {
    if (master !== null && ground.copy) return ground.copy(master);
    const place = await ground.make();
    // In a process of its own, as everywhere: this one is to be measured.
    if (prefill) {
      await runTask({ kind: "prefill", store, contender: contender.name, place, prefill });
      await ground.rest?.(place);
    }
    return place;
  };
  const bench: MeasureBench = {
    store,
    contender: contender.name,
    async place() {
      if (master !== null && prefill?.inPlace === true) return master;
      const place = await newPlace();
      made.push(place);
      return place;
    },
    open: (place) => contender.open(place, { keep: true, ...variant.settings }),
  };
  const metrics = await variant.measure(bench);
  for (const place of made) await ground.remove(place);
  await ground.close();
  return metrics;
}

if (process.argv[1] === FILE) {
  let isDone = false;
  // Whoever asked is gone: nobody wants the answer.
  process.once("disconnect", () => void (isDone || process.exit(1)));
  const value = await perform(JSON.parse(process.argv[2] ?? "") as Task);
  isDone = true;
  process.send?.({ value }, () => {
    // Else not process.exit: what a contender left behind after its close shows as a hang.
    if (mustEnd) process.exit();
    process.disconnect?.();
  });
}
