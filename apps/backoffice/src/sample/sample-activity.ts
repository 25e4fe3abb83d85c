/**
 * A little business, so that there is something to see: a booking every few seconds and the jobs that follow from it.
 * Bounded: one step at a time, and no more sample bookings than a few hundred, the oldest making room.
 */
import { randomUUID } from "node:crypto";
import type { CfoQueue } from "../cfo/cfo-queue.ts";
import { dataHashOf, monthOf } from "../cfo/books.ts";
import type { Data } from "../data/data.ts";
import { SAMPLE_COMPANIES, sampleNumbers } from "../data/sample-companies.ts";

const EVERY_MS = 2_500;
const MOST_BOOKINGS = 300;
const PREFIX = "LIVE-";

export interface SampleParts {
  readonly data: Data;
  readonly queue: CfoQueue;
  readonly onTrouble: (error: unknown) => void;
}

/** Answers the way to stop it; that waits for the step that runs. */
export function sampleActivity(parts: SampleParts): () => Promise<void> {
  const random = sampleNumbers(Date.now() % 2_147_483_646 || 1);
  let step = 0;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  const next = () => {
    running = oneStep(parts, step, random).catch(parts.onTrouble);
    step += 1;
    void running.then(() => {
      if (!isStopped) timer = setTimeout(next, EVERY_MS);
    });
  };
  next();
  return async () => {
    isStopped = true;
    clearTimeout(timer);
    await running;
  };
}

async function oneStep(
  { data, queue }: SampleParts,
  step: number,
  random: () => number,
): Promise<void> {
  const company = SAMPLE_COMPANIES[step % SAMPLE_COMPANIES.length];
  if (!company) return;
  const { id: companyId, currency } = company;
  const date = new Date().toISOString().slice(0, 10);
  const isIncome = random() < 0.6;
  const amount = Math.round((isIncome ? 1 : -1) * random() * 40_000) / 100;
  const category = isIncome ? "sales" : "supplies";
  const transactionId = `${PREFIX}${Date.now()}-${randomUUID().slice(0, 8)}`;
  await data.add("transactions", [
    { transactionId, companyId, date, amount, currency, category, description: "Live sample" },
  ]);
  await makeRoom(data);
  const bookings = await data.find("transactions", { companyId });
  const dataHash = dataHashOf(bookings);
  await queue.snapshots({ companyId, amendedMonth: monthOf(date), dataHash });
  if (step % 4 === 1) {
    await queue.report({
      companyId,
      periodStart: `${date.slice(0, 4)}-01-01`,
      periodEnd: date,
      dataHash,
    });
  }
  if (step % 6 === 2) await queue.insights({ companyId, dataHash });
  if (step % 12 === 3) {
    await queue.notify({
      companyId,
      subject: "Sample note",
      body: `A booking of ${amount} ${currency}`,
    });
  }
  if (step % 5 === 0) await queue.ping();
}

async function makeRoom(data: Data): Promise<void> {
  const where = { transactionId: { from: PREFIX, before: `${PREFIX}:` } };
  const all = await data.find("transactions", where, { orderBy: "transactionId" });
  for (const { transactionId } of all.slice(0, Math.max(0, all.length - MOST_BOOKINGS))) {
    await data.remove("transactions", { transactionId });
  }
}
