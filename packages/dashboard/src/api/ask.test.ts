import { afterEach, describe, expect, it, vi } from "vitest";
import { ask } from "./ask.ts";

const answers = (make: () => Response | Promise<Response>) =>
  vi.stubGlobal("fetch", async () => make());

describe("what a page asks the server for", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("is the data of an answer, or the whole of it where a mount has a shape of its own", async () => {
    answers(() => Response.json({ success: true, data: { n: 1 } }));
    expect(await ask("GET", "overview")).toEqual({ n: 1 });
    expect(await ask("GET", "/api/simulations")).toEqual({ success: true, data: { n: 1 } });
  });

  it("is an error where something else answers in the server's place", async () => {
    for (const text of ["<!doctype html><title>Log in</title>", "", '"ok"', "null", "{}"]) {
      answers(() => new Response(text, { status: 200 }));
      await expect(ask("GET", "overview"), text).rejects.toMatchObject({
        ...{ name: "ApiError", code: "no_json" },
      });
    }
  });

  it("is no answer where the connection ends in the middle of one", async () => {
    const cut = () =>
      new ReadableStream({
        start: (controller) => controller.error(new TypeError("terminated")),
      });
    answers(() => new Response(cut(), { status: 200 }));
    await expect(ask("GET", "overview")).rejects.toMatchObject({ name: "ApiError", status: 0 });
  });

  it("may have been done all the same, where a write has no answer", async () => {
    answers(() => Promise.reject(new TypeError("fetch failed")));
    await expect(ask("POST", "jobs", { body: {} })).rejects.toThrow("may have done it");
    await expect(ask("GET", "jobs")).rejects.toThrow(/^The server does not answer\.$/);
  });
});
