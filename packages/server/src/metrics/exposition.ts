/** The text format of Prometheus, 0.0.4. */
import { InvalidOptionError } from "holdfast";

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
  /** `_bucket`, `_sum`, `_count` of a histogram. */
  readonly suffix?: string;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly samples: readonly Sample[];
}

export function exposition(families: readonly Family[]): string {
  if (!Array.isArray(families)) {
    throw new InvalidOptionError(
      "exposition takes a list of families: [{ name, help, type, samples }]",
    );
  }
  return families.map(familyText).join("");
}

function familyText({ name, help, type, samples }: Family): string {
  const head = `# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}\n# TYPE ${name} ${type}\n`;
  return head + samples.map((sample) => `${name}${lineOf(sample)}\n`).join("");
}

function lineOf({ labels = {}, value, suffix = "" }: Sample): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
  return `${suffix}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${numberText(value)}`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
