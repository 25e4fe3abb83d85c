/** What the four programs share: a Holdfast with a job type, and the server for it. */
import { createServer } from "@holdfast/server";
import { connect } from "holdfast/connect";

export const port = Number(process.env.PORT ?? 3000);

export const hf = await connect(process.env.HOLDFAST_URL ?? "sqlite:holdfast.db");
hf.define({ type: "mail.send", queue: "mail", run: async () => "sent" });
await hf.work();

export const jobs = createServer(hf, {
  basePath: "/admin/jobs",
  auth: { adminToken: process.env.HOLDFAST_ADMIN_TOKEN },
});

export function started(): void {
  console.log(`http://127.0.0.1:${port}/admin/jobs/api/docs`);
}

process.once("SIGTERM", () => {
  void jobs
    .close()
    .then(() => hf.close())
    .then(() => process.exit(0));
});
