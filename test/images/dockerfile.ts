/** A Dockerfile as far as our tests look into it: its stages, and their instructions. */
import { readFile } from "node:fs/promises";

export interface Stage {
  readonly name: string;
  /** An image, or a stage before it. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

export interface Instruction {
  readonly word: string;
  readonly rest: string;
}

export async function stagesOf(file: URL): Promise<readonly Stage[]> {
  const text = await readFile(file, "utf8");
  const lines = text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "");
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, word = "", rest = ""] = /^([A-Z]+) +(.+)$/.exec(line) ?? [];
    const [, from = "", name = ""] = /^(\S+) AS (\S+)$/.exec(word === "FROM" ? rest : "") ?? [];
    if (word === "FROM") stages.push({ name, from, instructions: [] });
    else stages.at(-1)?.instructions.push({ word, rest });
  }
  return stages;
}

/** What the last instruction of a kind says. */
export function lastOf({ instructions }: Stage, word: string): string | undefined {
  return instructions.filter((one) => one.word === word).at(-1)?.rest;
}

/** `ENTRYPOINT ["holdfast"]` as a list; throws for the form that needs a shell, through which no signal comes. */
export function wordsOf(stage: Stage, word: string): readonly string[] {
  return JSON.parse(lastOf(stage, word) ?? "[]") as string[];
}

export function healthcheckOf(stage: Stage): readonly string[] {
  const [, command = ""] = / CMD (.+)$/.exec(lastOf(stage, "HEALTHCHECK") ?? "") ?? [];
  return JSON.parse(command) as string[];
}
