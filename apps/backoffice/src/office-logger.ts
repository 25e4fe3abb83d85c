/** Nest's logger, without the stack that it prints when a start fails: whoever started is told in a sentence. */
import { ConsoleLogger } from "@nestjs/common";

const STARTING = "ExceptionHandler";

export class OfficeLogger extends ConsoleLogger {
  constructor() {
    super({ logLevels: ["error", "warn"] });
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (rest.at(-1) === STARTING) return;
    super.error(message, ...rest);
  }
}
