/** The program: reads its settings, starts, waits for Ctrl-C, stops. Answers the exit code. */
import { parseArgs } from "node:util";
import { InvalidOptionError, HoldfastError } from "holdfast";
import { Pacing } from "@holdfast/pacing";
import { CfoQueue } from "./cfo/cfo-queue.ts";
import { isLoopback, readEnv, type Settings } from "./config/settings.ts";
import { CrmTarget } from "./crm/crm-target.ts";
import { Members } from "./crm/members.ts";
import { Data } from "./data/data.ts";
import { knownSampleUsers } from "./sample/known-sample-users.ts";
import { sampleActivity } from "./sample/sample-activity.ts";
import { sampleCrm } from "./sample/sample-crm.ts";
import { sampleInbox } from "./sample/sample-inbox.ts";
import { welcome } from "./sample/welcome.ts";
import { start, type Started } from "./start.ts";
import { StopSignal } from "./stop-signal.ts";

const OPTIONS = { sample: { type: "boolean" }, port: { type: "string" } } as const;
const USAGE = "The back office takes --sample (sample data and live work) and --port <n>";

export async function run(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  let settings: Settings;
  let isSampling: boolean;
  try {
    const { values } = parseArgs({ options: OPTIONS, args: [...argv] });
    isSampling = values.sample === true;
    settings = readEnv(values.port === undefined ? env : { ...env, PORT: values.port });
  } catch (error) {
    const isOurs = error instanceof InvalidOptionError;
    console.error(isOurs ? error.message : `${USAGE}: ${(error as Error).message}`);
    return 2;
  }
  for (const warning of settings.warnings) console.warn(warning);
  const stop = new StopSignal();
  try {
    const started = await start({ settings, seeds: isSampling });
    await live(started, settings, { isSampling, signal: stop.asked });
    console.log("Stopped. What waits stays in its store; npm start goes on with it.");
    return 0;
  } catch (error) {
    console.error(whyNot(error, settings));
    return 1;
  } finally {
    stop.forget();
  }
}

async function live(
  { app, url }: Started,
  settings: Settings,
  { isSampling, signal }: { readonly isSampling: boolean; readonly signal: Promise<string> },
): Promise<void> {
  const data = app.get(Data);
  const queue = app.get(CfoQueue, { strict: false });
  const onTrouble = (error: unknown) =>
    console.warn(`sample business: ${error instanceof Error ? error.message : String(error)}`);
  const users = isLoopback(settings.host) ? await knownSampleUsers(data) : [];
  if (isSampling) await sampleInbox(settings.imports.inbox).catch(onTrouble);
  const end = isSampling ? sampleActivity({ data, queue, onTrouble }) : async () => {};
  if (isSampling) {
    const parts = {
      target: app.get(CrmTarget),
      members: app.get(Members),
      pacing: app.get(Pacing),
    };
    await sampleCrm(parts).catch(onTrouble);
  }
  console.log(welcome({ url, settings, users, isSampling }));
  const name = await signal;
  console.log(`\n${name}: running jobs may end, for at most 5 seconds.`);
  await end();
  await app.close();
}

/** A sentence for what people can mend; a stack for what they cannot. */
function whyNot(error: unknown, { port, host }: Settings): string {
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === "EADDRINUSE") {
    return `port ${port} of ${host} is in use: stop what listens there, or take another\n  npm start -- --port 0`;
  }
  if (error instanceof HoldfastError) return message;
  const isAway = /ECONNREFUSED|ENOTFOUND|ETIMEDOUT|28P01|3D000|MongoServerSelection/;
  if (isAway.test(`${code} ${(error as Error).name} ${message}`)) {
    return `the database of DATABASE_URL cannot be used (${code ?? (error as Error).name}): is it running, and are user, password and name right?`;
  }
  return stack ?? message;
}
