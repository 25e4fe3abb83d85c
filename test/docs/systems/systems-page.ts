/**
 * `docs/systems.md`: a line for each id of the five systems, with the tests that show it. A line whose last cell is
 * "not shown yet" counts as such, and is named wherever the page is checked.
 */
import type { RanFile } from "./ran-tests.ts";

export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

export interface SystemsLine {
  readonly id: string;
  /** Where it lives now. */
  readonly place: string;
  readonly tests: readonly NamedTest[];
  readonly isShown: boolean;
}

export interface Verdict {
  readonly faults: readonly string[];
  /** Tests that run in the full tier only, and did not run. */
  readonly waiting: readonly string[];
}

const NOT_SHOWN = "not shown yet";

export function readSystems(page: string): SystemsLine[] {
  const lines: SystemsLine[] = [];
  for (const line of page.split("\n")) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const [, id = "", , place = "", shown = ""] = cells;
    if (!/^\d(\.\d+)+$/.test(id)) continue;
    const tests = [...shown.matchAll(/`([^`]+\.test\.ts) › ([^`]+)`/g)].map(
      ([, file = "", name = ""]) => ({ file, name: name.replaceAll("\\|", "|") }),
    );
    lines.push({ id, place, tests, isShown: shown !== NOT_SHOWN });
  }
  return lines;
}

/** Each id has one line, and each line a place and a test, or the words that it has none. */
export function idFaults(lines: readonly SystemsLine[], ids: readonly string[]): string[] {
  const faults: string[] = [];
  const known = new Set(ids);
  const seen = new Set<string>();
  for (const { id, place, tests, isShown } of lines) {
    if (!known.has(id)) faults.push(`${id} is no id of the five systems`);
    if (seen.has(id)) faults.push(`${id} has two lines`);
    seen.add(id);
    if (place === "") faults.push(`${id} does not say where it lives now`);
    if (isShown && tests.length === 0)
      faults.push(`${id} names no test, and is not "${NOT_SHOWN}"`);
  }
  for (const id of ids) if (!seen.has(id)) faults.push(`${id} has no line`);
  return faults;
}

/** Each named test is among those that passed. Without `isWhole`, files that did not run are not judged. */
export function testFaults(
  lines: readonly SystemsLine[],
  ran: ReadonlyMap<string, RanFile>,
  { isWhole, isFull }: { isWhole: boolean; isFull: boolean },
): Verdict {
  const faults: string[] = [];
  const waiting: string[] = [];
  for (const { id, tests } of lines) {
    for (const { file, name } of tests) {
      const known = ran.get(file);
      const said = `${id}: ${file} › ${name}`;
      if (known === undefined) {
        if (isWhole) faults.push(`${said}: that file did not run`);
      } else if (!known.passed.some((one) => isCalled(one, name))) {
        const isSkipped = known.skipped.some((one) => isCalled(one, name));
        if (isSkipped && !isFull) waiting.push(said);
        else faults.push(`${said}: ${isSkipped ? "was skipped" : "is none of those that passed"}`);
      }
    }
  }
  return { faults, waiting };
}

/** A test is named by its own name, or with as many of those around it as tell it apart. */
function isCalled(fullName: string, name: string): boolean {
  return fullName === name || fullName.endsWith(` > ${name}`);
}
