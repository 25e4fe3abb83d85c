/** What people read after a run. */
import type { SimulationReport } from "./run.ts";

export function summaryText(
  report: SimulationReport,
  how: { readonly store: string; readonly seconds: number; readonly isShort: boolean },
): string {
  const { seed, steps, virtualMs, hash } = report;
  const head = `seed ${seed}: every promise kept over ${steps} steps on ${how.store}`;
  const time = `${minutes(virtualMs)} of virtual time in ${how.seconds.toFixed(1)} s, trace ${hash}`;
  if (how.isShort) return `${head} (${time})`;
  const counts = report.counts.map(([what, count]) => `  ${what.padEnd(34)} ${count}`);
  return [`${head}`, `  ${time}`, ...counts].join("\n");
}

export function failureText(report: SimulationReport, command: string): string {
  const { violation, seed, steps, lastLines } = report;
  return [
    "",
    `A promise was broken: ${violation?.invariant}`,
    `  ${violation?.message}`,
    ...(violation?.jobId ? [`  job ${violation.jobId}`] : []),
    `  seed ${seed}, after ${steps} steps`,
    "",
    "What happened last, as far as it concerns this job:",
    ...lastLines.map((line) => `  ${shorten(line)}`),
    "",
    `To see it again: ${command}`,
    "",
  ].join("\n");
}

function minutes(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** A call may be about two hundred jobs. */
function shorten(line: string): string {
  return line.length <= 240 ? line : `${line.slice(0, 240)} …`;
}
