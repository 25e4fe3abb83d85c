/** A page elsewhere makes a browser write with whatever a login in front of the server goes by. */
import { afterEach, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

it("a form of another origin changes nothing, also where browsers say no more than where they are", async () => {
  served = await serve("sqlite", {
    auth: { user: () => ({ name: "ada", role: "operator" }) },
  });
  const { url, call } = served;
  const pause = async (headers: Record<string, string>) =>
    (await call("POST", "/api/v1/queues/mail/pause", { token: null, headers })).status;
  const evil = { origin: "http://evil.example" };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect(await pause(evil)).toBe(403);
  expect(await pause({ ...evil, ...form })).toBe(403);
  expect(await pause({ origin: "null", ...form })).toBe(403);
  expect(await pause({ ...evil, "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await served.data("GET", "/api/v1/queues", { token: null })).toMatchObject({ items: [] });
  // A page of its own, also behind a proxy that gives the server another name; a program says nothing.
  expect(await pause({ origin: url })).toBe(200);
  expect(await pause({ origin: "http://jobs.example", "x-forwarded-host": "jobs.example" })).toBe(
    200,
  );
  expect(await pause({})).toBe(200);
});
