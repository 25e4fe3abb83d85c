/** Who calls is found out in time, or the caller is told that it was not. */
import { afterEach, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

it("a caller who cannot be looked up in time is told so, also where a text is asked for", async () => {
  const user = () => new Promise<never>(() => {});
  served = await serve("sqlite", { timeoutMs: 50, auth: { user } });
  for (const path of ["/api/v1/jobs", "/metrics", "/api/v1/events"]) {
    const { status, headers, json } = await served.call("GET", path, { token: null });
    expect([path, status, json.error.code]).toEqual([path, 503, "query_timeout"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  }
});
