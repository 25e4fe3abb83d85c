/** A target for dry runs without one: as if the table were empty. It takes no row. */
import { ImportTargetError } from "../errors.ts";
import type { ImportTarget } from "./target.ts";

export function emptyTarget(): ImportTarget {
  const refuse = async (): Promise<never> => {
    throw new ImportTargetError(
      "this import has no target: name one in defineImport, or make a dry run",
    );
  };
  return {
    name: "no target",
    async prepare() {},
    ...{ begin: refuse, write: refuse, finish: refuse },
    failures: async () => [],
    existing: async (keys) => keys.map(() => false),
    async close() {},
  };
}
