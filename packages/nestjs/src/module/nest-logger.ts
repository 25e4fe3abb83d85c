/** The library's lines through Nest's logger: one text each, so that every logger of Nest can print it. */
import { Logger as NestLogger } from "@nestjs/common";
import type { Logger } from "holdfast";

const MAX_CHARS = 300;

export function nestLogger(context: string): Logger {
  const logger = new NestLogger(context);
  return {
    debug: (message, details) => logger.debug(lineOf(message, details)),
    info: (message, details) => logger.log(lineOf(message, details)),
    warn: (message, details) => logger.warn(lineOf(message, details)),
    error: (message, details) => logger.error(lineOf(message, details), stackOf(details)),
  };
}

/** `lease failed (queue=mail error=connection refused)` */
function lineOf(message: string, details: object | undefined): string {
  const words = Object.entries(details ?? {}).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [`${name}=${shown(value)}`],
  );
  return words.length === 0 ? message : `${message} (${words.join(" ")})`;
}

function shown(value: unknown): string {
  const text =
    value instanceof Error
      ? value.message
      : typeof value === "string"
        ? value
        : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

function stackOf(details: object | undefined): string | undefined {
  const { error } = (details ?? {}) as { readonly error?: unknown };
  return error instanceof Error ? error.stack : undefined;
}
