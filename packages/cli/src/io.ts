/** Everything through which a command touches the world: a test brings its own. */
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";

export interface Output {
  write(text: string): unknown;
  readonly isTTY: boolean;
  readonly columns: number;
  readonly rows: number;
}

export interface Io {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Is there a person to ask? */
  readonly canAsk: boolean;
  ask(question: string): Promise<string>;
  /** All that is piped in. */
  readAll(): Promise<string>;
  /** Ctrl-C and SIGTERM. Returns the way to stop listening. */
  onStop(listener: () => void): () => void;
  /** Single keys, while it is listened to. Returns the way to stop. */
  onKey(listener: (key: string) => void): () => void;
  onResize(listener: () => void): () => void;
}

/** A sequence of an arrow or its like, or one character. */
// oxlint-disable-next-line no-control-regex -- that is how terminals say it
const KEYS = /\u001b\[[0-9;]*[A-Za-z~]|[\s\S]/gu;
const STOPS = ["SIGINT", "SIGTERM"] as const;

export function systemIo(): Io {
  const { stdin } = process;
  return {
    cwd: process.cwd(),
    env: process.env,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    canAsk: stdin.isTTY === true && process.stderr.isTTY === true,
    async ask(question) {
      const lines = createInterface({ input: stdin, output: process.stderr });
      try {
        return await lines.question(question);
      } catch {
        // Ctrl-C or Ctrl-D at the question is a no.
        return "";
      } finally {
        lines.close();
      }
    },
    readAll: () => text(stdin),
    onStop(listener) {
      for (const signal of STOPS) process.on(signal, listener);
      return () => {
        for (const signal of STOPS) process.off(signal, listener);
      };
    },
    onKey(listener) {
      // Keys that are pressed quickly come together.
      const hear = (data: Buffer) => {
        for (const [key] of data.toString().matchAll(KEYS)) listener(key);
      };
      stdin.setRawMode?.(true);
      stdin.on("data", hear);
      stdin.resume();
      return () => {
        stdin.off("data", hear);
        stdin.setRawMode?.(false);
        stdin.pause();
      };
    },
    onResize(listener) {
      process.stdout.on("resize", listener);
      return () => void process.stdout.off("resize", listener);
    },
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  // A reader that went away (`| head`) is no reason to fail.
  stream.on("error", () => {});
  return {
    write: (words) => stream.write(words),
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      return stream.columns ?? 80;
    },
    get rows() {
      return stream.rows ?? 24;
    },
  };
}
