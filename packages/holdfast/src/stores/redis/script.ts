/** The scripts as a server gets them: flags first, then what they include, then the verb itself. */
import { createHash } from "node:crypto";
import { LUA } from "./scripts.ts";
import { withoutUncalled } from "./without-uncalled.ts";

type Part = keyof typeof LUA;

/** Those that begin with a shebang; the others are included by them. */
export type ScriptName = Exclude<
  Part,
  | "clock"
  | "header"
  | "queue"
  | "ring"
  | "places"
  | "job"
  | "gates"
  | "leasing"
  | "updates"
  | "insert-one"
  | "filter"
  | "change-each"
  | "holds"
  | "disowned"
  | "ledger"
  | "record"
  | "retention"
>;

export interface Script {
  readonly source: string;
  readonly sha: string;
}

const made = new Map<ScriptName, Script>();

export function script(name: ScriptName): Script {
  const known = made.get(name);
  if (known !== undefined) return known;
  const source = compose(LUA[name]);
  const fresh = { source, sha: createHash("sha1").update(source).digest("hex") };
  made.set(name, fresh);
  return fresh;
}

function compose(text: string): string {
  const [shebang = "", ...lines] = text.split("\n");
  const at = lines.findIndex((line) => line.startsWith(INCLUDE));
  const parts = at === -1 ? [] : (lines[at] ?? "").slice(INCLUDE.length).trim().split(" ");
  const included = parts.flatMap((part) => LUA[part as Part].split("\n"));
  const whole = [...included, ...lines.filter((_, index) => index !== at)];
  return [shebang, ...withoutUncalled(whole)].join("\n");
}

const INCLUDE = "-- include:";
