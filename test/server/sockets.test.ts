/** What happens to sockets ends no process, and is no mistake of the server. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Server } from "node:http";
import { request as send } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

const STARTED = "http.server.request.start";

/** The server of Node's that answers. */
async function nodeServer({ call }: Served): Promise<Server> {
  const seen: Server[] = [];
  const hear = (message: unknown) => void seen.push((message as { server: Server }).server);
  subscribe(STARTED, hear);
  await call("GET", "/healthz", { token: null });
  unsubscribe(STARTED, hear);
  return seen[0]!;
}

describe("a socket", () => {
  it("that could not be taken is logged, and the next one is answered", async () => {
    served = await serve("sqlite");
    const server = await nodeServer(served);
    const error = Object.assign(new Error("accept EMFILE"), { code: "EMFILE" });
    for (let refused = 0; refused < 3; refused += 1) server.emit("error", error);
    expect(served.said.filter((line) => line.includes("EMFILE"))).toHaveLength(1);
    expect((await served.call("GET", "/healthz", { token: null })).status).toBe(200);
  });

  it("that is cut in the middle of a body is no mistake of the server", async () => {
    served = await serve("sqlite", { enqueue: "any" });
    const headers = {
      ...{ authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      "content-length": "1000",
    };
    const cut = send(`${served.url}/api/v1/jobs`, { method: "POST", headers });
    cut.on("error", () => {});
    cut.write('{"type":"mail.send"', () => cut.destroy());
    const look = async () => (await served!.call("GET", "/metrics")).text;
    await expect.poll(look).toMatch(/route="\/api\/v1\/jobs",status="400"/);
    expect(served.said).toEqual([]);
  });
});
