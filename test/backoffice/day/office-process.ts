/**
 * One process of the back office, as it is built. It says on its output where it listens, and stands still at the
 * point that it is told to, at its start or on its input, so that it can be killed exactly there. Release 2 has another
 * handler for recalculations.
 */
import { createInterface } from "node:readline";
import { HubSpotClient } from "@holdfast/crm";
import type { readEnv as ReadEnv } from "../../../apps/backoffice/src/config/settings.ts";
import type { start as Start } from "../../../apps/backoffice/src/start.ts";

/**
 * `import`: behind a batch of rows that is written. `recalc`: behind a month that is recomputed. `contacts`, `deals`:
 * the CRM has written such an object, and nobody knows of it yet.
 */
export type Point = "import" | "recalc" | "contacts" | "deals";

export interface Stand {
  readonly point: Point;
  /** At which time that it comes there, from now on. */
  readonly nth: number;
}

/** A line of its input. */
export type Command = { readonly stand: Stand } | "go on";

export interface OfficeProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly release: 1 | 2;
  readonly seeds?: boolean;
  /** Where it stands still. */
  readonly standAt?: Stand | undefined;
}

type Method = (this: unknown, ...given: unknown[]) => unknown;
type Methods = Record<string, Method>;

const DIST = new URL("../../../apps/backoffice/dist/", import.meta.url);
const {
  env,
  release,
  seeds = false,
  standAt,
} = JSON.parse(process.argv[2] ?? "{}") as OfficeProcessOptions;
const say = (word: string) => void process.stdout.write(`${word}\n`);
const built = (path: string) => import(new URL(path, DIST).href) as Promise<object>;
const methodsOf = async (path: string, name: string) =>
  ((await built(path)) as Record<string, { prototype: Methods }>)[name]?.prototype as Methods;

let stand: (Stand & { left: number }) | null = standAt ? { ...standAt, left: standAt.nth } : null;
let goesOn = Promise.withResolvers<void>();
async function pass(point: Point): Promise<void> {
  if (stand?.point !== point) return;
  stand.left -= 1;
  if (stand.left !== 0) return;
  say(`stands ${point}`);
  await goesOn.promise;
}

function obey(command: Command): void {
  goesOn.resolve();
  stand = command === "go on" ? null : { ...command.stand, left: command.stand.nth };
  goesOn = Promise.withResolvers();
}
createInterface({ input: process.stdin })
  .on("line", (line) => obey(JSON.parse(line) as Command))
  // The test is gone: no other process would end this one.
  .on("close", () => process.exit(3));

function wrap(methods: Methods, name: string, around: (run: Method) => Method): void {
  methods[name] = around(methods[name] as Method);
}

wrap(await methodsOf("imports/import-targets.js", "ImportTargets"), "of", (of) => {
  return function (table) {
    const target = of.call(this, table) as Methods;
    wrap(target, "write", (write) => {
      return async function (batch) {
        const answer = await write.call(target, batch);
        await pass("import");
        return answer;
      };
    });
    return target;
  };
});
wrap(await methodsOf("cfo/bookkeeping.js", "Bookkeeping"), "snapshot", (snapshot) => {
  return async function (...given) {
    const answer = await snapshot.apply(this, given);
    await pass("recalc");
    return answer;
  };
});
wrap(HubSpotClient.prototype as unknown as Methods, "upsertOne", (upsertOne) => {
  return async function (object, ...given) {
    const answer = await upsertOne.call(this, object, ...given);
    if (object === "contacts" || object === "deals") await pass(object);
    return answer;
  };
});
if (release === 2) {
  wrap(await methodsOf("cfo/cfo-handlers.js", "CfoHandlers"), "recalc", (recalc) => {
    return async function (job) {
      return { ...((await recalc.call(this, job)) as object), release };
    };
  });
}

const { readEnv } = (await built("config/settings.js")) as { readEnv: typeof ReadEnv };
const { start } = (await built("start.js")) as { start: typeof Start };
const settings = readEnv({ ...env, PORT: "0", HOLDFAST_APP_VERSION: `${release}.0.0` });
const { app, url } = await start({ settings, seeds, isQuiet: true });
process.on("SIGTERM", () => void app.close().then(() => process.exit(0)));
say(`up ${url}`);
