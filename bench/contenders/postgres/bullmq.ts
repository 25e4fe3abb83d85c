/** BullMQ 6 on its PostgreSQL backend, which makes its own pools: one for the queue, one for the worker. */
import pg from "pg";
import type { Contender } from "../../contender.ts";
import { BULLMQ_SETUP, type BullmqClasses, bullmqSession } from "../bullmq.ts";
import { load, missingPackages } from "../peer-packages.ts";
import { describePostgres } from "./facts.ts";

interface Bullmq {
  withBackend(factory: unknown): BullmqClasses;
  readonly createPostgresBackend: unknown;
}

export const bullmqPostgres: Contender = {
  name: "bullmq",
  setup: `its PostgreSQL backend, ${BULLMQ_SETUP}`,
  missing: () => missingPackages("bullmq"),
  async open(place) {
    const { withBackend, createPostgresBackend } = (await load("bullmq")) as Bullmq;
    const connection = { connectionString: place, migrate: true };
    const session = await bullmqSession(withBackend(createPostgresBackend), connection);
    return {
      ...session,
      async describe() {
        const client = new pg.Client(place);
        await client.connect();
        const described = await describePostgres(client);
        await client.end();
        return described;
      },
    };
  },
};
