/** From the module's options to a Holdfast. A test replaces the maker, and nothing else. */
import { Holdfast, type JobContract } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import type { HoldfastModuleOptions } from "./module-options.ts";
import { nestLogger } from "./nest-logger.ts";

/** What is said here, or put together from several. */
const OWN_WORDS = new Set([
  ...["url", "views", "ledgerUrl", "store", "ledger", "resilient", "jobs", "work"],
  ...["start", "defaultQueue", "jobLogs", "exceptionFilter"],
]);

export interface MadeHoldfast {
  readonly hf: Holdfast;
  /** False: nothing starts by itself; a test drains. */
  readonly startsWorkers: boolean;
  /** What a test sees of it. */
  readonly kit: unknown;
}

export type HoldfastMaker = (
  options: HoldfastModuleOptions,
  jobs: readonly JobContract[],
) => MadeHoldfast | Promise<MadeHoldfast>;

export const makeHoldfast: HoldfastMaker = async (options, jobs) => {
  const { url, views, ledgerUrl, work } = options;
  const store = url === undefined ? options.store : await storeOfUrl(url, { views });
  const ledger = ledgerUrl === undefined ? options.ledger : await storeOfUrl(ledgerUrl);
  const hf = new Holdfast({
    ...libraryOptions(options),
    ...{ jobs, store, ledger, resilient: options.resilient },
    ...(work !== undefined && work !== false && { work }),
    // Either a store or `resilient: "inline"`, which the options' type cannot say of variables.
  } as ConstructorParameters<typeof Holdfast>[0]) as Holdfast;
  return { hf, startsWorkers: true, kit: null };
};

/** What the library takes as it is. */
export function libraryOptions(options: HoldfastModuleOptions): object {
  const taken = Object.entries(options).filter(([name]) => !OWN_WORDS.has(name));
  return { logger: nestLogger("Holdfast"), ...Object.fromEntries(taken) };
}

/** The contracts of the root and of every feature, each once. */
export function allContracts(
  root: HoldfastModuleOptions["jobs"],
  features: readonly (readonly JobContract[])[],
): readonly JobContract[] {
  return [...new Set([...((root ?? []) as readonly JobContract[]), ...features.flat()])];
}
