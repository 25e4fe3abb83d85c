/** A strict reader of the text format of Prometheus: what it does not know is an error. */

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface ParsedFamily {
  readonly type: string;
  readonly samples: readonly ParsedSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  ...{ counter: [""], gauge: [""], histogram: ["_bucket", "_sum", "_count"] },
};

export function parseExposition(text: string): Map<string, ParsedFamily> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, { type: string; samples: ParsedSample[] }>();
  const seen = new Set<string>();
  let current: string | null = null;
  let helped: string | null = null;
  for (const line of text.slice(0, -1).split("\n")) {
    const help = /^# HELP (\S+) (.+)$/.exec(line);
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line);
    if (help) {
      helped = help[1] as string;
      if (!NAME.test(helped) || families.has(helped)) throw new Error(`bad or doubled: ${line}`);
    } else if (type) {
      if (type[1] !== helped) throw new Error(`a type without its help: ${line}`);
      current = helped as string;
      families.set(current, { type: type[2] as string, samples: [] });
    } else {
      const sample = sampleOf(line);
      const family = families.get(current ?? "");
      const allowed = SUFFIXES[family?.type ?? ""] ?? [];
      if (!family || !allowed.some((suffix) => sample.name === `${current}${suffix}`)) {
        throw new Error(`a sample outside of its family: ${line}`);
      }
      const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`;
      if (seen.has(key)) throw new Error(`a sample twice: ${line}`);
      seen.add(key);
      family.samples.push(sample);
    }
  }
  for (const [name, { type, samples }] of families) {
    if (type === "counter" && !name.endsWith("_total")) throw new Error(`a counter: ${name}`);
    if (type !== "counter" && name.endsWith("_total")) throw new Error(`no counter: ${name}`);
    if (type === "histogram") checkBuckets(name, samples);
  }
  return families;
}

function sampleOf(line: string): ParsedSample {
  const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (!found) throw new Error(`no sample: ${line}`);
  const [, name = "", inside, number = ""] = found;
  const value = number === "+Inf" ? Infinity : Number(number);
  if (Number.isNaN(value)) throw new Error(`no number: ${line}`);
  const labels: Record<string, string> = {};
  let rest = inside ?? "";
  while (rest !== "") {
    const pair = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\n"])*)"(?:,|$)/.exec(rest);
    if (!pair || Object.hasOwn(labels, pair[1] as string)) throw new Error(`bad labels: ${line}`);
    labels[pair[1] as string] = (pair[2] as string).replace(/\\(.)/g, (_, mark: string) =>
      mark === "n" ? "\n" : mark,
    );
    rest = rest.slice(pair[0].length);
  }
  return { name, labels, value };
}

/** They grow, and the last one is the count. */
function checkBuckets(name: string, samples: readonly ParsedSample[]): void {
  const byLabels = new Map<string, ParsedSample[]>();
  for (const sample of samples.filter((one) => one.name === `${name}_bucket`)) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    byLabels.set(key, [...(byLabels.get(key) ?? []), sample]);
  }
  for (const [key, buckets] of byLabels) {
    const values = buckets.map(({ value }) => value);
    if (values.some((value, at) => at > 0 && value < (values[at - 1] ?? 0))) {
      throw new Error(`buckets of ${name}${key} shrink`);
    }
    const all = samples.find(
      (one) => one.name === `${name}_count` && JSON.stringify(one.labels) === key,
    );
    if (buckets.at(-1)?.labels.le !== "+Inf" || all?.value !== values.at(-1)) {
      throw new Error(`the last bucket of ${name}${key} is not its count`);
    }
  }
}
