/** Secrets that a job's error says are in no answer, also where the answer is about something else. */
import { afterEach, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

const SECRET = "s3cr3t-that-must-not-be-seen";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

it("what a job failed with is hidden in why it does not run, and in the ticks of its schedule", async () => {
  served = await serve("sqlite");
  const { hf, data, call } = served;
  hf.define({
    ...{ type: "report.make", queue: "reports", retry: { maxAttempts: 1 } },
    run: () => Promise.reject(new Error(`cannot reach postgres://ada:${SECRET}@db/x`)),
  });
  await hf.work();
  const body = { cron: "0 9 * * 1", job: { type: "report.make" } };
  await data("PUT", "/api/v1/schedules/weekly", { body });
  const { id } = await data("POST", "/api/v1/schedules/weekly/run", { body: {} });
  expect((await hf.waitFor(id)).status).toBe("dead");
  const token = await served.token("viewer");
  for (const path of [
    ...[`jobs/${id}/why`, "schedules", "schedules/weekly", "schedules/weekly/runs"],
  ]) {
    const { status, text } = await call("GET", `/api/v1/${path}`, { token });
    expect([path, status, text.includes(SECRET)]).toEqual([path, 200, false]);
    expect(text).toContain("postgres://ada:[REDACTED]@db/x");
  }
});
