/** An application's own tests: its jobs on virtual time, nothing waits. */
import "reflect-metadata";
import { Test } from "@nestjs/testing";
import { expect, it } from "vitest";
import { HoldfastTestingModule, onVirtualTime, testKitOf } from "@holdfast/nestjs/testing";
import { Holdfast } from "holdfast";
import { Diary, invoice, ShopApplication, ShopModule } from "./shop.ts";

it("a whole application runs on virtual time, whatever store it names", async () => {
  const url = "postgres://nobody@127.0.0.1:1/none";
  const work = { concurrency: 3 };
  const application = ShopApplication.with({ url, work, maxAttempts: 2, jobLogs: false });
  const builder = Test.createTestingModule({ imports: [application] });
  const app = await onVirtualTime(builder).compile();
  await app.init();
  const t = testKitOf(app);
  await app.get(Holdfast).enqueue(invoice, { order: "a1", cents: "7" as never });
  expect(app.get(Diary).lines).toEqual([]);
  await t.drain();
  expect(app.get(Diary).lines).toEqual([
    "invoice a1 number",
    expect.stringContaining("parcel a1 attempt 1"),
  ]);
  await app.close();
});

it("a week passes in a moment: schedules fire, retries are due, the dead are seen", async () => {
  const app = await Test.createTestingModule({
    imports: [HoldfastTestingModule.forRoot({ jobLogs: false }), ShopModule],
  }).compile();
  await app.init();
  const t = testKitOf(app);
  t.fail(invoice, new Error("no paper"));
  await t.hf.enqueue(invoice, { order: "a2", cents: 1 } as never);
  await t.drain();
  await t.advance(60_000);
  await t.drain();
  expect(app.get(Diary).lines).toContain("invoice a2 number");
  const [job] = (await t.hf.jobs({ type: "invoice.write" })).jobs;
  expect(job).toMatchObject({ status: "succeeded", attempts: 2 });
  await t.advance(7 * 86_400_000);
  await t.drain();
  expect(app.get(Diary).lines).toContain("report weekly");
  expect(app.get(Diary).lines).toContain("swept");
  expect(t.ticks("weekly-report")).toHaveLength(1);
  await t.hf.enqueue("parcel.return", {});
  await t.drain();
  expect(t.deadLetters("parcel.return")).toHaveLength(1);
  await app.close();
});

it("says so where an application is not on virtual time", async () => {
  const application = ShopApplication.with({ url: "memory:", work: false, jobLogs: false });
  const app = await Test.createTestingModule({ imports: [application] }).compile();
  expect(() => testKitOf(app)).toThrow("onVirtualTime");
  await app.close();
});
