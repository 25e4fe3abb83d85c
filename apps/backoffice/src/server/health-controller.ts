/** `GET /health`: for a load balancer that knows nothing of us. */
import { Controller, Get, Inject, ServiceUnavailableException } from "@nestjs/common";
import { HoldfastHealthIndicator } from "@holdfast/nestjs";
import { Data } from "../data/data.ts";

@Controller("health")
export class HealthController {
  constructor(
    @Inject(HoldfastHealthIndicator) private readonly jobs: HoldfastHealthIndicator,
    @Inject(Data) private readonly data: Data,
  ) {}

  @Get()
  async health() {
    const [jobs, data] = await Promise.all([
      this.jobs.isHealthy("jobs"),
      this.data.ping().then(
        () => "up",
        () => "down",
      ),
    ]);
    const state = { ...jobs, data: { status: data } };
    const isUp = data === "up" && jobs["jobs"]?.status === "up";
    if (!isUp) throw new ServiceUnavailableException({ status: "down", ...state });
    return { status: "up", ...state };
  }
}
