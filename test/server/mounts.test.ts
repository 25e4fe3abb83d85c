/** The server stands in whatever HTTP a user has, under any path. */
import { createServer as createHttp, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import Fastify from "fastify";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServer, type HoldfastServer } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { ADMIN_TOKEN } from "./served.ts";

type Start = (server: HoldfastServer) => Promise<{ url: string; stop(): Promise<unknown> | void }>;

async function listening(http: Server) {
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return { url, stop: () => (http.closeAllConnections(), void http.close()) };
}

const MOUNTS: Readonly<Record<string, Start>> = {
  async "plain http"(server) {
    return listening(createHttp((request, response) => server.node(request, response)));
  },
  async "Express 5"(server) {
    const app = express();
    app.use("/admin/jobs", (request, response) => server.node(request, response));
    return listening(createHttp(app));
  },
  async "Express 5 behind express.json()"(server) {
    const app = express();
    app.use(express.json());
    app.use("/admin/jobs", (request, response) => server.node(request, response));
    return listening(createHttp(app));
  },
  async "Fastify 5"(server) {
    const app = Fastify();
    // The server reads bodies itself.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, done) => done(null));
    app.all("/admin/jobs/*", (request, reply) => {
      reply.hijack();
      server.node(request.raw, reply.raw);
    });
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    return { url, stop: () => app.close() };
  },
  async Hono(server) {
    const app = new Hono();
    app.mount("/admin/jobs", server.fetch);
    return listening(createHttp(getRequestListener(app.fetch)));
  },
};

describe.each(Object.keys(MOUNTS))("mounted in %s", (name) => {
  const hf = new Holdfast({ store: memoryStore() });
  const server = createServer(hf, { auth: { adminToken: ADMIN_TOKEN }, basePath: "/admin/jobs" });
  let mounted: Awaited<ReturnType<Start>>;

  beforeAll(async () => {
    hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    mounted = await (MOUNTS[name] as Start)(server);
  });
  afterAll(async () => {
    await server.close();
    await mounted.stop();
    await hf.close();
  });

  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${mounted.url}/admin/jobs${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });

  it("it answers, takes bodies, and knows where it is", async () => {
    expect((await call("GET", "/healthz")).status).toBe(200);
    const made = await call("POST", "/api/v1/jobs", { type: "mail.send", payload: { n: 1 } });
    expect(made.status).toBe(201);
    const { data } = (await made.json()) as { data: { id: string } };
    const seen = (await (await call("GET", `/api/v1/jobs/${data.id}`)).json()) as { data: object };
    expect(seen.data).toMatchObject({ payload: { n: 1 } });
    const document = (await (await call("GET", "/api/openapi.json")).json()) as {
      servers: unknown;
    };
    expect(document.servers).toEqual([{ url: "/admin/jobs" }]);
    const login = await call("POST", "/api/v1/session");
    expect(login.headers.get("set-cookie")).toContain("Path=/admin/jobs;");
    expect((await call("GET", "/api/v1/none")).status).toBe(404);
  });

  it("events stream through it", async () => {
    const abort = new AbortController();
    const answer = await fetch(`${mounted.url}/admin/jobs/api/v1/events`, {
      ...{ headers: { authorization: `Bearer ${ADMIN_TOKEN}` }, signal: abort.signal },
    });
    const decoder = new TextDecoder();
    let text = "";
    for await (const part of answer.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(part, { stream: true });
      if (text.includes("event: overview")) break;
    }
    expect(text).toContain("event: overview");
    abort.abort();
  });
});
