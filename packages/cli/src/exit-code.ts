/** What the shell is told. These numbers are a promise: scripts ask for them. */
import {
  ClosedError,
  HoldfastError,
  InvalidCursorError,
  InvalidNameError,
  InvalidOptionError,
  InvalidPayloadError,
  JobNotFoundError,
  OperationNotFoundError,
  PayloadTooLargeError,
  PayloadValidationError,
  PresetNotFoundError,
  StoreUnavailableError,
  UnknownTypeError,
  WorkerNotFoundError,
} from "holdfast";

export const ExitCode = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  storeAway: 5,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** A mistake that has its own code; its message is all that a person is shown. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string) {
    super(message);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

const USAGE = [
  ...[InvalidCursorError, InvalidNameError, InvalidOptionError, InvalidPayloadError],
  ...[PayloadTooLargeError, PayloadValidationError, UnknownTypeError],
];
const NOT_FOUND = [
  ...[JobNotFoundError, OperationNotFoundError, PresetNotFoundError, WorkerNotFoundError],
];

/** In a state that does not allow it. */
const REFUSED = [
  ...["HOLDFAST_OPERATION_STATE", "HOLDFAST_MOVE_REFUSED", "HOLDFAST_SCHEDULE_IN_CODE"],
];

export function exitCodeOf(error: unknown): ExitCode {
  const isOne = (classes: readonly (abstract new (...args: never[]) => unknown)[]) =>
    classes.some((one) => error instanceof one);
  if (error instanceof CliError) return error.exitCode;
  if (isOne(USAGE)) return ExitCode.usage;
  if (isOne(NOT_FOUND) || codeOf(error).endsWith("_NOT_FOUND")) return ExitCode.notFound;
  if (REFUSED.includes(codeOf(error))) return ExitCode.refused;
  if (error instanceof StoreUnavailableError) return ExitCode.storeAway;
  return ExitCode.failed;
}

/** A mistake of a person or a place has a sentence; only what nobody expected shows its stack. */
export function isExpected(error: unknown): boolean {
  return error instanceof CliError || (error instanceof HoldfastError && !isClosed(error));
}

const isClosed = (error: unknown): boolean => error instanceof ClosedError;

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
