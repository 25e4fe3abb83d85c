/** A second target on the same sync: not HubSpot, and all of the rest is the same. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineSync, restSync } from "@holdfast/crm";
import { InvalidOptionError } from "holdfast";
import { testHoldfast } from "holdfast/testing";

describe("a sync of a REST target", () => {
  const kept = new Map<string, string>();
  const answers: { status: number; headers?: Record<string, string> }[] = [];
  let server: Server;
  let baseUrl: string;
  beforeEach(async () => {
    kept.clear();
    answers.length = 0;
    server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const { status, headers } = answers.shift() ?? { status: 200 };
        if (status < 300 && request.method === "PUT") {
          kept.set(request.url!, Buffer.concat(parts).toString());
        }
        if (status < 300 && request.method === "DELETE") kept.delete(request.url!);
        response.writeHead(status, headers).end();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api`;
  });
  afterEach(() => void server.close());

  it("saves and removes records in their order, past trouble and patience", async () => {
    const t = testHoldfast();
    const desk = restSync({ name: "desk", baseUrl, token: "secret-token" }).attach(t.hf);
    answers.push({ status: 503 }, { status: 429, headers: { "retry-after": "60" } });
    const target = { resource: "people", id: "7" };
    await desk.enqueue("save", { ...target, body: { name: "Ada" } });
    await desk.enqueue("save", { ...target, body: { name: "Ada L." } });
    await desk.enqueue("save", { resource: "people", id: "8", body: {} });
    await desk.enqueue("remove", { resource: "people", id: "8" });
    for (let minute = 0; minute < 8; minute += 1) {
      await t.drain();
      await t.advance(60_000);
    }
    expect([...kept]).toEqual([["/api/people/7", '{"name":"Ada L."}']]);
    expect((await t.hf.counts())["desk"]).toMatchObject({ succeeded: 4, dead: 0 });
    await t.hf.close();
  });

  it("ends jobs whose rights are refused, and names what a payload lacks", async () => {
    const t = testHoldfast();
    const desk = restSync({ name: "desk", baseUrl }).attach(t.hf);
    answers.push({ status: 403 });
    const { id } = await desk.enqueue("save", { resource: "people", id: "7", body: 1 });
    await t.drain();
    expect((await t.hf.job(id))?.status).toBe("dead");
    await expect(desk.enqueue("save", { resource: "people" } as never)).rejects.toThrow(/id/);
    await t.hf.close();
  });

  it("refuses definitions that cannot work", () => {
    const operations = {
      x: { payload: {}, record: () => "", load: () => Promise.reject(new Error()) },
    } as never;
    const client = () => ({});
    expect(() => defineSync({ name: "Desk!", operations, client })).toThrow(InvalidOptionError);
    expect(() => defineSync({ name: "desk", operations: {}, client })).toThrow(/operations/);
    expect(() => defineSync({ name: "desk", operations, client: 7 as never })).toThrow(/client/);
    expect(() => defineSync({ name: "desk", operations, client, enable: ["y"] })).toThrow(/"y"/);
    expect(() => defineSync({ name: "desk", operations, clint: 1 } as never)).toThrow(/client/);
    expect(() => restSync({ name: "desk", baseUrl: "ftp://x" })).toThrow(/baseUrl/);
    const hidden = ["https://me:hunter2@crm.example.com", "https://crm.example.com?k=hunter2"];
    for (const address of hidden) {
      const define = () => restSync({ name: "desk", baseUrl: address });
      expect(define).toThrow(/^(?!.*hunter2).*give credentials as token/);
    }
  });
});
