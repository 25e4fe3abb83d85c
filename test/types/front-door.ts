/**
 * What the compiler must know of the front door. Never run: `npm run types` is the test, and every
 * `@ts-expect-error` is a claim that a mistake does not compile.
 */
import { z } from "zod";
import {
  defineJob,
  Holdfast,
  type FinishedJob,
  type Receipt,
} from "../../packages/holdfast/src/index.ts";
import { memoryStore } from "../../packages/holdfast/src/stores/memory/index.ts";
import { testHoldfast } from "../../packages/holdfast/src/testing/index.ts";

/** The receipt of a Holdfast that is not resilient. */
type Stored<Result> = Receipt<Result, "added" | "duplicate">;
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectType<Expected>() {
  return <Actual>(_value: Actual, _same: Equal<Expected, Actual>) => {};
}

const store = memoryStore();
const sendEmail = defineJob({
  type: "email.send",
  queue: "mail",
  payload: z.object({ to: z.string(), at: z.string().transform((text) => new Date(text)) }),
  result: z.object({ messageId: z.string() }),
});
const named = defineJob<{ rows: number }>({ type: "import" });

export async function contracts(): Promise<void> {
  const hf = new Holdfast({ store, jobs: [sendEmail, named] });

  // By contract and by type: the schema's input goes in.
  const receipt = await hf.enqueue(sendEmail, { to: "a@example.com", at: "2030-01-01" });
  expectType<Stored<{ messageId: string }>>()(receipt, true);
  await hf.enqueue("email.send", { to: "a@example.com", at: "2030-01-01" });
  await hf.enqueue(named, { rows: 3 });
  // @ts-expect-error -- the output of the schema is not its input
  await hf.enqueue(sendEmail, { to: "a@example.com", at: new Date() });
  // @ts-expect-error -- a payload of the wrong shape, by contract
  await hf.enqueue(sendEmail, { to: 7 });
  // @ts-expect-error -- a payload of the wrong shape, by type
  await hf.enqueue("email.send", { to: 7 });
  // @ts-expect-error -- a payload of the wrong shape, without a schema
  await hf.enqueue(named, { rows: "three" });
  // @ts-expect-error -- an option that does not exist
  await hf.enqueue("other", null, { queue: "q", prioritty: 1 });
  // A type the program does not know takes anything.
  await hf.enqueue("other", { any: "thing" }, { queue: "q" });

  // The handler gets the output.
  hf.handle(sendEmail, async (job) => {
    expectType<string>()(job.payload.to, true);
    expectType<Date>()(job.payload.at, true);
    // @ts-expect-error -- there is no such field
    void job.payload.subject;
    return { messageId: "m-1" };
  });

  // The end is a union on its status, the result is typed.
  const done = await hf.waitFor(receipt);
  expectType<FinishedJob<{ messageId: string }>>()(done, true);
  if (done.status === "succeeded") expectType<string>()(done.result.messageId, true);
  // @ts-expect-error -- only a job that succeeded has a result
  else void done.result;

  await hf.enqueueAll([
    sendEmail.of({ to: "a@example.com", at: "2030-01-01" }, { priority: 1 }),
    { type: "other", payload: null, queue: "q" },
  ]);
  // @ts-expect-error -- an item of the wrong shape
  sendEmail.of({ to: 7 });
}

export async function defined(): Promise<void> {
  const hf = new Holdfast({ store });
  const resize = hf.define({
    type: "image.resize",
    payload: z.object({ width: z.number() }),
    async run(job) {
      expectType<number>()(job.payload.width, true);
      if (job.attempt > 3) return job.snooze(1_000);
      return { bytes: 7 };
    },
  });
  const receipt = await resize.enqueue({ width: 100 });
  expectType<Stored<{ bytes: number }>>()(receipt, true);
  // @ts-expect-error -- a payload of the wrong shape
  await resize.enqueue({ width: "100" });

  const plain = hf.define({ type: "plain", run: (job) => job.attempt });
  expectType<Stored<number>>()(await plain.enqueue({ any: "thing" }), true);

  hf.on("failed", (event) => {
    expectType<boolean>()(event.willRetry, true);
    // @ts-expect-error -- a failed attempt has no reason of death
    void event.reason;
  });
  // @ts-expect-error -- there is no such event
  hf.on("finished", () => {});

  await using worker = await hf.work({ queues: { mail: 3, default: 1 } });
  void worker;
}

export async function testKit(): Promise<void> {
  const t = testHoldfast();
  const [job] = t.enqueued(sendEmail);
  expectType<string | undefined>()(job?.payload.at, true);
}

export function locked(): void {
  const hf = new Holdfast({ store });
  hf.define({
    type: "snapshot",
    payload: z.object({ companyId: z.string(), on: z.string().transform((t) => new Date(t)) }),
    lock: {
      key: "snapshot",
      scope: (p, job) => {
        expectType<Date>()(p.on, true);
        return `${p.companyId}:${job.createdAt.getFullYear()}`;
      },
      owner: (p) => p.companyId,
    },
    run: (job) => job.payload.companyId,
  });
  hf.define({
    type: "plain",
    lock: { key: "plain", scope: (p: { id: string }) => p.id },
    run: (job) => job.payload,
  });
  // @ts-expect-error -- a scope is a text
  defineJob({ type: "bad", lock: { key: "bad", scope: () => 7 } });
  // @ts-expect-error -- a lock needs a scope
  defineJob({ type: "bad", lock: { key: "bad" } });
}
