/** A service with moods: at most 20 calls in any second, else 429 with Retry-After; and now and then it is down for a while. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Tally {
  ok: number;
  tooMany: number;
  down: number;
  /** Most calls in any second. */
  mostInASecond: number;
}

export interface MoodyServer {
  readonly url: string;
  readonly tally: Tally;
  close(): Promise<void>;
}

const LIMIT = 20;
const WINDOW_MS = 1_000;

/** Down from `downAfterMs` on, for `downForMs`. */
export async function startServer(options: {
  readonly downAfterMs: number;
  readonly downForMs: number;
}): Promise<MoodyServer> {
  const tally: Tally = { ok: 0, tooMany: 0, down: 0, mostInASecond: 0 };
  const calls: number[] = [];
  let firstAt: number | null = null;
  const server = createServer((_, response) => {
    const now = performance.now();
    firstAt ??= now;
    while (calls.length > 0 && now - calls[0]! >= WINDOW_MS) calls.shift();
    calls.push(now);
    tally.mostInASecond = Math.max(tally.mostInASecond, calls.length);
    const sinceMs = now - firstAt;
    if (sinceMs >= options.downAfterMs && sinceMs < options.downAfterMs + options.downForMs) {
      tally.down += 1;
      response.writeHead(503).end();
    } else if (calls.length > LIMIT) {
      tally.tooMany += 1;
      response.writeHead(429, { "retry-after": "1" }).end();
    } else {
      tally.ok += 1;
      response.writeHead(200).end("{}");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    tally,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
