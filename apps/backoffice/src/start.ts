/** Puts the application together and lets it listen. The caller closes it. */
import "reflect-metadata";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { NestFactory } from "@nestjs/core";
import { InvalidOptionError } from "holdfast";
import { AppModule } from "./app-module.ts";
import { isLoopback, type Settings } from "./config/settings.ts";
import { Data } from "./data/data.ts";
import { seed } from "./data/seed.ts";
import { OfficeLogger } from "./office-logger.ts";
import { knownSampleUsers } from "./sample/known-sample-users.ts";

/** As Holdfast's server takes them. */
const MOST_BODY = "4mb";

export interface StartOptions {
  readonly settings: Settings;
  /** The sample into an empty database. */
  readonly seeds?: boolean;
  readonly isQuiet?: boolean;
}

export interface Started {
  readonly app: NestExpressApplication;
  readonly url: string;
}

export async function start(options: StartOptions): Promise<Started> {
  const { settings, seeds = false, isQuiet = false } = options;
  const app = await NestFactory.create<NestExpressApplication>(AppModule.of(settings), {
    ...{ abortOnError: false, logger: isQuiet ? false : new OfficeLogger() },
  });
  try {
    app.useBodyParser("json", { limit: MOST_BODY });
    app.disable("x-powered-by");
    const data = app.get(Data);
    const isOpen = !isLoopback(settings.host);
    if (seeds && isOpen && settings.samplePassword === null) await refuseKnownSample(data);
    if (seeds) await seed(data, settings.samplePassword);
    if (isOpen) await refuseKnownPasswords(data);
    await app.listen(settings.port, settings.host);
    const { port } = app.getHttpServer().address() as { readonly port: number };
    const name = settings.host.includes(":") ? `[${settings.host}]` : settings.host;
    return { app, url: `http://${name}:${port}` };
  } catch (error) {
    await app.close().catch(() => {});
    throw error;
  }
}

/** Before anything is written: users that are made with those passwords would keep them. */
async function refuseKnownSample(data: Data): Promise<void> {
  if ((await data.count("companies")) > 0) return;
  throw new InvalidOptionError(
    "SAMPLE_PASSWORD is needed for a sample that others can reach: a password of 12 characters or more, for all its users",
  );
}

/** Everybody knows the passwords of the sample. */
async function refuseKnownPasswords(data: Data): Promise<void> {
  const known = await knownSampleUsers(data);
  if (known.length === 0) return;
  throw new InvalidOptionError(
    `${known.map(({ email }) => email).join(", ")} still have the passwords of the sample, and others can reach this address: change them first, on 127.0.0.1, by POST /api/auth/password`,
  );
}
