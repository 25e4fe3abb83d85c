/** A small application with everything that decorators offer. */
import {
  Body,
  Controller,
  Inject,
  Injectable,
  Module,
  Param,
  Post,
  Scope,
  type DynamicModule,
} from "@nestjs/common";
import { REQUEST } from "@nestjs/core";
import {
  defineJob,
  PermanentError,
  QueueFullError,
  StoreFullError,
  type Holdfast,
  type JobEvents,
} from "holdfast";
import { z } from "zod";
import {
  HoldfastModule,
  InjectHoldfast,
  InjectJob,
  JobHandler,
  OnJob,
  Schedule,
  type HoldfastModuleOptions,
  type JobDocument,
  type JobPort,
} from "@holdfast/nestjs";

export const invoice = defineJob({
  type: "invoice.write",
  queue: "invoices",
  payload: z.object({ order: z.string(), cents: z.coerce.number() }),
  result: z.object({ number: z.string() }),
  retry: { maxAttempts: 2, baseMs: 1 },
});
export const parcel = defineJob({
  type: "parcel.send",
  queue: "parcels",
  payload: z.object({ order: z.string() }),
});

/** What handlers and listeners did, in their order. */
@Injectable()
export class Diary {
  readonly lines: string[] = [];
}

@Injectable()
@JobHandler(invoice)
export class InvoiceHandler {
  constructor(
    private readonly diary: Diary,
    @InjectJob(parcel) private readonly parcels: JobPort<{ order: string }>,
  ) {}

  async handle(job: JobDocument<{ order: string; cents: number }>) {
    this.diary.lines.push(`invoice ${job.payload.order} ${typeof job.payload.cents}`);
    if (job.payload.order === "never") throw new Error("no paper");
    await this.parcels.enqueue({ order: job.payload.order });
    return { number: `N-${job.payload.order}` };
  }
}

@Injectable()
export class Parcels {
  constructor(private readonly diary: Diary) {}

  @JobHandler(parcel)
  send(job: JobDocument<{ order: string }>) {
    this.diary.lines.push(`parcel ${job.payload.order} attempt ${job.attempts} of ${job._id}`);
    return { sent: true };
  }

  @JobHandler("parcel.return", { queue: "parcels", retry: { maxAttempts: 1 } })
  async takeBack() {
    throw new PermanentError("not ours");
  }

  @OnJob("dead", { type: ["parcel.return", invoice] })
  dead({ type, reason }: JobEvents["dead"]) {
    this.diary.lines.push(`dead ${type} ${reason}`);
  }

  @OnJob("succeeded")
  async loud() {
    throw new Error("a listener that throws harms no job: Bearer abc.def");
  }
}

/** One instance a job. */
@Injectable({ scope: Scope.REQUEST })
@JobHandler("visit")
export class Visit {
  static made = 0;
  constructor(
    private readonly diary: Diary,
    @Inject(REQUEST) private readonly job: JobDocument<{ who: string }>,
  ) {
    Visit.made += 1;
  }

  handle(given: JobDocument<{ who: string }>) {
    this.diary.lines.push(`visit of ${this.job.payload.who}`);
    return this.job === given;
  }
}

@Injectable()
@JobHandler("report", { queue: "reports" })
@Schedule("weekly-report", {
  ...{ cron: "0 9 * * 1", timeZone: "Europe/Berlin" },
  payload: { kind: "weekly" },
})
export class Reports {
  constructor(private readonly diary: Diary) {}

  handle(job: JobDocument<{ kind: string }>) {
    this.diary.lines.push(`report ${job.payload.kind}`);
  }

  @Schedule("sweep", { everyMs: 3_600_000 })
  sweep() {
    this.diary.lines.push("swept");
  }

  @Schedule("monthly-invoice", {
    cron: "0 0 1 * *",
    job: invoice.of({ order: "rent", cents: "1" as never }),
  })
  never() {}
}

@Controller("orders")
export class Orders {
  constructor(
    @InjectHoldfast() private readonly hf: Holdfast,
    @InjectJob(invoice) private readonly invoices: JobPort<{ order: string; cents: unknown }>,
  ) {}

  @Post()
  async order(@Body() body: { order: string; cents: unknown }) {
    const options = { idempotencyKey: body.order, onDuplicate: "throw" } as const;
    const { id } = await this.invoices.enqueue(body, options);
    return { id };
  }

  @Post("visit/:who")
  async visit(@Param("who") who: string) {
    return { id: (await this.hf.enqueue("visit", { who })).id };
  }

  @Post("return")
  async takeBack() {
    return { id: (await this.hf.enqueue("parcel.return", {})).id };
  }

  @Post("trouble/:kind")
  trouble(@Param("kind") kind: string) {
    if (kind === "full") throw new QueueFullError("queue mail is full");
    if (kind === "disk") throw new StoreFullError("the disk /var/lib/secret is full");
    throw new Error("something else");
  }
}

@Module({
  imports: [HoldfastModule.forFeature([invoice, parcel])],
  controllers: [Orders],
  providers: [Diary, InvoiceHandler, Parcels, Visit, Reports],
})
export class ShopModule {}

@Module({})
export class ShopApplication {
  static with(options: HoldfastModuleOptions): DynamicModule {
    return { module: ShopApplication, imports: [HoldfastModule.forRoot(options), ShopModule] };
  }
}
