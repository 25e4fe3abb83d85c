/** Starts everything, says where it is and what to try, and stops cleanly at the first Ctrl-C. */
import { randomBytes } from "node:crypto";
import { createServer } from "@holdfast/server";
import { InvalidOptionError, StoreUnavailableError } from "holdfast";
import { connect } from "holdfast/connect";
import { sampleWork } from "./sample-work.ts";
import { untilStopped } from "./until-stopped.ts";
import { welcome } from "./welcome.ts";

const GRACE_MS = 5_000;

/** Answers the exit code. */
export async function live({ port }: { readonly port: string }): Promise<number> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    console.error(`a port is a number from 0 to 65535, not ${port.slice(0, 40)}`);
    return 2;
  }
  const stop = untilStopped();
  const store = process.env.HOLDFAST_URL ?? "sqlite:holdfast.db";
  const token = process.env.HOLDFAST_ADMIN_TOKEN ?? `live_${randomBytes(18).toString("base64url")}`;
  try {
    const hf = await connect(store, {
      // It runs for days if you let it: what is done may go.
      retention: { succeeded: { maxCount: 5_000 }, dead: { maxCount: 500 } },
    });
    const server = createServer(hf, { auth: { adminToken: token } });
    try {
      // First the port: where it is taken, nothing has been started.
      const { url } = await server.listen({ port: Number(port) });
      const work = await sampleWork(hf);
      console.log(await welcome({ url, token, store }));
      const signal = await stop.signal;
      console.log(`\n${signal}: running jobs may end, for at most ${GRACE_MS / 1_000} seconds.`);
      await work.stop();
    } finally {
      await server.close();
      await hf.close({ graceMs: GRACE_MS });
    }
    console.log(
      `Stopped. What waits stays in ${shown(store)}; npm start -- --live goes on with it.`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof InvalidOptionError || error instanceof StoreUnavailableError))
      throw error;
    console.error(error.message);
    if (/ in use/.test(error.message)) console.error("  npm start -- --live --port 0");
    return 1;
  } finally {
    stop.forget();
  }
}

/** A password in a URL is not for a screen. */
function shown(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//…@");
}
