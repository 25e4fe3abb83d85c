/** What a server can tell by itself of store and fleet. A command line knows more, and adds it by an option. */
import type { Finding } from "../server-options.ts";
import type { Call } from "./route.ts";

const SKEW_MS = 2_000;
const MOST_NAMED = 20;

export async function findings({
  hf,
  services,
}: Pick<Call, "hf" | "services">): Promise<readonly Finding[]> {
  const asked = services.now();
  const [info, time, counts, workers] = await Promise.all([
    ...[hf.info(), hf.tools.ping(), services.overview.counts(), hf.workers.list()],
  ] as [
    ReturnType<typeof hf.info>,
    Promise<Date>,
    ReturnType<typeof hf.counts>,
    ReturnType<typeof hf.workers.list>,
  ]);
  const found: Finding[] = [];
  const warn = (what: string, advice: string) => found.push({ level: "warning", what, advice });
  for (const warning of info.warnings ?? []) warn(warning, "See the guide of this store.");
  const skew = Math.abs(time.getTime() - asked);
  if (skew > SKEW_MS) {
    warn(
      `the store's clock and this host's differ by ${Math.round(skew / 1000)} s`,
      "Let both follow a time server.",
    );
  }
  const served = new Set(workers.flatMap(({ queues }) => queues));
  const alone = Object.entries(counts).filter(
    ([queue, { ready }]) => ready > 0 && !served.has(queue),
  );
  for (const [queue, { ready }] of alone.slice(0, MOST_NAMED)) {
    found.push({
      level: "problem",
      what: `queue ${queue} has ${ready} ready jobs and no live worker`,
      advice: `Start a worker for it: hf.work({ queues: ["${queue}"] }).`,
    });
  }
  for (const worker of workers.filter(({ isQuiet }) => isQuiet).slice(0, MOST_NAMED)) {
    warn(`worker ${worker.id} is quiet`, `Resume it: POST /api/v1/workers/${worker.id}/resume.`);
  }
  found.push(...((await services.options.doctor?.()) ?? []));
  if (found.length > 0) return found;
  return [
    { level: "ok", what: `the ${info.name} store answers, and nothing is amiss`, advice: null },
  ];
}
