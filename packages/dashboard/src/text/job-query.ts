/**
 * What people type to find jobs: words with a colon say where to look, all others look in error messages.
 *
 *     type:email.* status:dead group:tenant-7 error:"ECONN refused" id:019a9d2e
 */

export interface Word {
  /** Null: a word without a colon. */
  readonly name: string | null;
  readonly value: string;
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
}

/** As the route takes it. */
export type JobsQuery = Readonly<Record<string, string>>;

export interface ParsedQuery {
  readonly query: JobsQuery;
  /** What could not be understood, each a sentence. Nothing is left out silently. */
  readonly problems: readonly string[];
}

export interface Qualifier {
  readonly name: string;
  /** As the route calls it. */
  readonly param: string;
  readonly about: string;
  /** Null: anything. */
  readonly values: readonly string[] | null;
}

const STATUSES = ["queued", "processing", "succeeded", "dead", "cancelled", "waiting", "delayed"];
export const CATEGORIES = ["rate_limit", "network", "auth", "validation", "timeout", "unknown"];

export const QUALIFIERS: readonly Qualifier[] = [
  { name: "status", param: "status", about: "where it stands", values: STATUSES },
  { name: "type", param: "type", about: "of the job; email.* for all that begin so", values: null },
  { name: "queue", param: "queue", about: "where it waits", values: null },
  { name: "group", param: "group", about: "the tenant", values: null },
  { name: "tag", param: "tag", about: "one of its tags", values: null },
  { name: "error", param: "text", about: "in the message of its last failure", values: null },
  { name: "category", param: "category", about: "of its last failure", values: CATEGORIES },
  { name: "fault", param: "fingerprint", about: "jobs that failed alike", values: null },
  { name: "id", param: "id", about: "the beginning of an id", values: null },
  { name: "worker", param: "worker", about: "that has or had it", values: null },
  {
    name: "retrying",
    param: "retrying",
    about: "queued after a failure",
    values: ["true", "false"],
  },
  { name: "from", param: "from", about: "created at or after, as a time or 2h", values: null },
  { name: "to", param: "to", about: "created before, as a time or 2h", values: null },
];

const WORD = /([a-z]+):(?=\s|$)|(?:([a-z]+):)?(?:"((?:[^"\\]|\\.)*)"?|(\S+))/gi;
const ID = /^[0-9a-f]{8}[0-9a-f-]*$/i;

export function wordsOf(text: string): Word[] {
  return [...text.matchAll(WORD)].map((found) => {
    const [all, empty, name, quoted, plain] = found;
    const start = found.index;
    const value = quoted === undefined ? (plain ?? "") : quoted.replace(/\\(.)/g, "$1");
    const named = name ?? empty ?? null;
    return { name: named && named.toLowerCase(), value, start, end: start + all.length };
  });
}

export function parseJobQuery(text: string, now: number): ParsedQuery {
  const query: Record<string, string> = {};
  const problems: string[] = [];
  const texts: string[] = [];
  const statuses: string[] = [];
  for (const { name, value } of wordsOf(text)) {
    if (name === null) {
      if (!ID.test(value)) texts.push(value);
      else if (query["id"] === undefined) query["id"] = value.toLowerCase();
      else problems.push("id: can be said once.");
      continue;
    }
    const known = QUALIFIERS.find((one) => one.name === name);
    if (!known) {
      problems.push(`There is no "${name}:"${nearest(name)}.`);
      continue;
    }
    if (value === "" && name !== "group") {
      problems.push(`${name}: says nothing yet.`);
      continue;
    }
    if (known.values && !known.values.includes(value)) {
      problems.push(`${name}: takes ${known.values.join(", ")}, not "${value}".`);
      continue;
    }
    if (name === "status") statuses.push(value);
    else if (name === "error") texts.push(value);
    else if (query[known.param] !== undefined) {
      problems.push(`${name}: can be said once.`);
    } else if (name === "from" || name === "to") {
      const at = timeOf(value, now);
      if (at === null) problems.push(`${name}: takes a time such as 2026-11-18T14:00 or 2h.`);
      else query[known.param] = at;
    } else if (name === "id" && !ID.test(value)) {
      problems.push("id: takes at least the first 8 characters of an id.");
    } else query[known.param] = value;
  }
  const [single] = statuses;
  const alone = statuses.find((one) => one === "waiting" || one === "delayed");
  if (alone !== undefined && statuses.length > 1) {
    problems.push(`status:${alone} stands alone: it says when a job is due.`);
  } else if (single !== undefined) query["status"] = statuses.join(",");
  if (texts.length > 0) query["text"] = texts.join(" ");
  return { query, problems };
}

/** "2h" is two hours ago. */
function timeOf(text: string, now: number): string | null {
  const ago = /^(\d+(?:\.\d+)?)(s|m|min|h|d)$/i.exec(text);
  if (ago) {
    const units: Readonly<Record<string, number>> = {
      ...{ s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 },
    };
    const unit = units[(ago[2] ?? "s").toLowerCase()] ?? 1_000;
    return new Date(now - Number(ago[1]) * unit).toISOString();
  }
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

function nearest(name: string): string {
  const begins = QUALIFIERS.find((one) => one.name[0] === name[0]);
  return begins ? `; did you mean "${begins.name}:"?` : `; ${QUALIFIERS[0]?.name}: is one`;
}

/** Text with one qualifier set, or without it (null). Others stay as they were typed. */
export function withQualifier(text: string, name: string, value: string | null): string {
  const kept = wordsOf(text)
    .filter((word) => word.name !== name)
    .map(({ start, end }) => text.slice(start, end));
  const added = value === null ? [] : [qualifierText(name, value)];
  return [...kept, ...added].join(" ");
}

/** In quotes where it has to be. */
export function qualifierText(name: string, value: string): string {
  const isPlain = /^[^\s"\\]+$/.test(value);
  return `${name}:${isPlain ? value : `"${value.replace(/["\\]/g, "\\$&")}"`}`;
}

export function qualifierOf(text: string, name: string): string | null {
  return wordsOf(text).find((word) => word.name === name)?.value ?? null;
}

export interface Completion {
  /** What is shown. */
  readonly text: string;
  readonly about: string;
  /** The whole text, with it taken. */
  readonly taken: string;
}

/** What the word at the cursor could become. */
export function completionsOf(
  text: string,
  cursor: number,
  known: Readonly<Record<string, readonly string[]>>,
): Completion[] {
  const begun = /\S*$/.exec(text.slice(0, cursor))?.[0] ?? "";
  const before = text.slice(0, cursor - begun.length);
  const after = text.slice(cursor).replace(/^\S*/, "");
  const [name = "", value] = begun.includes(":") ? split(begun) : [begun, undefined];
  if (value === undefined) {
    return QUALIFIERS.filter((one) => one.name.startsWith(name.toLowerCase())).map((one) => ({
      ...{ text: `${one.name}:`, about: one.about, taken: `${before}${one.name}:${after}` },
    }));
  }
  const qualifier = QUALIFIERS.find((one) => one.name === name.toLowerCase());
  const values = qualifier?.values ?? known[name.toLowerCase()] ?? [];
  const wanted = value.toLowerCase();
  return values
    .filter((one) => one.toLowerCase().includes(wanted) && one !== value)
    .sort((a, b) => Number(b.startsWith(value)) - Number(a.startsWith(value)))
    .slice(0, 12)
    .map((one) => ({
      ...{ text: one, about: "", taken: `${before}${qualifierText(name, one)} ${after}`.trimEnd() },
    }));
}

function split(word: string): [string, string] {
  const at = word.indexOf(":");
  return [word.slice(0, at), word.slice(at + 1)];
}
