/** What listeners cost that do not read: memory, and the delay of the server's event loop. */
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { judged, told, type Figure, type MeasureOptions } from "./figure.ts";
import { start, TOKEN } from "./processes.ts";

const MOST_GROWTH = 1.2;
const MOST_LAG_MS = 50;

export async function measureListeners(
  folder: string,
  { isSmall }: MeasureOptions,
): Promise<readonly Figure[]> {
  const [count, earlyS, lateS] = isSmall ? [50, 5, 15] : [500, 60, 300];
  const server = await start("be-server", join(folder, "events.db"));
  const heard = { bytes: 0 };
  const sockets = Array.from({ length: count }, (_, n) => listen(server.port, n % 10 === 0, heard));
  try {
    await pause(earlyS * 1_000);
    const early = await residentMiB(server.pid);
    await lagMs(server.port);
    await pause((lateS - earlyS) * 1_000);
    const late = await residentMiB(server.pid);
    const lag = await lagMs(server.port);
    const growth = late / early;
    return [
      told("listeners, of which stop reading", `${count}, ${count / 10}`),
      told("heard by those that read, MiB", (heard.bytes / 2 ** 20).toFixed(1)),
      told(`resident after ${earlyS} s, MiB`, early.toFixed(0)),
      told(`resident after ${lateS} s, MiB`, late.toFixed(0)),
      judged("that is", `${growth.toFixed(2)} times`, "at most 1.20", growth <= MOST_GROWTH),
      judged("event loop, p99, ms", lag.toFixed(1), `under ${MOST_LAG_MS}`, lag < MOST_LAG_MS),
    ];
  } finally {
    for (const socket of sockets) socket.destroy();
    await server.kill();
  }
}

function listen(port: number, isDeaf: boolean, heard: { bytes: number }): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`);
  // A deaf one hears nothing, and does not hang up.
  if (isDeaf) socket.pause();
  else socket.on("data", ({ length }) => (heard.bytes += length));
  return socket;
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

async function lagMs(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${TOKEN}` };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  return Number(/^holdfast_event_loop_lag_seconds (\S+)/m.exec(text)?.[1]) * 1_000;
}
