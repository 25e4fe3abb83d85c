/** A Nest application over HTTP: handlers, listeners, schedules, errors, health, logs, and its end. */
import "reflect-metadata";
import {
  Injectable,
  Logger,
  Module,
  type INestApplication,
  type LoggerService,
  type Type,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  HoldfastHealthIndicator,
  HoldfastModule,
  HoldfastRunner,
  JobHandler,
  QueueService,
  QueueWorkerService,
  type HoldfastModuleOptions,
  type JobDocument,
} from "@holdfast/nestjs";
import { defineJob, Holdfast } from "holdfast";
import { inTier } from "../runner/tier.ts";
import { PLACES } from "./places.ts";
import { request } from "./request.ts";
import { Diary, InvoiceHandler, invoice, ShopApplication, Visit } from "./shop.ts";
import { ADAPTERS, started } from "./started.ts";

const isHttp = Object.keys(ADAPTERS) as (keyof typeof ADAPTERS)[];
const worlds = inTier({
  daily: isHttp.map((adapter) => ({ store: "sqlite", adapter })),
  full: Object.keys(PLACES).flatMap((store) => isHttp.map((adapter) => ({ store, adapter }))),
});

describe.each(worlds)("an application on $store behind $adapter", ({ store, adapter }) => {
  let app: INestApplication;
  let hf: Holdfast;
  let diary: Diary;

  beforeAll(async () => {
    const url = await PLACES[store]?.();
    app = await started(ShopApplication.with({ url, maxAttempts: 2 }) as never, { adapter });
    hf = app.get(Holdfast);
    diary = app.get(Diary);
  });
  afterAll(() => app?.close());

  it("runs a job by its contract: payload by its schema, result by its schema", async () => {
    const { status, body } = await request(app).post("/orders").send({ order: "a1", cents: "700" });
    expect(status).toBe(201);
    const done = await hf.waitFor(body.id as string, { timeoutMs: 20_000 });
    expect(done).toMatchObject({ status: "succeeded", result: { number: "N-a1" } });
    expect(diary.lines).toContain("invoice a1 number");
  });

  it("runs what a handler enqueues through an injected job", async () => {
    const parcels = (await hf.jobs({ type: "parcel.send" })).jobs;
    expect(parcels).toHaveLength(1);
    await hf.waitFor(parcels[0]?.id ?? "", { timeoutMs: 20_000 });
    expect(diary.lines).toContain(`parcel a1 attempt 1 of ${parcels[0]?.id}`);
  });

  it("tells listeners of the types they name, and lives through one that throws", async () => {
    const dead = new Promise<void>((resolve) => void hf.on("dead", () => resolve()));
    const { body } = await request(app).post("/orders/return");
    await hf.waitFor(body.id as string, { timeoutMs: 20_000 });
    await dead;
    const lines = diary.lines.filter((line) => line.startsWith("dead"));
    expect(lines).toEqual(["dead parcel.return permanent"]);
  });

  it("makes a handler of request scope anew for each job, with the job as REQUEST", async () => {
    const before = Visit.made;
    const [one, two] = [
      await request(app).post("/orders/visit/ada"),
      await request(app).post("/orders/visit/grace"),
    ];
    for (const { body } of [one, two]) {
      const done = await hf.waitFor(body.id as string, { timeoutMs: 20_000 });
      expect(done).toMatchObject({ status: "succeeded", result: true });
    }
    expect(Visit.made - before).toBe(2);
    expect(diary.lines).toContain("visit of grace");
  });

  it("declares its schedules, of classes, of methods and of other jobs", async () => {
    const schedules = await hf.schedules.list();
    expect(schedules.map(({ name, job }) => [name, job.type, job.payload])).toEqual([
      ["monthly-invoice", "invoice.write", { order: "rent", cents: "1" }],
      ["sweep", "sweep", {}],
      ["weekly-report", "report", { kind: "weekly" }],
    ]);
  });

  it("answers its errors by their meaning, and no more than callers may know", async () => {
    const again = await request(app).post("/orders").send({ order: "a1", cents: "700" });
    expect(again).toMatchObject({ status: 409, body: { code: "HOLDFAST_DUPLICATE_JOB" } });
    const other = await request(app).post("/orders").send({ order: "a1", cents: "9" });
    expect(other).toMatchObject({ status: 409, body: { code: "HOLDFAST_IDEMPOTENCY_CONFLICT" } });
    const wrong = await request(app).post("/orders").send({ order: "a3", cents: "many" });
    expect(wrong).toMatchObject({
      status: 422,
      body: { code: "HOLDFAST_PAYLOAD_VALIDATION", error: "Unprocessable Entity" },
    });
    expect(wrong.body.errors).toEqual(
      expect.arrayContaining([expect.objectContaining({ path: "cents" })]),
    );
    const full = await request(app).post("/orders/trouble/full");
    expect(full.status).toBe(429);
    expect(full.headers.get("retry-after")).toBe("2");
    const disk = await request(app).post("/orders/trouble/disk");
    expect(disk.status).toBe(503);
    expect(JSON.stringify(disk.body)).not.toContain("/var/lib");
    expect((await request(app).post("/orders/trouble/other")).status).toBe(500);
  });

  it("is healthy in Terminus's words", async () => {
    const health = app.get(HoldfastHealthIndicator);
    expect(await health.isHealthy()).toMatchObject({ holdfast: { status: "up", workers: 1 } });
    expect(await health.pingCheck("jobs")).toMatchObject({ jobs: { status: "up" } });
  });
});

/** What an application printed. */
class Printed implements LoggerService {
  readonly lines: string[] = [];
  #add =
    (level: string) =>
    (message: unknown, ...rest: unknown[]) => {
      const stack = rest.slice(0, -1).join(" ");
      this.lines.push(`${level} [${String(rest.at(-1))}] ${String(message)} ${stack}`);
    };
  log = this.#add("log");
  error = this.#add("error");
  warn = this.#add("warn");
  debug = this.#add("debug");
}

describe("the life of an application", () => {
  it("prints a line for each start and end of a job, through Nest's logger", async () => {
    const printed = new Printed();
    const options: HoldfastModuleOptions = { url: "memory:" };
    const app = await NestFactory.create(ShopApplication.with(options), { logger: printed });
    await app.init();
    const hf = app.get(Holdfast);
    const ok = await hf.enqueue("visit", { who: "ada" });
    await hf.waitFor(ok.id, { timeoutMs: 20_000 });
    const bad = await hf.enqueue(invoice, { order: "never", cents: 1 });
    await hf.waitFor(bad.id, { timeoutMs: 20_000 });
    await app.close();
    Logger.overrideLogger(false);
    const of = (level: string, text: string) =>
      printed.lines.find((line) => line.startsWith(level) && line.includes(text));
    expect(of("log", `[QueueWorkerService] Processing job ${ok.id} of type visit`)).toBeDefined();
    expect(of("log", `[QueueWorkerService] Job ${ok.id} succeeded`)).toBeDefined();
    expect(of("warn", `Job ${bad.id} failed in attempt 1`)).toContain("no paper");
    expect(of("error", `Job ${bad.id} of type invoice.write is dead`)).toContain("no paper");
    expect(of("log", "[Holdfast] Working on ")).toContain("invoices");
    const threw = of("error", 'threw when told "succeeded"');
    expect(threw).toContain("a listener that throws harms no job");
    expect(threw).not.toContain("abc.def");
  });

  it("starts after every onModuleInit, and stops its worker before what handlers need", async () => {
    const order: string[] = [];
    const running = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();

    @Injectable()
    class Database {
      onModuleInit() {
        order.push("database opens");
      }
      onModuleDestroy() {
        order.push("database closes");
      }
    }

    @Injectable()
    @JobHandler("slow")
    class Slow {
      constructor(private readonly database: Database) {}
      async handle(job: JobDocument) {
        order.push(`job starts with ${this.database.constructor.name}`);
        running.resolve();
        await mayEnd.promise;
        order.push(`job ends, aborted ${job.signal.aborted}`);
      }
    }

    @Module({ providers: [Database], exports: [Database] })
    class DatabaseModule {}

    @Module({ imports: [DatabaseModule], providers: [Slow] })
    class JobsModule {}

    @Module({ imports: [JobsModule, HoldfastModule.forRoot({ url: "memory:" })] })
    class Application {
      constructor(private readonly queue: QueueService) {}
      async onModuleInit() {
        // Known by name already, whichever module comes first.
        await this.queue.enqueue({ type: "slow" });
        order.push("enqueued");
      }
    }
    const app = await NestFactory.createApplicationContext(Application, { logger: false });
    const hf = app.get(Holdfast);
    hf.on("succeeded", () => order.push("succeeded"));
    await running.promise;
    const closing = app.close();
    mayEnd.resolve();
    await closing;
    expect(order).toEqual([
      ...["database opens", "enqueued", "job starts with Database", "job ends, aborted false"],
      ...["succeeded", "database closes"],
    ]);
    await expect(hf.enqueue("slow", {})).rejects.toThrow("closed");
  });

  it("works on nothing where work is false, and not before it is told to where start is manual", async () => {
    const app = await NestFactory.createApplicationContext(
      ShopApplication.with({ url: "memory:", start: "manual" }),
      { logger: false },
    );
    const hf = app.get(Holdfast);
    expect(hf.health().workers).toHaveLength(0);
    await app.get(HoldfastRunner).start();
    await app.get(HoldfastRunner).start();
    expect(hf.health().workers).toHaveLength(1);
    await app.close();
    const producer = await NestFactory.createApplicationContext(
      ShopApplication.with({ url: "memory:", work: false }),
      { logger: false },
    );
    expect(await producer.get(HoldfastRunner).start()).toBeNull();
    expect((await producer.get(QueueService).enqueue({ type: "visit" })).status).toBe("queued");
    await producer.close();
  });

  it("starts without its store where it is resilient, and runs jobs in their callers", async () => {
    const url = "postgres://nobody@127.0.0.1:1/none";
    const options: HoldfastModuleOptions = { url, resilient: "inline", jobLogs: false };
    const app = await NestFactory.createApplicationContext(ShopApplication.with(options), {
      logger: false,
    });
    const job = await app.get(QueueService).enqueue({ type: "visit", payload: { who: "ada" } });
    expect(job).toMatchObject({ status: "succeeded", result: true, attempts: 1 });
    await app.close();
  });

  it("does not start without its store where it is not", async () => {
    const url = "postgres://nobody@127.0.0.1:1/none";
    const starting = NestFactory.createApplicationContext(ShopApplication.with({ url }), {
      ...{ logger: false, abortOnError: false },
    });
    await expect(starting).rejects.toMatchObject({ code: expect.stringContaining("HOLDFAST_") });
  });
});

describe("mistakes stop the start and say what to do", () => {
  const start = (imports: object[], providers: Type<unknown>[] = []) => {
    @Module({ imports: imports as never, providers })
    class Application {}
    return NestFactory.createApplicationContext(Application, {
      ...{ logger: false, abortOnError: false },
    });
  };
  const root = () => HoldfastModule.forRoot({ url: "memory:" });

  it("of options", () => {
    const forRoot = (options: object) => () => HoldfastModule.forRoot(options as never);
    expect(forRoot({})).toThrow("needs a store");
    expect(forRoot({ url: "memory:", maxAttemps: 1 })).toThrow('did you mean "maxAttempts"?');
    expect(forRoot({ url: "memory:", defaultQueu: "a" })).toThrow('did you mean "defaultQueue"?');
    expect(forRoot({ url: "memory:", store: {} })).toThrow("not both");
    expect(forRoot({ url: "memory:", work: true })).toThrow("work is false, or");
    expect(forRoot({ url: "memory:", start: "now" })).toThrow('"bootstrap" or "manual"');
    expect(forRoot("memory:" as never)).toThrow("takes an object of options");
    expect(() => HoldfastModule.forRootAsync({})).toThrow("one of useFactory");
    expect(() => HoldfastModule.forFeature({} as never)).toThrow("takes contracts");
  });

  it("of options that a factory makes", async () => {
    const module = HoldfastModule.forRootAsync({ useFactory: () => ({ url: 7 }) as never });
    await expect(start([module])).rejects.toMatchObject({ code: "HOLDFAST_INVALID_OPTION" });
  });

  it("of two classes for one type", async () => {
    @Injectable()
    @JobHandler("one")
    class First {
      handle() {}
    }
    @Injectable()
    @JobHandler("one")
    class Second {
      handle() {}
    }
    await expect(start([root()], [First, Second])).rejects.toThrow(
      'type "one" is handled by First and by Second',
    );
  });

  it("of a class without handle, of an event that there is not, of a schedule without a job", async () => {
    class Mute {}
    JobHandler("mute")(Mute as never);
    Injectable()(Mute);
    await expect(start([root()], [Mute])).rejects.toThrow("no method handle(job)");
    const { OnJob, Schedule } = await import("@holdfast/nestjs");
    @Injectable()
    class Deaf {
      @OnJob("completed" as never)
      heard() {}
    }
    await expect(start([root()], [Deaf])).rejects.toThrow('did you mean "succeeded"?');
    @Injectable()
    @Schedule("nothing", { everyMs: 1_000 })
    class Idle {}
    await expect(start([root()], [Idle])).rejects.toThrow("has no job");
  });

  it("of a contract that a handler by name has options for", async () => {
    const known = defineJob({ type: "known", queue: "known" });
    @Injectable()
    @JobHandler("known", { queue: "other" })
    class Known {
      handle() {}
    }
    const feature = HoldfastModule.forFeature([known]);
    await expect(start([root(), feature], [Known])).rejects.toThrow("has a contract already");
  });

  it("of a handler that comes too late, or is none", async () => {
    const app = await start(
      [root()],
      [
        (() => {
          @Injectable()
          @JobHandler("early", { queue: "early" })
          class Early {
            handle() {}
          }
          return Early;
        })(),
      ],
    );
    const worker = app.get(QueueWorkerService);
    const handler = { handle: async () => {} };
    expect(() => worker.registerHandler("late", handler)).toThrow("comes too late");
    expect(() => worker.registerHandler("none", undefined as never)).toThrow("needs an object");
    await app.close();
  });

  it("of types, before the program runs", () => {
    class Wrong {
      handle(job: JobDocument<{ nothing: number }>) {
        return { number: String(job.payload.nothing) };
      }
    }
    // @ts-expect-error -- the payload of this contract has no such word
    JobHandler(invoice)(Wrong);
    class Unfit {
      handle(_job: JobDocument<{ order: string }>) {
        return { nr: "1" };
      }
    }
    // @ts-expect-error -- nor is that what its result must be
    JobHandler(invoice)(Unfit);
    expect(InvoiceHandler.name).toBe("InvoiceHandler");
  });
});
