/** Before and after a whole test run; see `server-desk.ts`. */
import { startPostgres } from "./postgres.ts";
import { ServerDesk } from "./server-desk.ts";

const desk = new ServerDesk({ postgres: startPostgres });

export async function setup(): Promise<void> {
  await desk.open();
}

export async function teardown(): Promise<void> {
  await desk.close();
}
