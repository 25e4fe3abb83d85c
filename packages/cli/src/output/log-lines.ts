/** What `holdfast work` and `holdfast serve` say: docs/guides/ship-your-logs.md is its catalogue. */
import { Redactor, type Holdfast, type Logger } from "holdfast";
import { pino, stdSerializers, type DestinationStream } from "pino";
import type { Cli } from "../cli.ts";
import { clean } from "./clean.ts";
import { duration } from "./words.ts";

/** JSON lines for machines; short lines for a person at a terminal. No payloads in either, and no secrets of messages. */
export function pinoLogger(cli: Pick<Cli, "io" | "isJson" | "paint">, level: string): Logger {
  const { stdout } = cli.io;
  const destination: DestinationStream = {
    write: (line) => void stdout.write(stdout.isTTY && !cli.isJson ? readable(cli, line) : line),
  };
  // Errors are taken apart below, where what they say is hidden.
  const serializers = { err: (parts: unknown) => parts };
  const log = pino({ level, base: { pid: process.pid }, serializers }, destination);
  const redactor = new Redactor();
  const hidden = (details: object) =>
    Object.fromEntries(
      Object.entries(details).map(([name, value]) => [
        name,
        typeof value === "string" ? redactor.text(value) : (value as unknown),
      ]),
    );
  const say =
    (word: "debug" | "info" | "warn" | "error") =>
    (message: string, details: object = {}): void => {
      const { error, ...others } = details as { readonly error?: unknown };
      const err = error === undefined ? {} : { err: hidden(partsOf(error)) };
      log[word]({ ...hidden(others), ...err }, redactor.text(message));
    };
  return { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") };
}

/** The stack has the causes, too. */
function partsOf(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = stdSerializers.err(error);
  return { type, message, stack };
}

const LEVELS: Readonly<Record<number, string>> = {
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
};

function readable(cli: Pick<Cli, "paint">, line: string): string {
  const {
    time,
    level,
    msg,
    pid: _,
    event: __,
    err,
    ...rest
  } = JSON.parse(line) as Record<string, unknown>;
  const { paint } = cli;
  const word = (LEVELS[Number(level)] ?? "").padEnd(5);
  const dress = level === 50 ? paint.red : level === 40 ? paint.yellow : paint.dim;
  // What a handler failed with may be the words of a stranger.
  const details = Object.entries(rest).map(([name, value]) => `${name}=${clean(value)}`);
  const { message } = Object(err) as { readonly message?: string };
  const at = new Date(Number(time)).toTimeString().slice(0, 8);
  const said = [msg, ...(message === undefined ? [] : [message])].map(clean);
  const words = [...said, paint.dim(details.join(" "))];
  return `${paint.dim(at)} ${dress(word)} ${words.join(" ").trimEnd()}\n`;
}

/** One line for each start, end, retry, reap and loss. The names of the fields are a promise. */
export function logEvents(hf: Holdfast, logger: Logger): void {
  type About = { readonly id: string; readonly type: string; readonly queue: string };
  const about = ({ id, type, queue }: About) => ({ job: id, type, queue });
  hf.on("started", (event) => {
    const { attempt, worker, waitedMs } = event;
    logger.debug("started", {
      ...{ event: "job:start", ...about(event), attempt, worker, waitedMs: Math.round(waitedMs) },
    });
  });
  hf.on("succeeded", (event) => {
    const { attempt, worker } = event;
    const ranMs = Math.round(event.ranMs);
    const took = `succeeded in ${duration(ranMs)}`;
    logger.info(took, { event: "job:succeeded", ...about(event), attempt, worker, ranMs });
  });
  hf.on("failed", (event) => {
    if (!event.willRetry) return;
    const { attempt, worker, retryInMs, failure } = event;
    logger.warn(`failed, again in ${duration(retryInMs ?? 0)}: ${failure.message}`, {
      ...{ event: "job:retry", ...about(event), attempt, worker, retryInMs },
      category: failure.category,
    });
  });
  hf.on("dead", (event) => {
    const { attempt, worker, reason, category, failure } = event;
    logger.error(`dead: ${failure.message}`, {
      ...{ event: "job:dead", ...about(event), attempt, worker, reason, category },
    });
  });
  hf.on("cancelled", (event) => {
    logger.info("cancelled", { event: "job:cancelled", ...about(event), reason: event.reason });
  });
  hf.on("lost", (event) => {
    logger.warn("its lease was lost", { event: "job:lost", ...about(event), worker: event.worker });
  });
  hf.on("abandoned", (event) => {
    logger.warn("its handler goes on after the end", { event: "job:abandoned", ...about(event) });
  });
  hf.on("reaped", ({ count, workers }) => {
    logger.warn("leases ran out", { event: "reap", count, workers: workers.join(",") });
  });
}
