/** The tour's jobs: one kind for each thing that can happen to a job. */
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { type Holdfast, type JobItem, PermanentError } from "holdfast";

export const QUEUES = ["tour.mail", "tour.reports", "tour.orders", "tour.tenants"];
/** How many jobs each tenant brings: fair turns let the small one through. */
export const TENANTS = { "tenant-big": 120, "tenant-mid": 40, "tenant-small": 5 };

export function tourJobs(hf: Holdfast) {
  const [mail, reports, orders, tenants] = QUEUES;
  const soon = { maxAttempts: 4, baseMs: 150, factor: 2, jitter: 0.2 };
  const numbered = z.object({ n: z.number() });

  const quick = hf.define({
    type: "mail.quick",
    queue: mail,
    payload: z.object({ n: z.number(), to: z.string() }),
    run: async (job) => ({ messageId: `m-${job.payload.n}` }),
  });

  const slow = hf.define({
    type: "report.slow",
    queue: reports,
    payload: numbered,
    async run(job) {
      for (let part = 1; part <= 10; part++) {
        await pause(80 + 15 * job.payload.n, undefined, { signal: job.signal });
        await job.progress(part * 10, `page ${part} of 10`);
      }
    },
  });

  const flaky = hf.define({
    type: "mail.flaky",
    queue: mail,
    payload: numbered,
    retry: soon,
    async run(job) {
      const failures = 1 + (job.payload.n % 2);
      if (job.attempt <= failures) throw new Error("the mail server hung up");
    },
  });

  const hopeless = hf.define({
    type: "mail.hopeless",
    queue: mail,
    payload: z.object({ to: z.string() }),
    async run(job) {
      if (!job.payload.to.includes("@")) throw new PermanentError("not an address");
    },
  });

  const later = hf.define({
    type: "mail.later",
    queue: mail,
    payload: numbered,
    run: (job) => job.log("due, and found by the next lease"),
  });

  const once = hf.define({
    type: "mail.once",
    queue: mail,
    payload: z.object({ user: z.string() }),
    run: (job) => job.log(`welcome, ${job.payload.user}`),
  });

  const work = hf.define({
    type: "tenant.work",
    queue: tenants,
    payload: numbered,
    run: (job) => pause(10, undefined, { signal: job.signal }),
  });

  const receipt = hf.define({
    type: "mail.receipt",
    queue: mail,
    payload: z.object({ order: z.string() }),
    run: async (job) => ({ messageId: `receipt of ${job.payload.order}` }),
  });

  const checkout = hf.define({
    type: "order.checkout",
    queue: orders,
    payload: z.object({ order: z.string() }),
    retry: soon,
    async run(job) {
      // The first attempt fails after the charge. The second finds it done and does not charge again.
      const charge = await job.step(
        "charge",
        () => `charge of ${job.payload.order}, ${job.attempt}`,
      );
      if (job.attempt === 1) throw new Error("the shop closed in between");
      await job.step("ship", () => pause(20));
      // Stored in one step with this success. Nobody enqueues these: the table shows none as added.
      await job.spawn(receipt, { order: job.payload.order });
      return { charge };
    },
  });

  /** A few hundred jobs. `run` makes the keys of this run its own, so that the tour can be repeated. */
  function items(run: string): JobItem[] {
    const times = <T>(count: number, make: (n: number) => T) =>
      Array.from({ length: count }, (_, n) => make(n));
    const waiting = Object.entries(TENANTS).flatMap(([group, count]) =>
      times(count, (n) => work.of({ n }, { group })),
    );
    return [
      ...waiting,
      ...times(150, (n) => quick.of({ n, to: `user-${n}@example.com` })),
      ...times(8, (n) => slow.of({ n }, { priority: 10 })),
      ...times(20, (n) => flaky.of({ n })),
      ...times(6, (n) => hopeless.of({ to: `nobody-${n}` })),
      ...times(12, (n) => later.of({ n }, { delayMs: 1_500 + 100 * n })),
      // Thirty calls, ten keys, ten jobs.
      ...times(30, (n) => {
        const user = `user-${n % 10}`;
        return once.of({ user }, { idempotencyKey: `${run}:welcome:${user}` });
      }),
      ...times(5, (n) => checkout.of({ order: `o-${n}` })),
    ];
  }

  const kinds = { quick, slow, flaky, hopeless, later, once, work, checkout };
  return { items, kinds };
}
