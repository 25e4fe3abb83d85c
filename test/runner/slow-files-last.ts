import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that build, install or start processes. Units first: a broken one is seen in seconds. */
const SLOW = /\/test\/(packaging|docs|examples|e2e|chaos|races)\//;

export class SlowFilesLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId.replaceAll("\\", "/"));
    return [...sorted.filter((file) => !isSlow(file)), ...sorted.filter(isSlow)];
  }
}
