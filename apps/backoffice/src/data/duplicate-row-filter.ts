/** A row that is there already is the caller's conflict, not our trouble: 409. */
import { Catch, ConflictException, type ArgumentsHost } from "@nestjs/common";
import { BaseExceptionFilter } from "@nestjs/core";
import { DuplicateRowError } from "./data.ts";

@Catch(DuplicateRowError)
export class DuplicateRowFilter extends BaseExceptionFilter {
  override catch(error: DuplicateRowError, host: ArgumentsHost): void {
    super.catch(new ConflictException(error.message, { cause: error }), host);
  }
}
