/** Sends enqueues over so many connections, each of which has one on its way at any time. */
import { Agent, request } from "node:http";
import { TOKEN } from "./processes.ts";

export interface Sent {
  /** Of what was answered with 201. */
  readonly ids: readonly string[];
  readonly refused: number;
}

export interface SendOptions {
  readonly connections: number;
  /** Called with how many bodies were answered so far. */
  readonly onAnswer?: (answered: number) => void;
}

export const job = (n: number) => ({
  ...{ type: "load", queue: "load", payload: { n, text: "x".repeat(150) } },
});

export async function send(
  port: number,
  bodies: readonly unknown[],
  { connections, onAnswer }: SendOptions,
): Promise<Sent> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const ids: string[] = [];
  let next = 0;
  let answered = 0;
  let refused = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (next < bodies.length) {
        const { status, text } = await post(port, JSON.stringify(bodies[next++]), agent);
        answered += 1;
        onAnswer?.(answered);
        if (status !== 201) {
          refused += 1;
          continue;
        }
        const { data } = JSON.parse(text) as { data: { id?: string; items?: { id: string }[] } };
        ids.push(...(data.items?.map(({ id }) => id) ?? [data.id ?? ""]));
      }
    }),
  );
  agent.destroy();
  return { ids, refused };
}

function post(port: number, body: string, agent: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...{ agent, port, host: "127.0.0.1", method: "POST", path: "/api/v1/jobs" },
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part: string) => (text += part));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      },
    );
    asked.once("error", reject);
    asked.end(body);
  });
}
