/**
 * A queue shown as a table, for people who read with SQL. A battery or an application says which columns it has,
 * each from a word of the job or from a path in its payload or result. Names are narrow enough to stand in
 * statements as they are.
 */
import { InvalidOptionError } from "./errors.ts";
import { checkName } from "./names.ts";
import { checkObject, checkOptions, nearestWord } from "./option-checks.ts";
import { show } from "./text.ts";

export interface QueueView {
  readonly queue: string;
  /** By the name of the column: a word of the job (`"status"`), or a path (`"payload.email"`). */
  readonly columns: Readonly<Record<string, string>>;
}

/** By the name of the view. */
export type QueueViews = Readonly<Record<string, QueueView>>;

export const VIEW_WORDS = [
  ...(["id", "type", "group", "status", "priority", "attempts", "maxAttempts"] as const),
  ...(["payload", "result", "error", "category", "reason", "worker"] as const),
  ...(["createdAt", "runAt", "startedAt", "finishedAt"] as const),
  // As other systems count and say it: retries, pending, completed, failed.
  ...(["operation", "key", "phase", "retries", "maxRetries", "retryAt", "completedAt"] as const),
] as const;
export type ViewWord = (typeof VIEW_WORDS)[number];

export interface ViewColumnSource {
  readonly name: string;
  readonly word: ViewWord;
  /** Inside of the payload or the result; empty: all of it. */
  readonly path: readonly string[];
}

export interface CheckedView {
  readonly name: string;
  readonly queue: string;
  readonly columns: readonly ViewColumnSource[];
}

const NAME = /^[a-z][a-z0-9_]{0,59}$/;
const STEP = /^[A-Za-z0-9_-]{1,100}$/;
const RESERVED = /^(?:holdfast_|sqlite_|pg_)/;
const MOST_COLUMNS = 50;
const MOST_VIEWS = 50;

export function checkQueueViews(views: unknown): CheckedView[] {
  if (views === undefined) return [];
  checkObject("views", views);
  const entries = Object.entries(views);
  if (entries.length > MOST_VIEWS) throw new InvalidOptionError(`views are at most ${MOST_VIEWS}`);
  return entries.map(([name, view]) => {
    checkViewName("a view", name);
    checkOptions(`the view ${name}`, view, ["queue", "columns"]);
    const { queue, columns } = view as QueueView;
    checkObject(`columns of the view ${name}`, columns);
    const sources = Object.entries(columns).map(([column, source]) => sourceOf(column, source));
    if (sources.length === 0 || sources.length > MOST_COLUMNS) {
      throw new InvalidOptionError(`the view ${name} takes 1 to ${MOST_COLUMNS} columns`);
    }
    return { name, queue: checkName("queue", queue), columns: sources };
  });
}

function checkViewName(what: string, name: string): void {
  if (NAME.test(name) && !RESERVED.test(name)) return;
  throw new InvalidOptionError(
    `${show(name)} cannot be the name of ${what}: use lower case letters, digits and _, begin with a letter, ` +
      "and not with holdfast_, sqlite_ or pg_",
  );
}

function sourceOf(name: string, source: unknown): ViewColumnSource {
  checkViewName("a column", name);
  const [word = "", ...path] = typeof source === "string" ? source.split(".") : [];
  const isKnown = (VIEW_WORDS as readonly string[]).includes(word);
  const isPath = path.length === 0 || word === "payload" || word === "result";
  if (isKnown && isPath && path.every((step) => STEP.test(step))) {
    return { name, word: word as ViewWord, path };
  }
  const nearest = nearestWord(word, VIEW_WORDS);
  throw new InvalidOptionError(
    `the column ${name} comes from a word of the job or a path such as payload.email, not ${show(source)}` +
      (nearest === null || isKnown ? "" : `: did you mean "${nearest}"?`),
  );
}
