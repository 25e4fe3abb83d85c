/**
 * An operator opens the page of dead jobs. They are old, and very many newer jobs have succeeded since: the
 * page must be as quick as if there were few of those. What counts is a full page: if the store answers with
 * a short one and a cursor, it is asked again.
 */
import type { Store } from "../../packages/holdfast/src/index.ts";
import type { Line, MeasureBench, Metrics, Scenario, Variant } from "../scenario.ts";
import { percentile } from "../statistics.ts";

const DEAD = 60;
const PAGE = 50;
const LOOKS = 15;
/** Looks that take seconds are made less often. */
const MOST_MS = 10_000;
const FEW_NEWER = 10_000;
const FEW = "10k newer";
const MANY = "many newer";

export const pages: Scenario = {
  name: "pages",
  title: "a page of 50 dead jobs behind 200 thousand newer jobs (--newer), against 10 thousand",
  mostRounds: 5,
  variants: ({ quick, newerJobs }) => {
    const few = quick ? 500 : FEW_NEWER;
    return [variant(FEW, few), variant(MANY, quick ? 4 * few : newerJobs)];
  },
  lines: [
    figure(FEW, "pageMs", { label: FEW, unit: "ms" }),
    figure(MANY, "pageMs", { label: MANY, unit: "ms" }),
    figure(MANY, "calls", { label: `calls a page, ${MANY}`, unit: "" }),
    {
      kind: "ratio",
      label: `${MANY} ÷ ${FEW}`,
      of: { variant: MANY, metric: "pageMs" },
      by: [{ variant: FEW, metric: "pageMs" }],
      target: { atMost: 3 },
    },
    { kind: "totals", label: "jobs missing on the page", metric: "missing", judged: [FEW, MANY] },
  ],
};

function figure(
  variant: string,
  metric: string,
  shown: { readonly label: string; readonly unit: string },
): Line {
  return { kind: "figure", variant, metric, ...shown };
}

function variant(label: string, newer: number): Variant {
  // Looking changes nothing: one filled place serves all rounds.
  const prefill = { ready: 0, past: { dead: DEAD, newer }, inPlace: true };
  return { label, contender: "holdfast", prefill, measure: timePages };
}

async function timePages(bench: MeasureBench): Promise<Metrics> {
  const session = await bench.open(await bench.place());
  const { store } = session;
  if (!store) throw new Error("only Holdfast has pages");
  await store.open();
  await lookOnce(store);
  const tookMs: number[] = [];
  const endAt = performance.now() + MOST_MS;
  let seen = { calls: 0, missing: 0 };
  do {
    const beganAt = performance.now();
    seen = await lookOnce(store);
    tookMs.push(performance.now() - beganAt);
  } while (tookMs.length < LOOKS && performance.now() < endAt);
  await session.close();
  return { pageMs: percentile(tookMs, 0.5), ...seen };
}

/** Until the page is full, as a reader who presses "more" on a short one. */
async function lookOnce(store: Store): Promise<{ calls: number; missing: number }> {
  let calls = 0;
  let found = 0;
  let cursor: string | null = null;
  do {
    const page = await store.find({ status: ["dead"] }, { limit: PAGE - found, cursor });
    calls += 1;
    found += page.jobs.length;
    cursor = page.nextCursor;
  } while (found < PAGE && cursor !== null);
  return { calls, missing: PAGE - found };
}
