/** Ctrl-C and SIGTERM. The first one is told; one that is meant, later, ends the process at once. */

/** npm passes on what the terminal has sent already: the same Ctrl-C comes twice within milliseconds. */
const SAME_MS = 1_000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

export function untilStopped(): { readonly signal: Promise<string>; forget(): void } {
  let firstAt = 0;
  let tell: (signal: string) => void;
  const signal = new Promise<string>((resolve) => {
    tell = resolve;
  });
  const hear = (name: string) => {
    if (firstAt > 0 && Date.now() - firstAt > SAME_MS) process.exit(130);
    firstAt ||= Date.now();
    tell(name);
  };
  for (const name of SIGNALS) process.on(name, hear);
  return {
    signal,
    forget() {
      for (const name of SIGNALS) process.off(name, hear);
    },
  };
}
