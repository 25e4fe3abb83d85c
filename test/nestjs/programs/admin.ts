/** The guide's application on Fastify, with the HTTP API behind its guard. */
import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter, type NestFastifyApplication } from "@nestjs/platform-fastify";
import { AdminModule } from "./admin.module.js";
import { AppModule } from "./app.module.js";

@Module({ imports: [AppModule, AdminModule] })
class AdminApplication {}

async function main() {
  const http = new FastifyAdapter();
  const app = await NestFactory.create<NestFastifyApplication>(AdminApplication, http);
  app.enableShutdownHooks();
  await app.listen(Number(process.env.PORT), "127.0.0.1");
  console.log("listening");
}
void main();
