import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that build, install or start processes. Units first: a broken one is seen in seconds. */
const SLOW = /\/test\/(packaging|docs|examples|e2e|chaos|races)\//;
/** Minutes long: as the very last it would leave the other cores with nothing to do. */
const LONGEST = /\/test\/chaos\/chaos\.test\.ts$/;

export class SlowFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => turnOf(a) - turnOf(b));
  }
}

function turnOf({ moduleId }: TestSpecification): number {
  const path = moduleId.replaceAll("\\", "/");
  if (LONGEST.test(path)) return 1;
  return SLOW.test(path) ? 2 : 0;
}
