/** What the audit says of what the server notes by itself. */
import { afterEach, describe, expect, it } from "vitest";
import { serve, type Served } from "./served.ts";

let served: Served | null = null;
afterEach(async () => {
  await served?.close();
  served = null;
});

describe("the audit", () => {
  it("says of a reveal which job and why, and of a new token which one and what it may", async () => {
    served = await serve("sqlite", { enqueue: "any" });
    const about = { queue: "mail", delayMs: 60_000 };
    const { id } = await served.hf.enqueue("mail.send", { apiKey: "x" }, about);
    const body = { reason: "the customer asked" };
    await served.data("POST", `/api/v1/jobs/${id}/reveal`, { body });
    const [revealed] = (await served.data("GET", `/api/v1/audit?jobId=${id}`)).items;
    expect(revealed).toMatchObject({
      ...{ action: "reveal job", by: "admin token", jobId: id, queue: "mail" },
      reason: "the customer asked",
    });
    const made = await served.data("POST", "/api/v1/tokens", {
      body: { role: "operator", name: "laptop", queues: ["mail"] },
    });
    const entries = (await served.data("GET", "/api/v1/audit")).items;
    const noted = entries.find(({ action }: { action: string }) => action === "create token");
    expect(noted.details).toMatchObject({ id: made.token.id, role: "operator", queues: ["mail"] });
    expect(JSON.stringify(noted)).not.toContain(made.secret);
  });
});
