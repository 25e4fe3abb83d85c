/** Names that can be completed: types, queues, workers. Asked for when somebody begins to type, and kept. */
import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client.ts";
import { live } from "./live.ts";
import { session } from "./session.ts";

type Known = Readonly<Record<string, readonly string[]>>;

const FRESH_MS = 60_000;
let known: Known = {};
let knownAt = 0;

// The next who logs in here may see less.
session.listen(() => {
  if (session.get().kind === "in") return;
  known = {};
  knownAt = 0;
});

export function useKnownWords(isWanted: boolean): Known {
  const [words, setWords] = useState(known);
  useEffect(() => {
    if (!isWanted || Date.now() - knownAt < FRESH_MS) return;
    knownAt = Date.now();
    void readWords().then((found) => {
      known = found;
      setWords(found);
    });
  }, [isWanted]);
  return words;
}

async function readWords(): Promise<Known> {
  const [types, workers] = await Promise.all([
    api.types().catch(() => ({ items: [] })),
    api.workers.list().catch(() => ({ items: [] })),
  ]);
  const names = types.items.map(({ type }) => type);
  const families = names.flatMap((name) => (name.includes(".") ? [`${name.split(".")[0]}.*`] : []));
  return {
    type: [...new Set([...names, ...families])].sort(),
    queue: (live.get().overview?.queues ?? []).map(({ queue }) => queue).sort(),
    worker: workers.items.map(({ id }) => id),
  };
}
