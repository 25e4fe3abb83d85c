/** The programs that show the HTTP API in a server of one's own run as they are. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startProgram } from "../docs/started-program.ts";
import { freePort } from "../servers/free-port.ts";

const folder = fileURLToPath(new URL("../../examples/server", import.meta.url));
const token = "a-long-enough-token-for-an-example";

describe("examples/server", () => {
  it.concurrent.each(["plain-http", "express", "fastify", "hono"])(
    "%s serves jobs beside its own page",
    async (name) => {
      const port = await freePort();
      const place = await mkdtemp(join(tmpdir(), "holdfast-example-"));
      const program = await startProgram(`${name}.ts`, {
        cwd: folder,
        env: {
          ...{ PORT: String(port), HOLDFAST_ADMIN_TOKEN: token },
          HOLDFAST_URL: `sqlite:${join(place, "jobs.db")}`,
          NODE_OPTIONS: "--conditions=@holdfast/source",
        },
      });
      const url = `http://127.0.0.1:${port}`;
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const body = JSON.stringify({ type: "mail.send", payload: {} });
      const made = await fetch(`${url}/admin/jobs/api/v1/jobs`, { method: "POST", headers, body });
      expect(made.status).toBe(201);
      expect(await (await fetch(url)).text()).toBe("my own page");
      const stopped = await program.stop();
      expect(stopped).toMatchObject({ code: 0, stderr: "" });
      await rm(place, { recursive: true, force: true });
    },
  );
});
