/** How fast waiting jobs get done, with a handler that does nothing. */
import { drainVariant, readyFor, usualStretch } from "../drain-variant.ts";
import { contenderLines } from "../lines.ts";
import type { Scenario, Size, Variant } from "../scenario.ts";

export const drainKept: Scenario = {
  name: "drain-kept",
  title: "drain with a no-op handler, finished jobs kept",
  variants: (size) => allThree(size, { keep: true }),
  lines: contenderLines({ raw: 0.6, plainjob: 4 }),
};

export const drainDeleted: Scenario = {
  name: "drain-deleted",
  title: "drain with a no-op handler, finished jobs deleted (Holdfast remembers id and fence)",
  variants: (size) => allThree(size, { keep: false }),
  // No target against the raw loop: it forgets what it deletes, and so does less.
  lines: contenderLines({ plainjob: 4 }),
};

function allThree(size: Size, { keep }: { readonly keep: boolean }): Variant[] {
  const stretch = usualStretch(size);
  // plainjob commits every job twice: a tenth of the jobs gives as long a stretch.
  const tenth = { skip: stretch.skip / 10, count: stretch.count / 10 };
  return [
    drainVariant("raw", "raw", { stretch, prefill: { ready: readyFor(stretch) }, keep }),
    drainVariant("plainjob", "plainjob", {
      stretch: tenth,
      prefill: { ready: readyFor(tenth) },
      keep,
    }),
    drainVariant("holdfast", "holdfast", { stretch, prefill: { ready: readyFor(stretch) }, keep }),
  ];
}
