/** The first Ctrl-C or SIGTERM asks for a clean stop; one that follows later ends the process as ever. */

/** npm passes on what the terminal has sent already: the same Ctrl-C comes twice within milliseconds. */
const SAME_MS = 1_000;
const NAMES = ["SIGINT", "SIGTERM"] as const;

export class StopSignal {
  readonly #asked = Promise.withResolvers<string>();

  constructor() {
    for (const name of NAMES) process.on(name, this.#hear);
  }

  get asked(): Promise<string> {
    return this.#asked.promise;
  }

  /** Signals have their usual effect again. */
  readonly forget = (): void => {
    for (const name of NAMES) process.off(name, this.#hear);
  };

  readonly #hear = (name: string): void => {
    this.#asked.resolve(name);
    setTimeout(this.forget, SAME_MS).unref();
  };
}
