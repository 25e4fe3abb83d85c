/**
 * From flags, the environment and a configuration file to values: a flag is over the environment, that is over
 * the file. What is wrong is gathered, so that a person mends all of it at once.
 */
import { checkObject, checkOptions, checkText, nearestWord } from "../core/option-checks.ts";
import { OTHER_NAMES, SETTING_NAMES, SETTINGS } from "./settings-table.ts";
import type { Setting, SettingKind, SettingName, SettingValues } from "./settings-table.ts";

export interface Layers {
  /** By the name of the setting; what the command line made of `--lease-ms 5000`. */
  readonly flags?: Readonly<Record<string, unknown>> | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly file?:
    { readonly name: string; readonly values: Readonly<Record<string, unknown>> } | undefined;
}

export interface ReadSettings {
  readonly values: SettingValues;
  /** Where each value came from: `--url`, `HOLDFAST_URL`, `holdfast.config.ts`. */
  readonly sources: Readonly<Partial<Record<SettingName, string>>>;
  /** What stops a start. Each names the variable, flag or entry and says what it takes. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

interface Given {
  readonly source: string;
  readonly raw: unknown;
}

export function readSettings(layers: Layers): ReadSettings {
  checkLayers(layers);
  const values: Record<string, unknown> = {};
  const sources: Partial<Record<SettingName, string>> = {};
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name of SETTING_NAMES) {
    const setting: Setting = SETTINGS[name];
    // Every layer is read, also one that another is over: a bad value waits there for its day.
    const found = [
      ...given(`--${kebab(name)}`, layers.flags?.[name]),
      ...fromEnv(setting, layers.env ?? {}, { problems, warnings }),
      ...(layers.file ? given(`${name} in ${layers.file.name}`, layers.file.values[name]) : []),
    ];
    for (const { source, raw } of found.toReversed()) {
      const read = readValue(setting.kind, raw);
      if ("problem" in read) {
        problems.push(`${source} ${read.problem}`);
        continue;
      }
      values[name] = read.value;
      sources[name] = source;
    }
  }
  problems.push(...unknownInFile(layers.file));
  warnings.push(...unknownInEnv(layers.env ?? {}));
  return { values: values as SettingValues, sources, problems, warnings };
}

function checkLayers(layers: Layers): void {
  checkOptions("readSettings", layers, ["flags", "env", "file"]);
  const { flags = {}, env = {}, file } = layers;
  checkObject("flags", flags);
  checkObject("env", env);
  if (file === undefined) return;
  checkOptions("file", file, ["name", "path", "values"]);
  checkObject("values of the file", file.values);
}

function given(source: string, raw: unknown): Given[] {
  return raw === undefined ? [] : [{ source, raw }];
}

/** All names of one setting. An empty variable is one that is not set. */
function fromEnv(
  { env: names, kind }: Setting,
  env: NonNullable<Layers["env"]>,
  into: { readonly problems: string[]; readonly warnings: string[] },
): Given[] {
  const set = names.flatMap((name) => {
    // A program that gives an environment of its own may have a number there.
    const raw = String(env[name] ?? "").trim();
    return raw === "" ? [] : [{ source: name, raw }];
  });
  const [first, ...others] = set;
  if (first === undefined) return [];
  const meaning = (raw: string) => JSON.stringify(readValue(kind, raw));
  const other = others.find(({ raw }) => meaning(raw) !== meaning(first.raw));
  if (other === undefined) return [first];
  const both = `${first.source} is ${shownValue(kind, first.raw)} and ${other.source} is ${shownValue(kind, other.raw)}`;
  // System 4's threshold and system 2's lease are not quite one thing, and apps have both.
  if (names.includes("QUEUE_VISIBILITY_MS")) {
    into.warnings.push(`${both}: both set the lease, and ${first.source} wins`);
    return [first];
  }
  into.problems.push(`${both}: they set the same thing, so leave one of them out`);
  return [];
}

function readValue(
  kind: SettingKind,
  raw: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  const isText = typeof raw === "string";
  switch (kind.is) {
    case "whole": {
      const number = isText && /^[+-]?\d+$/.test(raw) ? Number(raw) : raw;
      const isIn = Number.isInteger(number) && (number as number) >= kind.min;
      if (isIn && (number as number) <= kind.max) return { value: number };
      return { problem: `takes a whole number from ${kind.min} to ${kind.max}, not ${show(raw)}` };
    }
    case "yes or no": {
      if (typeof raw === "boolean") return { value: raw };
      const word = isText ? raw.toLowerCase() : "";
      if (["true", "1", "yes", "on"].includes(word)) return { value: true };
      if (["false", "0", "no", "off"].includes(word)) return { value: false };
      return { problem: `takes true or false, not ${show(raw)}` };
    }
    case "list": {
      const items: unknown = isText ? raw.split(",") : raw;
      const isList = Array.isArray(items) && items.every((item) => typeof item === "string");
      const words = isList ? items.map((item: string) => item.trim()).filter(Boolean) : [];
      if (words.length > 0) return { value: words };
      return { problem: `takes names with commas between them, not ${show(raw)}` };
    }
    case "one of":
      if (isText && kind.words.includes(raw)) return { value: raw };
      return { problem: `takes ${kind.words.join(", ")}, not ${show(raw)}` };
    case "url":
      if (isText && /^[a-z+]+:./i.test(raw)) return { value: raw };
      // Not shown: it may hold a password.
      return { problem: "takes a URL such as sqlite:jobs.db or postgres://user@host/database" };
    case "text":
    case "secret":
      if (isText && raw !== "" && raw.length <= 4_096) return { value: raw };
      return { problem: "takes a text" };
  }
}

/** What may be shown of a value: no password, no token. */
export function shownValue(kind: SettingKind, value: unknown): string {
  checkObject("the kind of a setting", kind);
  if (kind.is === "secret") return "(hidden)";
  if (kind.is === "url") return hideCredentials(String(value));
  return Array.isArray(value) ? value.join(",") : show(value);
}

/** Up to the last @ before the path, as URLs are read: a password may have one of its own. */
export function hideCredentials(url: string): string {
  const [address = ""] = checkText("a URL", url).split("?");
  return address.replace(/\/\/[^/]*@/, "//…@");
}

function show(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

export function kebab(name: string): string {
  return checkText("a name", name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function unknownInFile(file: Layers["file"]): string[] {
  return Object.keys(file?.values ?? {}).flatMap((name) => {
    if (name in SETTINGS) return [];
    return [`${file?.name} has no setting ${show(name)}${advice(name, SETTING_NAMES)}`];
  });
}

const PREFIX = "HOLDFAST_";
const ENV_NAMES = SETTING_NAMES.flatMap((name): readonly string[] => SETTINGS[name].env);

/** A warning only: a program of yours may have names that begin like ours. */
function unknownInEnv(env: NonNullable<Layers["env"]>): string[] {
  return Object.keys(env).flatMap((name) => {
    if (!name.startsWith(PREFIX) || ENV_NAMES.includes(name) || OTHER_NAMES.test(name)) {
      return [];
    }
    // By what follows: with the beginning that they share, any two of our names are near.
    const ours = ENV_NAMES.filter((known) => known.startsWith(PREFIX));
    const words = ours.map((known) => known.slice(PREFIX.length));
    const nearest = nearestWord(name.slice(PREFIX.length), words);
    const meant = nearest === null ? "" : `: did you mean ${PREFIX}${nearest}?`;
    return [`${name} is set, and nothing reads it${meant}`];
  });
}

function advice(name: string, names: readonly string[]): string {
  const nearest = nearestWord(name, names);
  return nearest === null ? "" : `: did you mean ${nearest}?`;
}
