/** What an attempt was told is stored must be there for the next one: steps and checkpoints. */
import { nameOf, type Evidence, type Finding } from "./evidence.ts";

interface StoredStep {
  readonly fence: number;
  readonly value: number;
}

export function judgeKept({ lines, jobs }: Evidence): readonly Finding[] {
  const findings: Finding[] = [];
  const found = (id: string, text: string) => {
    const job = jobs.get(id);
    findings.push({
      rule: "steps and saves forgotten",
      text: `${job ? nameOf(job) : id}: ${text}`,
    });
  };
  const steps = new Map<string, StoredStep>();
  for (const line of lines) {
    if (line.what === "step stored") {
      const name = `${line.id} ${line.step}`;
      const known = steps.get(name);
      if (known && known.value !== line.value) {
        found(line.id, `step ${line.step} was ${known.value} and is now ${line.value}`);
      }
      if (!known || line.fence < known.fence) steps.set(name, line);
    }
  }
  const saves = new Map<string, { readonly fence: number; readonly row: number }[]>();
  for (const line of lines) {
    if (line.what === "step ran") {
      const known = steps.get(`${line.id} ${line.step}`);
      if (known && line.fence > known.fence) {
        found(line.id, `step ${line.step} ran again, ${known.fence} had stored it`);
      }
    } else if (line.what === "saved") {
      saves.set(line.id, [...(saves.get(line.id) ?? []), line]);
    }
  }
  for (const [id, saved] of saves) {
    for (const { fence, row } of jobs.get(id)?.runs ?? []) {
      const rows = saved.filter((save) => save.fence < fence).map((save) => save.row);
      const reached = Math.max(0, ...rows);
      if (row < reached) found(id, `began at row ${row}, row ${reached} was saved before`);
    }
  }
  return findings;
}
