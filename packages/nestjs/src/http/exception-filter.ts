/**
 * Turns errors of Holdfast into answers: a duplicate is 409, a full queue 429, a full or absent store 503, what does
 * not fit its schema 422. Everything else goes Nest's own way.
 */
import { Catch, type ArgumentsHost } from "@nestjs/common";
import { BaseExceptionFilter, type HttpAdapterHost } from "@nestjs/core";
import { HoldfastError } from "holdfast";
import { httpAnswer } from "./http-answer.ts";

export class HoldfastExceptionFilter extends BaseExceptionFilter {
  readonly #host: HttpAdapterHost | null;
  readonly #isOn: boolean;

  /** Without arguments for `app.useGlobalFilters(new HoldfastExceptionFilter(app.get(HttpAdapterHost)))`. */
  constructor(host?: HttpAdapterHost, isOn = true) {
    super(host?.httpAdapter);
    this.#host = host ?? null;
    this.#isOn = isOn;
  }

  override catch(error: unknown, host: ArgumentsHost): void {
    // A gateway or a microservice has its own way with errors.
    if (host.getType() !== "http") throw error as Error;
    const answer = this.#isOn && error instanceof HoldfastError ? httpAnswer(error) : null;
    if (answer === null) return super.catch(error, host);
    const { exception, retryAfterS } = answer;
    const response: unknown = host.switchToHttp().getResponse();
    const adapter = this.#host?.httpAdapter ?? this.applicationRef;
    if (retryAfterS !== null && adapter && adapter.isHeadersSent(response) !== true) {
      adapter.setHeader(response, "Retry-After", String(retryAfterS));
    }
    super.catch(exception, host);
  }
}

Catch(HoldfastError)(HoldfastExceptionFilter);
