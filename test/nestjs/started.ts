/** Applications that listen, on Express or Fastify. */
import type { INestApplication, Type } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { ExpressAdapter } from "@nestjs/platform-express";
import { FastifyAdapter } from "@nestjs/platform-fastify";

export const ADAPTERS = { express: ExpressAdapter, fastify: FastifyAdapter } as const;

export interface StartOptions {
  readonly adapter?: keyof typeof ADAPTERS;
  /** What is asked of the application before it starts. */
  readonly prepare?: (app: INestApplication) => void;
}

/** On a free port of this machine. The caller closes it. */
export async function started(
  module: Type<unknown>,
  { adapter = "express", prepare }: StartOptions = {},
): Promise<INestApplication> {
  const http = adapter === "express" ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(module, http, { logger: false, abortOnError: false });
  prepare?.(app);
  await app.listen(0, "127.0.0.1");
  return app;
}
