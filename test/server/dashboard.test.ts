/** The dashboard's page and assets, as the server answers them. */
import { existsSync, readdirSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { get } from "node:http";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";
import { pageOf } from "../../packages/server/src/routes/dashboard.ts";

const dist = new URL("../../packages/server/dist/dashboard/", import.meta.url);
const MOST_KB = 150;

describe("the dashboard's page", () => {
  let served: Served;
  const none = { token: null };

  beforeAll(async () => {
    served = await serve("sqlite", { basePath: "/jobs", environment: { name: "prod <b>" } });
  });
  afterAll(() => served?.close());

  const isBuilt = existsSync(new URL("index.html", dist));

  it("is there for anyone, holds no data, and lets nothing in from elsewhere", async (test) => {
    test.skip(!isBuilt, "the dashboard is not built");
    const { status, text, headers } = await served.call("GET", "/", none);
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(text).toContain("<title>prod &lt;b&gt; · Holdfast</title>");
    expect(text).not.toContain("<b>");
    expect(text).not.toMatch(/<script(?![^>]* src="\/jobs\/assets\/)/);
    expect(text).not.toMatch(/<style|style=|https?:/);
  });

  it("answers assets by name, small where a browser takes that, and nothing else", async (test) => {
    test.skip(!isBuilt, "the dashboard is not built");
    const name = readdirSync(new URL("assets/", dist)).find((one) => one.endsWith(".js")) ?? "";
    const whole = readFileSync(new URL(`assets/${name}`, dist));
    const { status, headers } = await served.call("GET", `/assets/${name}`, none);
    expect([status, headers.get("cache-control")]).toEqual([
      ...[200, "public, max-age=31536000, immutable"],
    ]);
    expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const sent = await raw(`${served.url}/assets/${name}`);
    expect(sent.encoding).toBe("gzip");
    expect(sent.bytes.length).toBeLessThan(whole.length / 2);
    expect(gunzipSync(sent.bytes).equals(whole)).toBe(true);
    for (const wrong of [
      "none.js",
      "..%2findex.html",
      "%2e%2e%2f%2e%2e%2fpackage.json",
      "index.html",
    ]) {
      expect((await served.call("GET", `/assets/${wrong}`, none)).status).toBe(404);
    }
  });

  it("is under 150 kB gzipped in all", (test) => {
    test.skip(!isBuilt, "the dashboard is not built");
    const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const sizes = files.map(
      (one) => gzipSync(readFileSync(`${one.parentPath}/${one.name}`)).length,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0) / 1000).toBeLessThan(MOST_KB);
  });

  it("asks for everything beside itself where no base path is known", () => {
    const page = '<title>Holdfast</title><meta content="%HOLDFAST%"><script src="./assets/a.js">';
    expect(pageOf(page, "", null)).toBe(
      '<title>Holdfast</title><meta content="{&quot;base&quot;:&quot;.&quot;,&quot;environment&quot;:null}"><script src="./assets/a.js">',
    );
    expect(pageOf(page, "/x", { name: "$& $1" })).toContain("<title>$&amp; $1 · Holdfast</title>");
  });

  it("can be left out", async () => {
    const without = await serve("sqlite", { dashboard: false });
    expect((await without.call("GET", "/")).status).toBe(404);
    await without.close();
  });
});

/** As a browser gets it: fetch would unpack it. */
function raw(url: string): Promise<{ bytes: Buffer; encoding: string | undefined }> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { "accept-encoding": "gzip, br" } }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          bytes: Buffer.concat(parts),
          encoding: response.headers["content-encoding"],
        }),
      );
    }).on("error", reject);
  });
}
