/** The command line in this process, with a terminal of its own: what it writes is kept, what it is asked is answered. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run, type Io } from "../../packages/cli/src/index.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A terminal so wide; null: a pipe. */
  readonly columns?: number | null;
  /** What a person answers, in turn. Without it nobody can be asked. */
  readonly answers?: readonly string[];
  readonly stdin?: string;
  /** Called with everything that is written: when this answers true, Ctrl-C is pressed. */
  readonly stopWhen?: (written: string) => boolean;
  /** Pressed one after another, each once the screen has been drawn again. */
  readonly keys?: readonly string[];
}

export class Terminal {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(): Promise<Terminal> {
    return new Terminal(await mkdtemp(join(tmpdir(), "holdfast-cli-")));
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async run(argv: readonly string[], options: TerminalOptions = {}): Promise<Ran> {
    const { env = {}, columns = null, answers, stdin = "", stopWhen, keys = [] } = options;
    const written = { out: "", err: "" };
    const waiting = [...(answers ?? [])];
    const pressed = [...keys];
    const stops = new Set<() => void>();
    let hasStopped = false;
    const listeners = new Set<(key: string) => void>();
    const output = (name: "out" | "err") => ({
      write: (text: string) => {
        written[name] += text;
        if (!hasStopped && stopWhen?.(written.out + written.err) === true) {
          hasStopped = true;
          // Once the command listens: it writes that line just before.
          setTimeout(() => {
            for (const stop of stops) stop();
          }, 50);
        }
        if (name === "out" && listeners.size > 0) {
          const key = pressed.shift();
          if (key !== undefined) {
            for (const hear of listeners) setImmediate(() => hear(key));
          }
        }
      },
      isTTY: columns !== null,
      columns: columns ?? 80,
      rows: 24,
    });
    const io: Io = {
      cwd: this.folder,
      env: { USER: "ann", ...env },
      stdout: output("out"),
      stderr: output("err"),
      canAsk: answers !== undefined,
      ask: async (question) => {
        written.err += question;
        return waiting.shift() ?? "";
      },
      readAll: async () => stdin,
      onStop(listener) {
        stops.add(listener);
        return () => void stops.delete(listener);
      },
      onKey(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      onResize: () => () => {},
    };
    const code = await run(argv, io);
    return { code, ...written };
  }
}
