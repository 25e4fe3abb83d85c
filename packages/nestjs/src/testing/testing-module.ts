/**
 * An application's jobs on virtual time: nothing runs until `drain()`, nothing waits, a week passes in a moment.
 * Everything else of the application is as it is.
 */
import type { DynamicModule, INestApplicationContext } from "@nestjs/common";
import { InvalidOptionError, type Holdfast, type JobContract } from "holdfast";
import { testHoldfast, type TestHoldfast } from "holdfast/testing";
import { HoldfastModule } from "../module/holdfast-module.ts";
import { libraryOptions, type HoldfastMaker, type MadeHoldfast } from "../module/make-holdfast.ts";
import type { HoldfastModuleOptions } from "../module/module-options.ts";
import { MADE, MAKER } from "../module/tokens.ts";

/** What `testHoldfast()` offers, on the Holdfast of the application. */
export type HoldfastTestKit = TestHoldfast<readonly JobContract[]>;

/** What `Test.createTestingModule(…)` gives, as far as it is needed. */
export interface OverridableBuilder<Builder> {
  overrideProvider(token: symbol): { useValue(value: unknown): Builder };
}

export interface OnVirtualTimeOptions {
  readonly seed?: number | undefined;
  readonly patienceMs?: number | undefined;
}

/** Puts a whole application on virtual time: `onVirtualTime(Test.createTestingModule({ imports: [AppModule] }))`. */
export function onVirtualTime<Builder extends OverridableBuilder<Builder>>(
  builder: Builder,
  options: OnVirtualTimeOptions = {},
): Builder {
  return builder.overrideProvider(MAKER).useValue(testMaker(options));
}

/** The test kit of an application that was put on virtual time. */
export function testKitOf(app: Pick<INestApplicationContext, "get">): HoldfastTestKit {
  const { kit } = app.get<MadeHoldfast>(MADE, { strict: false });
  if (kit !== null) return kit as HoldfastTestKit;
  throw new InvalidOptionError(
    "this application is not on virtual time: make it with onVirtualTime(…), or import HoldfastTestingModule",
  );
}

/** In place of `HoldfastModule` in a test of one module: no store, no worker. */
export class HoldfastTestingModule {
  static forRoot(
    options: Omit<HoldfastModuleOptions, "store" | "url" | "ledgerUrl"> & OnVirtualTimeOptions = {},
  ): DynamicModule {
    const { seed, patienceMs, ...rest } = options;
    const { imports = [], ...module } = HoldfastModule.forRoot({ ...rest, url: "memory:" });
    const [core, ...others] = imports as DynamicModule[];
    const make = testMaker({ seed, patienceMs });
    const providers = [...(core?.providers ?? []), { provide: MAKER, useValue: make }];
    return { ...module, imports: [{ ...(core as DynamicModule), providers }, ...others] };
  }
}

function testMaker({ seed, patienceMs }: OnVirtualTimeOptions): HoldfastMaker {
  return (options, jobs) => {
    const { runtime: _runtime, ...library } = libraryOptions(options) as { runtime?: unknown };
    const kit = testHoldfast({
      ...library,
      jobs,
      // What is elsewhere in production is beside the jobs here.
      ...(options.ledger === false && { ledger: false as const }),
      ...(typeof options.work === "object" && { work: options.work }),
      ...(seed !== undefined && { seed }),
      ...(patienceMs !== undefined && { patienceMs }),
    });
    return { hf: kit.hf as unknown as Holdfast, startsWorkers: false, kit };
  };
}
