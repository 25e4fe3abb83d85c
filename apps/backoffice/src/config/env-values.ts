/** Single values of the environment. What is wrong with one is noted, so that all of it is told at once. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Blank is as good as nothing. */
export function textOf(env: Env, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === "" ? undefined : text;
}

export function wholeOf(
  env: Env,
  name: string,
  { min, max, or }: { min: number; max: number; or: number },
  problems: string[],
): number {
  const text = textOf(env, name);
  if (text === undefined) return or;
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  problems.push(`${name} takes a whole number from ${min} to ${max}, not ${text.slice(0, 40)}`);
  return or;
}
