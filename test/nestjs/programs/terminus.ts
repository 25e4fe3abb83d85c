/** The health indicator in Terminus itself. */
import "reflect-metadata";
import { Controller, Get, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { HealthCheck, HealthCheckService, TerminusModule } from "@nestjs/terminus";
import { HoldfastHealthIndicator, HoldfastModule } from "@holdfast/nestjs";
import { Holdfast } from "holdfast";

@Controller("health")
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly holdfast: HoldfastHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([
      () => this.holdfast.isHealthy("jobs"),
      () => this.holdfast.pingCheck("store"),
    ]);
  }
}

@Module({
  imports: [TerminusModule, HoldfastModule.forRoot({ url: "memory:" })],
  controllers: [HealthController],
})
class Application {}

async function main() {
  const app = await NestFactory.create(Application, { logger: false });
  await app.listen(0, "127.0.0.1");
  const ask = async () => {
    const answer = await fetch(`${await app.getUrl()}/health`);
    const { status, details } = (await answer.json()) as { status: string; details: object };
    console.log(answer.status, status, Object.keys(details).join(","));
  };
  await ask();
  await app.get(Holdfast).close();
  await ask();
  await app.close();
}
void main();
