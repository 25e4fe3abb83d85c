/** What `top` looks at, once a second, and what a person has chosen to see. Pure: keys in, state out. */
import type { FleetWorker, Holdfast, JobListing } from "holdfast";
import { queueRows, type QueueRow } from "../commands/queues.ts";

export interface Look {
  readonly at: number;
  readonly queues: readonly QueueRow[];
  readonly workers: readonly FleetWorker[];
  readonly dead: readonly JobListing[];
  readonly running: readonly JobListing[];
  /** Null: the store answered. */
  readonly trouble: string | null;
}

export const SORTS = ["queue", "ready", "processing", "dead", "rate", "oldest"] as const;
export type Sort = (typeof SORTS)[number];
export const PANES = ["queues", "running", "failures", "workers"] as const;
export type Pane = (typeof PANES)[number];

export interface View {
  readonly sort: Sort;
  readonly pane: Pane;
  readonly selected: number;
  readonly filter: string;
  /** A filter is being typed. */
  readonly isTyping: boolean;
  /** The job that is looked at. */
  readonly job: string | null;
  readonly isStopped: boolean;
}

export const FIRST_VIEW: View = {
  ...{ sort: "ready", pane: "queues", selected: 0, filter: "", isTyping: false, job: null },
  isStopped: false,
};

export type Act =
  | { readonly kind: "quit" }
  | { readonly kind: "pause"; readonly at: number }
  | { readonly kind: "look"; readonly at: number }
  | null;

const UP = "\u001b[A";
const DOWN = "\u001b[B";
const ESCAPE = "\u001b";

/** What a key does: to the view, and to the world. */
export function pressed(view: View, key: string): readonly [View, Act] {
  if (key === "\u0003") return [view, { kind: "quit" }];
  if (view.isTyping) return [typed(view, key), null];
  switch (key) {
    case "q":
      return view.job === null ? [view, { kind: "quit" }] : [{ ...view, job: null }, null];
    case ESCAPE:
      return [{ ...view, job: null, filter: "" }, null];
    case UP:
    case "k":
      return [{ ...view, selected: Math.max(0, view.selected - 1) }, null];
    case DOWN:
    case "j":
      return [{ ...view, selected: view.selected + 1 }, null];
    case "\t":
      return [{ ...view, pane: after(PANES, view.pane), selected: 0 }, null];
    case "s":
      return [{ ...view, sort: after(SORTS, view.sort) }, null];
    case "/":
      return [{ ...view, isTyping: true, filter: "" }, null];
    case " ":
      return [{ ...view, isStopped: !view.isStopped }, null];
    case "p":
      return [view, view.pane === "queues" ? { kind: "pause", at: view.selected } : null];
    case "\r":
      return [
        view,
        view.pane === "running" || view.pane === "failures"
          ? { kind: "look", at: view.selected }
          : null,
      ];
    default:
      return [view, null];
  }
}

function typed(view: View, key: string): View {
  if (key === "\r") return { ...view, isTyping: false, selected: 0 };
  if (key === ESCAPE) return { ...view, isTyping: false, filter: "" };
  if (key === "\u007f" || key === "\b") return { ...view, filter: view.filter.slice(0, -1) };
  return /^[\u0020-\u007e]$/.test(key) ? { ...view, filter: view.filter + key } : view;
}

function after<Word>(words: readonly Word[], word: Word): Word {
  return words[(words.indexOf(word) + 1) % words.length] as Word;
}

/** Queues as they are shown: filtered, sorted. */
export function shownQueues(
  { queues }: Look,
  { sort, filter }: View,
  rates: ReadonlyMap<string, number>,
): readonly QueueRow[] {
  const wanted = queues.filter(({ queue }) => queue.includes(filter));
  const value = (row: QueueRow): number => {
    switch (sort) {
      case "ready":
        return row.ready + row.delayed;
      case "processing":
        return row.processing;
      case "dead":
        return row.dead;
      case "rate":
        return rates.get(row.queue) ?? 0;
      case "oldest":
        return row.oldestReadyMs ?? 0;
      case "queue":
        return 0;
    }
  };
  return wanted.toSorted((a, b) => value(b) - value(a) || (a.queue < b.queue ? -1 : 1));
}

/** Jobs as they are shown in the pane that is open: filtered. */
export function shownJobs(look: Look, { pane, filter }: View): readonly JobListing[] {
  const all = pane === "running" ? look.running : look.dead;
  return all.filter((job) => [job.type, job.queue, job.id].some((text) => text.includes(filter)));
}

/** Jobs that ended a second, by queue, between two looks. */
export function ratesBetween(before: Look | null, now: Look): ReadonlyMap<string, number> {
  if (before === null || now.at <= before.at) return new Map();
  const ended = (row: QueueRow) => row.succeeded + row.dead + row.cancelled;
  const earlier = new Map(before.queues.map((row) => [row.queue, ended(row)]));
  const seconds = (now.at - before.at) / 1_000;
  return new Map(
    now.queues.map((row) => {
      const more = ended(row) - (earlier.get(row.queue) ?? 0);
      return [row.queue, Math.max(0, more) / seconds];
    }),
  );
}

const SHOWN_JOBS = 20;
/** Each costs a question a second. */
const SHOWN_QUEUES = 30;

export async function lookAt(hf: Holdfast, last: Look | null): Promise<Look> {
  const at = Date.now();
  try {
    const [queues, workers, dead, running] = await Promise.all([
      queueRows(hf, SHOWN_QUEUES),
      hf.workers.list(),
      hf.deadLetters.list({ limit: SHOWN_JOBS }),
      hf.jobs({ status: "processing", limit: SHOWN_JOBS, without: "payloads" }),
    ]);
    return { at, queues, workers, dead: dead.jobs, running: running.jobs, trouble: null };
  } catch (error) {
    const trouble = error instanceof Error ? error.message : String(error);
    const empty = { queues: [], workers: [], dead: [], running: [] };
    return { ...(last ?? empty), at, trouble };
  }
}
