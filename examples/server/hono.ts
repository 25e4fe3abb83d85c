/** Hono, and with it whatever speaks `fetch`: Bun, Deno, Next, workers. */
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { jobs, port, started } from "./jobs.ts";

const app = new Hono();
app.get("/", (context) => context.text("my own page"));
app.mount("/admin/jobs", jobs.fetch);
serve({ fetch: app.fetch, port, hostname: "127.0.0.1" }, started);
