/** What is stored of a payload is what was sent. */
import { afterEach, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

it("a payload that is left out is empty, and null is one like any other", async () => {
  const { data } = (served = await serve("sqlite", { enqueue: "any" }));
  const payloadOf = async ({ id }: { id: string }) =>
    (await data("POST", `/api/v1/jobs/${id}/reveal`)).payload;
  const item = { type: "mail.send", queue: "mail", delayMs: 60_000 };
  for (const [body, payload] of [
    [item, {}],
    [{ ...item, payload: null }, null],
  ] as const) {
    const one = await data("POST", "/api/v1/jobs", { body });
    const [many] = (await data("POST", "/api/v1/jobs", { body: { items: [body] } })).items;
    expect([await payloadOf(one), await payloadOf(many)]).toEqual([payload, payload]);
    const { delayMs: _, ...job } = body;
    await data("PUT", "/api/v1/schedules/beat", { body: { everyMs: 60_000, job } });
    expect(await data("GET", "/api/v1/schedules/beat")).toMatchObject({ job: { payload } });
  }
});
