/**
 * Is the inbox of this process the one that the others have? A small file in it has a random mark, and so has a
 * record in the store: on a machine whose inbox is another folder the two differ.
 */
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Holdfast } from "holdfast";

const FILE = ".holdfast-inbox";
/** Between the making of the file and its content another process may look: an empty mark is none. */
const LOOKS = 20;
const LOOK_AGAIN_MS = 10;

export interface MarkOptions {
  readonly hf: Holdfast;
  readonly inbox: string;
  readonly queue: string;
  readonly jobTypes: readonly string[];
}

/** Asked once, and again if the store did not answer. Warns where the folder is not shared. */
export function sharedInbox(options: MarkOptions): () => Promise<boolean> {
  let known: boolean | null = null;
  return async () => {
    if (known !== null) return known;
    known = await isSharedInbox(options);
    if (!known) {
      options.hf.tools.logger.warn(
        "the inbox of this process is another folder than that of other processes: workers on several machines need one folder that all of them share",
      );
    }
    return known;
  };
}

/** False: files that this process takes are not seen by the workers of others, or theirs not here. */
export async function isSharedInbox(options: MarkOptions): Promise<boolean> {
  const { hf, inbox, queue, jobTypes } = options;
  const mark = await markIn(inbox);
  const key = `imports/inbox/${queue}`;
  const [made] = await hf.records.swap<{ mark?: string }>([{ key, expect: null, value: { mark } }]);
  if (made === undefined || made.swapped) return true;
  const { current } = made;
  if (current?.value.mark === mark) return true;
  // A folder that replaces an old one: as long as no other process imports, this one decides.
  const workers = await hf.workers.list();
  if (workers.some(({ types }) => types.some((type) => jobTypes.includes(type)))) return false;
  const [changed] = await hf.records.swap([
    { key, expect: current?.version ?? null, value: { mark } },
  ]);
  return changed?.swapped === true;
}

async function markIn(inbox: string): Promise<string> {
  const path = join(inbox, FILE);
  try {
    await writeFile(path, randomUUID(), { flag: "wx", mode: 0o644 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const mark = (await readFile(path, "utf8")).trim();
    if (mark !== "") return mark;
    await sleep(LOOK_AGAIN_MS);
  }
  // Its process was killed before it could write.
  await writeFile(path, randomUUID());
  return (await readFile(path, "utf8")).trim();
}
