/** Metrics: the text format to the letter, with labels that stay few. */
import { describe, expect, it } from "vitest";
import { exposition } from "../../packages/server/src/metrics/exposition.ts";
import { Counter, Histogram } from "../../packages/server/src/metrics/series.ts";
import { parseExposition } from "./parse-exposition.ts";
import { serve } from "./served.ts";

describe("metrics", () => {
  it("pass a strict parser, and have the names of the convention", async () => {
    const served = await serve("sqlite");
    served.hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    await served.hf.work();
    const { id } = await served.hf.enqueue("mail.send" as never, {} as never);
    await served.hf.waitFor(id);
    await served.call("GET", "/api/v1/jobs/some-id");
    const { text, headers } = await served.call("GET", "/metrics");
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = parseExposition(text);
    for (const [name, type] of [
      ...[
        ["holdfast_jobs", "gauge"],
        ["holdfast_queue_oldest_age_seconds", "gauge"],
      ],
      ...[
        ["holdfast_jobs_finished_total", "counter"],
        ["holdfast_job_run_seconds", "histogram"],
      ],
      ...[
        ["holdfast_job_wait_seconds", "histogram"],
        ["holdfast_worker_slots", "gauge"],
      ],
      ...[
        ["holdfast_http_requests_total", "counter"],
        ["holdfast_info", "gauge"],
      ],
    ] as const) {
      expect([name, families.get(name)?.type]).toEqual([name, type]);
    }
    expect(text).not.toContain("some-id");
    const finished = families.get("holdfast_jobs_finished_total")?.samples;
    expect(finished).toMatchObject([
      { labels: { queue: "mail", type: "mail.send", outcome: "succeeded" }, value: 1 },
    ]);
    await served.close();
  });

  it("what has too many values is counted under other", () => {
    const counter = new Counter("x_total", "help");
    for (let n = 0; n < 5_000; n += 1) counter.add({ type: `t${n}` });
    const { samples } = counter.family();
    expect(samples).toHaveLength(501);
    expect(samples.at(-1)).toEqual({ labels: { type: "other" }, value: 4_500 });
  });

  it("labels and help are escaped, and buckets add up", () => {
    const histogram = new Histogram("x_seconds", 'a "b"\n\\c');
    for (const seconds of [0.001, 0.2, 9_999]) histogram.observe({ q: 'x"\n\\' }, seconds);
    const families = parseExposition(exposition([histogram.family()]));
    const samples = families.get("x_seconds")?.samples ?? [];
    expect(samples.find(({ labels }) => labels.le === "0.005")?.value).toBe(1);
    expect(samples.find(({ labels }) => labels.le === "+Inf")?.value).toBe(3);
    expect(samples[0]?.labels.q).toBe('x"\n\\');
  });
});
