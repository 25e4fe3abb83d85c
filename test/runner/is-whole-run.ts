import type { TestSpecification, Vitest } from "vitest/node";

/** Somebody who runs one file wants to know of that file alone. */
export async function isWholeRun(
  vitest: Vitest | undefined,
  files: readonly TestSpecification[],
): Promise<boolean> {
  const all = (await vitest?.globTestSpecifications()) ?? [];
  return files.length === all.length;
}
