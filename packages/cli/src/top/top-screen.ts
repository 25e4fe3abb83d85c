/** The screen of `top`, as lines. Pure: the same look and view draw the same screen. */
import type { JobView } from "holdfast";
import type { QueueRow } from "../commands/queues.ts";
import { clean } from "../output/clean.ts";
import type { Paint } from "../output/paint.ts";
import { table, type Column } from "../output/table.ts";
import { cut, cutPainted } from "../output/text-width.ts";
import { ago, count, duration, many } from "../output/words.ts";
import { PANES, shownJobs, shownQueues, type Look, type View } from "./top-state.ts";

export interface Screen {
  readonly look: Look;
  readonly view: View;
  readonly rates: ReadonlyMap<string, number>;
  readonly store: string;
  /** The lines of a job that is looked at. */
  readonly job: { readonly found: JobView; readonly lines: readonly string[] } | null;
  readonly note: string;
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
}

const KEYS = "tab pane · ↑↓ select · s sort · / filter · p pause · enter job · space stop · q quit";

export function screenLines(screen: Screen): string[] {
  const { rows, columns, paint, view, note } = screen;
  const head = headLines(screen);
  const room = Math.max(1, rows - head.length - 2);
  const body = screen.job === null ? paneLines(screen, room) : screen.job.lines.slice(0, room);
  const foot = view.isTyping ? `filter: ${view.filter}▏` : note === "" ? KEYS : note;
  const blank = Array.from({ length: Math.max(0, room - body.length) }, () => "");
  // A line that is wrapped takes the room of two, and the head of the screen would be gone.
  return [...head, ...body, ...blank, paint.dim(foot)].map((line) => cutPainted(line, columns));
}

function headLines({ look, view, rates, store, columns, paint }: Screen): string[] {
  const sum = (of: (row: QueueRow) => number) => look.queues.reduce((all, row) => all + of(row), 0);
  const rate = [...rates.values()].reduce((all, one) => all + one, 0);
  const oldest = Math.max(0, ...look.queues.map(({ oldestReadyMs }) => oldestReadyMs ?? 0));
  const figures = [
    `ready ${count(sum(({ ready }) => ready))}`,
    `delayed ${count(sum(({ delayed }) => delayed))}`,
    `running ${count(sum(({ processing }) => processing))}`,
    `dead ${count(sum(({ dead }) => dead))}`,
    `${rate.toFixed(1)}/s`,
    `oldest ${duration(oldest)}`,
    many(look.workers.length, "worker"),
  ].join("  ");
  const at = new Date(look.at).toTimeString().slice(0, 8);
  const title = cut(
    `holdfast top  ${clean(store)}  ${at}${view.isStopped ? "  stopped" : ""}`,
    columns,
  );
  const panes = PANES.map((pane) =>
    pane === view.pane ? paint.inverse(` ${pane} `) : ` ${pane} `,
  );
  const filter = view.filter === "" ? "" : `  filter: ${view.filter}`;
  const room = columns - PANES.reduce((all, pane) => all + pane.length + 2, 0);
  const order = cut(`  sorted by ${view.sort}${filter}`, Math.max(0, room));
  return [
    paint.bold(title),
    cut(figures, columns),
    ...(look.trouble === null
      ? []
      : [paint.red(cut(`the store does not answer: ${clean(look.trouble)}`, columns))]),
    `${panes.join("")}${paint.dim(order)}`,
  ];
}

function paneLines(screen: Screen, room: number): string[] {
  const { look, view, rates, columns, paint } = screen;
  const { at } = look;
  const wanted = (...texts: readonly (string | null)[]) =>
    view.filter === "" || texts.some((text) => text?.includes(view.filter) === true);
  switch (view.pane) {
    case "queues":
      return rowsOf(screen, room, shownQueues(look, view, rates), [
        { title: "QUEUE", value: ({ queue }) => queue, atLeast: 8 },
        { title: "READY", value: ({ ready }) => count(ready), align: "right" },
        { title: "DELAYED", value: ({ delayed }) => count(delayed), align: "right", mayGo: true },
        { title: "RUNNING", value: ({ processing }) => count(processing), align: "right" },
        {
          title: "PER S",
          value: ({ queue }) => (rates.get(queue) ?? 0).toFixed(1),
          ...{ align: "right", mayGo: true },
        },
        {
          title: "RETRYING",
          value: ({ retrying }) => count(retrying),
          ...{ align: "right", mayGo: true },
        },
        { title: "DEAD", value: ({ dead }) => count(dead), align: "right" },
        {
          title: "OLDEST",
          value: ({ oldestReadyMs }) => (oldestReadyMs === null ? null : duration(oldestReadyMs)),
          align: "right",
        },
        { title: "HELD", value: ({ held }) => held, atLeast: 6 },
      ]);
    case "running":
    case "failures":
      return rowsOf(screen, room, shownJobs(look, view), [
        { title: "ID", value: ({ id }) => id },
        { title: "TYPE", value: ({ type }) => type, atLeast: 8 },
        { title: "QUEUE", value: ({ queue }) => queue, atLeast: 6, mayGo: true },
        {
          title: "TRY",
          value: (job) => `${job.attempts}/${job.maxAttempts}`,
          ...{ align: "right", mayGo: true },
        },
        { title: "SINCE", value: (job) => ago(job.finishedAt ?? job.startedAt, at), mayGo: true },
        {
          title: "WHAT",
          value: (job) => job.error?.message ?? job.progress?.message ?? job.worker,
          atLeast: 8,
        },
      ]);
    case "workers": {
      const workers = look.workers.filter(({ id, host }) => wanted(id, host));
      if (workers.length === 0) return [paint.dim(cut("no worker is running", columns))];
      return rowsOf(screen, room, workers, [
        { title: "WORKER", value: ({ id }) => id, atLeast: 12 },
        { title: "BUSY", value: (one) => `${one.active}/${one.slots}`, align: "right" },
        { title: "QUEUES", value: (one) => one.queues.join(","), atLeast: 8 },
        { title: "VERSION", value: ({ version }) => version, mayGo: true },
        { title: "SEEN", value: ({ seenAt }) => ago(seenAt, at), mayGo: true },
        { title: "STATE", value: (one) => (one.isQuiet ? "quiet" : "leasing") },
        {
          title: "RUNS",
          value: (one) => one.running.map(({ type }) => type).join(","),
          atLeast: 6,
        },
      ]);
    }
  }
}

/** The part of a table around the row that is selected. */
function rowsOf<Row>(
  { columns, paint, view }: Screen,
  room: number,
  rows: readonly Row[],
  shown: readonly Column<Row>[],
): string[] {
  if (rows.length === 0) return [paint.dim("nothing here")];
  const selected = Math.min(view.selected, rows.length - 1);
  const from = Math.max(
    0,
    Math.min(selected - Math.floor((room - 1) / 2), rows.length - (room - 1)),
  );
  const part = rows.slice(from, from + room - 1);
  const [head = "", ...lines] = table(part, shown, { width: columns, paint }).trimEnd().split("\n");
  return [head, ...lines.map((line, at) => (from + at === selected ? paint.inverse(line) : line))];
}
