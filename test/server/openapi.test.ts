/** The table of routes, the document made from it, and requests drawn from that document. */
import { readFile } from "node:fs/promises";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { allRoutes, createServer, openApiDocument, route, type Route } from "@holdfast/server";
import { classic } from "@holdfast/server/classic";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { z } from "zod";
import { httpReference } from "../../scripts/http-reference.ts";
import { inTier } from "../runner/tier.ts";
import { drawRequest, seededDraw } from "./draw-request.ts";
import { serve, type Served } from "./served.ts";

const routes = allRoutes([classic()]);

describe("the table of routes", () => {
  it("declares role, schemas, scope and audit of every route", () => {
    expect(routes.length).toBeGreaterThan(60);
    for (const one of routes) {
      expect(["anyone", "viewer", "operator", "admin"]).toContain(one.role);
      if (one.method !== "GET" && one.isHarmless !== true) expect(one.role).not.toBe("viewer");
    }
    const open = routes.filter(({ role }) => role === "anyone").map(({ path }) => path);
    expect(open).toEqual(["/", "/assets/:file", "/healthz", "/readyz", "/api/docs.css"]);
  });

  it("keeps a server from starting when a route leaves something out", async () => {
    const hf = new Holdfast({ store: memoryStore() });
    const whole = route({
      ...{ method: "POST", path: "/mine", role: "operator", summary: "Mine.", query: null },
      ...{ body: null, answer: z.strictObject({}), scope: "whole", audit: "noted: mine" },
      run: async () => ({}),
    });
    const start = (one: Partial<Route>) =>
      createServer(hf, { mounts: [{ name: "mine", routes: [one as Route] }] });
    expect(() => start(whole)).not.toThrow();
    for (const part of ["role", "query", "body", "answer", "scope", "audit", "summary"] as const) {
      const { [part]: _, ...rest } = whole;
      expect(() => start(rest as Partial<Route>), part).toThrow(/route POST \/mine/);
    }
    expect(() => start({ ...whole, audit: null })).toThrow(/no audit entry/);
    expect(() => start({ ...whole, path: "/api/v1/jobs" })).toThrow(/two routes/);
    await hf.close();
  });
});

describe("the OpenAPI document", () => {
  const document = openApiDocument(routes) as {
    paths: Record<string, Record<string, never>>;
    components: { schemas: Record<string, object> };
  };
  let served: Served;

  beforeAll(async () => {
    served = await serve("sqlite", { enqueue: "any", mounts: [classic()], checkAnswers: false });
    served.hf.define({ type: "mail.send", queue: "mail", run: async () => null });
    await served.hf.work();
  });
  afterAll(() => served?.close());

  it("is a valid one, and says what each route takes and answers", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
    expect(Object.keys(document.paths)).toHaveLength(new Set(routes.map(({ path }) => path)).size);
  });

  it("docs/reference/http.md is made from it", async () => {
    const page = await readFile(new URL("../../docs/reference/http.md", import.meta.url), "utf8");
    expect(page).toBe(await httpReference());
  });

  it(
    "requests drawn from it find no 500 and no answer that breaks its schema",
    { timeout: 600_000 },
    async () => {
      const seed = Number(process.env["HOLDFAST_FUZZ_SEED"] ?? 1);
      const draw = seededDraw(seed);
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      ajv.addSchema({ $id: "doc", ...document });
      const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => ({ path, method })),
      );
      const wrong: string[] = [];
      const statuses = new Map<number, number>();
      const ids: string[] = [];
      for (let n = inTier({ daily: 400, full: 20_000 }); n > 0 && wrong.length < 5; n -= 1) {
        const { path, method } = draw.of(operations);
        if (path === "/api/v1/events") continue;
        const asked = drawRequest({ document, path, method, draw, ids });
        const { status, json, text } = await served.call(
          method.toUpperCase(),
          asked.path,
          asked.options,
        );
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const about = `seed ${seed}: ${method} ${asked.path} ${JSON.stringify(asked.options.body)?.slice(0, 300)}`;
        // A version of the library without a feature says so.
        if (status >= 500 && status !== 501) wrong.push(`${status} ${about} ${text.slice(0, 500)}`);
        const id = (json as { data?: { id?: unknown } } | null)?.data?.id;
        if (typeof id === "string" && ids.length < 100) ids.push(id);
        const pointer = `doc#/paths/${escaped(path)}/${method}/responses/${status}`;
        const isError = status >= 400 && ![503].includes(status);
        const schema = isError
          ? "doc#/components/schemas/Error"
          : `${pointer}/content/application~1json/schema`;
        if (json === null) continue;
        const validate = ajv.getSchema(schema);
        if (!validate) wrong.push(`${status} is not declared: ${about}`);
        else if (!validate(json))
          wrong.push(`${ajv.errorsText(validate.errors)}: ${about} ${text.slice(0, 500)}`);
      }
      expect(wrong).toEqual([]);
      expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 404, 422]));
    },
  );
});

function escaped(path: string): string {
  return encodeURIComponent(path.replaceAll("~", "~0").replaceAll("/", "~1"));
}
