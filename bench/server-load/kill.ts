/** Every job that was taken with 2xx ends exactly once, although a worker is killed in the middle. */
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Holdfast } from "holdfast";
import { sqliteStore } from "holdfast/sqlite";
import { judged, told, type Figure, type MeasureOptions } from "./figure.ts";
import { QUIET, start } from "./processes.ts";
import { job, send } from "./send.ts";

const CONNECTIONS = 64;

export async function measureKill(
  folder: string,
  { isSmall }: MeasureOptions,
): Promise<readonly Figure[]> {
  const file = join(folder, "kill.db");
  const server = await start("be-server", file);
  const first = await start("be-worker", file);
  const bodies = Array.from({ length: isSmall ? 2_000 : 20_000 }, (_, n) => job(n));
  const killing: { done: Promise<void> | null } = { done: null };
  const { ids, refused } = await send(server.port, bodies, {
    connections: CONNECTIONS,
    onAnswer(answered) {
      if (answered >= bodies.length / 2) killing.done ??= first.kill();
    },
  });
  await killing.done;
  const second = await start("be-worker", file);
  const hf = new Holdfast({ store: sqliteStore({ file }), logger: QUIET });
  try {
    await drained(hf);
    const ends = { gone: 0, "not succeeded": 0, "ended twice": 0 };
    let crashed = 0;
    for (const id of ids) {
      const found = await hf.job(id);
      const ended = found?.history.filter(({ outcome }) => outcome === "succeeded").length ?? 0;
      if (found === null) ends.gone += 1;
      else if (found.status !== "succeeded") ends["not succeeded"] += 1;
      if (ended > 1) ends["ended twice"] += 1;
      if (found?.history.some(({ outcome }) => outcome === "crashed") === true) crashed += 1;
    }
    const { load } = await hf.counts();
    const inAll = (load?.succeeded ?? 0) + (load?.dead ?? 0) + (load?.cancelled ?? 0);
    return [
      told(`enqueues over ${CONNECTIONS} connections, a worker killed`, String(bodies.length)),
      told("answered with 2xx, refused", `${ids.length}, ${refused}`),
      told("jobs that ran in the worker when it was killed", String(crashed)),
      ...Object.entries(ends).map(([what, number]) =>
        judged(`of those, ${what}`, String(number), "0", number === 0),
      ),
      judged("ends in the store", String(inAll), String(ids.length), inAll === ids.length),
    ];
  } finally {
    await Promise.all([server.kill(), second.kill(), hf.close()]);
  }
}

async function drained(hf: Holdfast): Promise<void> {
  for (;;) {
    const { load } = await hf.counts();
    if (load && load.ready + load.delayed + load.processing === 0) return;
    await pause(200);
  }
}
