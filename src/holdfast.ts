/** The engine's Holdfast, put together with what it does not know itself: a spool by its file name. */
import { Holdfast as Engine } from "./engine/holdfast.ts";
import type { HoldfastOptions, Resilience } from "./engine/holdfast-options.ts";
import type { AnyContract } from "./engine/typed-jobs.ts";
import { spoolFile } from "./spool-file.ts";

export class Holdfast<
  const Jobs extends readonly AnyContract[] = readonly [],
  const How extends Resilience | undefined = undefined,
> extends Engine<Jobs, How> {
  constructor(options: HoldfastOptions<Jobs, How>) {
    super(withSpool(options as object) as HoldfastOptions<Jobs, How>);
  }
}

function withSpool(options: { readonly resilient?: unknown }): object {
  const { spool } = Object(options?.resilient) as { readonly spool?: unknown };
  if (typeof spool !== "string" || spool === "") return options;
  return { ...options, resilient: { ...Object(options.resilient), spool: spoolFile(spool) } };
}
