/** A team that moves from BullMQ runs both for a while: one program, one ioredis 5, one Redis. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { onlyInFull } from "../runner/tier.ts";
import { serverUrl } from "../servers/server-desk.ts";
import { installPackage, npm } from "./install-package.ts";

const PROGRAM = `
import { Queue, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Holdfast } from "holdfast";
import { redisStore } from "holdfast/redis";

const connection = new Redis(process.env.URL, { maxRetriesPerRequest: null });
const prefix = "beside" + process.pid;
const old = new Queue("mail", { connection, prefix });
const events = new QueueEvents("mail", { connection, prefix });
const worker = new Worker("mail", async (job) => "old " + job.data.to, { connection, prefix });
const hf = new Holdfast({ store: redisStore({ client: connection, prefix: "hf" + process.pid }) });
hf.define({ type: "mail", run: (job) => "new " + job.payload.to });
await hf.work();
const [before, now] = await Promise.all([
  old.add("mail", { to: "ann" }).then((job) => job.waitUntilFinished(events, 20_000)),
  hf.enqueue("mail", { to: "bob" }).then((receipt) => hf.waitFor(receipt)),
]);
console.log(before, now.status, now.result);
await hf.close();
await worker.close();
await events.close();
await old.obliterate({ force: true });
await old.close();
connection.disconnect();
`;

describe("beside BullMQ", () => {
  it(
    "ioredis 5, bullmq and holdfast install without an override, and run in one program",
    { timeout: 180_000 },
    async (context) => {
      onlyInFull(context);
      const installed = await installPackage();
      onTestFinished(() => installed.remove());
      const cwd = join(installed.folder, "../both");
      await mkdir(cwd);
      await writeFile(join(cwd, "package.json"), `{ "private": true, "type": "module" }\n`);
      const packages = ["ioredis@5", "bullmq", installed.tarball];
      const got = await npm(["install", "--no-audit", "--no-fund", ...packages], { cwd });
      expect(got).toMatchObject({ code: 0 });
      await writeFile(join(cwd, "program.mjs"), PROGRAM);
      const env = { URL: await serverUrl("redis") };
      const ran = await installed.node(["program.mjs"], { cwd, env });
      expect(ran).toMatchObject({ code: 0, stdout: "old ann succeeded new bob\n" });
    },
  );
});
