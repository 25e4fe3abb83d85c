/** The same thing for a terminal: as a command of `holdfast`, and as `curl`. */

/** So that a shell takes it as one word, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function cliText(words: readonly string[]): string {
  return ["holdfast", ...words.map(shellWord)].join(" ");
}

export function curlText(
  url: string,
  { method = "GET", body }: { readonly method?: string; readonly body?: unknown } = {},
): string {
  const parts = ["curl", "-sS"];
  if (method !== "GET") parts.push("-X", method);
  parts.push(`-H "Authorization: Bearer $HOLDFAST_TOKEN"`);
  if (body !== undefined) {
    parts.push("-H 'Content-Type: application/json'", "-d", shellWord(JSON.stringify(body)));
  }
  return [...parts, shellWord(url)].join(" ");
}
