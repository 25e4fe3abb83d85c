/** Where the engine speaks to people. Any logger with these four words fits (pino, console, …). */
export interface Logger {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** Warnings and errors to stderr, nothing else. */
export const stderrLogger: Logger = {
  debug() {},
  info() {},
  warn: (message, details) => console.warn(`holdfast: ${message}`, details ?? ""),
  error: (message, details) => console.error(`holdfast: ${message}`, details ?? ""),
};
