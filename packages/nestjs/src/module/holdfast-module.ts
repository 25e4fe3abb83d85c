/**
 * `HoldfastModule.forRoot({ url: "sqlite:jobs.db" })` once, in the root module; what it provides is global.
 * `HoldfastModule.forFeature([contract])` where jobs are enqueued.
 *
 * Two modules: the global one holds the Holdfast, finds decorators before any other `onModuleInit` and closes last;
 * the one that the application imports holds the worker, so that it starts late and stops early.
 */
import { Module, type DynamicModule, type Provider } from "@nestjs/common";
import {
  APP_FILTER,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  ModuleRef,
} from "@nestjs/core";
import { Holdfast, InvalidOptionError, type JobContract } from "holdfast";
import { jobToken, type JobPort } from "../decorators/inject.ts";
import { HoldfastExceptionFilter } from "../http/exception-filter.ts";
import { HoldfastHealthIndicator } from "../http/health-indicator.ts";
import { QueueService } from "../queue/queue-service.ts";
import { QueueWorkerService } from "../queue/queue-worker-service.ts";
import { Explorer } from "./explorer.ts";
import { logJobs } from "./job-log.ts";
import {
  allContracts,
  makeHoldfast,
  type HoldfastMaker,
  type MadeHoldfast,
} from "./make-holdfast.ts";
import {
  checkAsyncOptions,
  checkModuleOptions,
  type HoldfastAsyncOptions,
  type HoldfastModuleOptions,
  type HoldfastOptionsFactory,
} from "./module-options.ts";
import { HoldfastRunner } from "./runner.ts";
import { FEATURE, MADE, MAKER, OPTIONS } from "./tokens.ts";

type Awaitable<Value> = Value | Promise<Value>;

const DEFAULT_QUEUE = "default";

export class HoldfastModule {
  /** Once, in the root module. */
  static forRoot(options: HoldfastModuleOptions): DynamicModule {
    const checked = checkModuleOptions(options);
    return root([{ provide: OPTIONS, useValue: checked }]);
  }

  /** The same with options that other providers decide, for example `ConfigService`. */
  static forRootAsync(options: HoldfastAsyncOptions): DynamicModule {
    const { imports = [], providers = [] } = checkAsyncOptions(options);
    return root([...providers, ...optionsProviders(options)], imports);
  }

  /** Contracts that are known from the start, each as `@InjectJob(contract)` in the importing module. */
  static forFeature(
    // oxlint-disable-next-line typescript/no-explicit-any -- any contract, whatever its types
    jobs: readonly JobContract<string, any, any, any, any>[],
  ): DynamicModule {
    if (!Array.isArray(jobs)) {
      throw new InvalidOptionError(
        "HoldfastModule.forFeature takes contracts: [sendEmail, report]",
      );
    }
    const contracts = jobs as readonly JobContract[];
    const ports = contracts.map((contract): Provider => ({
      provide: jobToken(contract),
      inject: [Holdfast],
      useFactory: (hf: Holdfast): JobPort => ({
        contract,
        enqueue: (payload, enqueueOptions) => hf.enqueue(contract, payload, enqueueOptions),
      }),
    }));
    const types = contracts.map(({ type }) => type).join(",");
    return {
      module: HoldfastFeatureModule,
      providers: [{ provide: `${FEATURE} ${types}`, useValue: contracts }, ...ports],
      exports: contracts.map((contract) => jobToken(contract)),
    };
  }
}
Module({})(HoldfastModule);

/** What is global: the Holdfast and the services on it. */
export class HoldfastCoreModule {}
Module({})(HoldfastCoreModule);

class HoldfastFeatureModule {}
Module({})(HoldfastFeatureModule);

/** The last to stop: answers that are on their way may still enqueue. */
class Closer {
  readonly #hf: Holdfast;

  constructor(hf: Holdfast) {
    this.#hf = hf;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#hf.close();
  }
}

function root(options: Provider[], imports: DynamicModule["imports"] = []): DynamicModule {
  const core: DynamicModule = {
    module: HoldfastCoreModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [...options, ...coreProviders()],
    exports: [
      ...[Holdfast, QueueService, QueueWorkerService, HoldfastHealthIndicator],
      ...[OPTIONS, MADE],
    ],
  };
  return {
    module: HoldfastModule,
    imports: [core],
    providers: [
      {
        provide: HoldfastRunner,
        inject: [Holdfast, OPTIONS, QueueWorkerService, MADE],
        useFactory: (
          hf: Holdfast,
          given: HoldfastModuleOptions,
          worker: QueueWorkerService,
          { startsWorkers }: MadeHoldfast,
        ) => new HoldfastRunner({ hf, options: given, worker, startsWorkers }),
      },
    ],
    exports: [HoldfastRunner],
  };
}

function coreProviders(): Provider[] {
  return [
    { provide: MAKER, useValue: makeHoldfast },
    {
      provide: MADE,
      inject: [OPTIONS, MAKER, DiscoveryService],
      useFactory: async (
        options: HoldfastModuleOptions,
        make: HoldfastMaker,
        discovery: DiscoveryService,
      ) => {
        const made = await make(options, allContracts(options.jobs, featuresOf(discovery)));
        if (options.jobLogs !== false) logJobs(made.hf);
        return made;
      },
    },
    { provide: Holdfast, inject: [MADE], useFactory: ({ hf }: MadeHoldfast) => hf },
    {
      provide: QueueWorkerService,
      inject: [Holdfast, OPTIONS],
      useFactory: (hf: Holdfast, { defaultQueue }: HoldfastModuleOptions) =>
        new QueueWorkerService(hf, defaultQueue ?? DEFAULT_QUEUE),
    },
    {
      provide: QueueService,
      inject: [Holdfast, QueueWorkerService],
      useFactory: (hf: Holdfast, worker: QueueWorkerService) => new QueueService(hf, worker),
    },
    {
      provide: HoldfastHealthIndicator,
      inject: [Holdfast],
      useFactory: (hf: Holdfast) => new HoldfastHealthIndicator(hf),
    },
    {
      provide: Explorer,
      inject: [Holdfast, QueueWorkerService, DiscoveryService, ModuleRef],
      useFactory: (
        hf: Holdfast,
        worker: QueueWorkerService,
        discovery: DiscoveryService,
        moduleRef: ModuleRef,
      ) => new Explorer({ hf, worker, discovery, moduleRef }),
    },
    { provide: Closer, inject: [Holdfast], useFactory: (hf: Holdfast) => new Closer(hf) },
    {
      provide: APP_FILTER,
      inject: [HttpAdapterHost, OPTIONS],
      useFactory: (host: HttpAdapterHost, { exceptionFilter }: HoldfastModuleOptions) =>
        new HoldfastExceptionFilter(host, exceptionFilter !== false),
    },
  ];
}

function optionsProviders(options: HoldfastAsyncOptions): Provider[] {
  const { useFactory, inject = [], useClass, useExisting } = options;
  if (useFactory !== undefined) {
    const make = useFactory as (...args: unknown[]) => Awaitable<HoldfastModuleOptions>;
    return [
      {
        provide: OPTIONS,
        inject,
        useFactory: async (...args: unknown[]) => checkModuleOptions(await make(...args)),
      },
    ];
  }
  const token = useClass ?? (useExisting as NonNullable<typeof useExisting>);
  return [
    ...(useClass === undefined ? [] : [useClass]),
    {
      provide: OPTIONS,
      inject: [token],
      useFactory: async (factory: HoldfastOptionsFactory) =>
        checkModuleOptions(await factory.createHoldfastOptions()),
    },
  ];
}

/** Values are there before anything is made, so every feature is found, wherever it is imported. */
function featuresOf(discovery: DiscoveryService): (readonly JobContract[])[] {
  return discovery.getProviders().flatMap(({ token, instance }) => {
    const isFeature = typeof token === "string" && token.startsWith(FEATURE);
    return isFeature ? [instance as readonly JobContract[]] : [];
  });
}
