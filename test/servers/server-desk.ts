/**
 * Real servers for a test run, started when the first test asks and shared by all test files. The
 * desk stands in vitest's main process, which starts and stops them; test files run in processes of
 * their own and ask it over a socket. So a run that needs no server starts none.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

export interface TestServer {
  readonly url: string;
  /** Where it came from, for people. */
  readonly how: string;
  stop(): Promise<void>;
}

/** The package is no server, but is made once and shared in the same way. */
export type ServerName =
  "postgres" | "mongodb" | "mongodb-standalone" | "redis" | "redis-cluster" | "package";

/** Where test processes find the desk: a port of this machine. */
const DESK_VARIABLE = "HOLDFAST_TEST_DESK_PORT";

export class ServerDesk {
  readonly #start: Readonly<Record<ServerName, () => Promise<TestServer>>>;
  readonly #started = new Map<string, Promise<TestServer>>();
  readonly #socket: Server;

  constructor(start: Readonly<Record<ServerName, () => Promise<TestServer>>>) {
    this.#start = start;
    this.#socket = createServer((asking) => this.#answer(asking));
  }

  async open(): Promise<void> {
    this.#socket.listen(0, "127.0.0.1");
    await once(this.#socket, "listening");
    // A desk that nobody closes must not keep its process alive.
    this.#socket.unref();
    process.env[DESK_VARIABLE] = String((this.#socket.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    this.#socket.close();
    delete process.env[DESK_VARIABLE];
    for (const starting of this.#started.values()) {
      const server = await starting.catch(() => null);
      await server?.stop();
    }
    this.#started.clear();
  }

  #answer(asking: Socket): void {
    asking.setEncoding("utf8");
    asking.on("error", () => asking.destroy());
    asking.once("data", (name: string) => {
      this.#server(name).then(
        ({ url }) => asking.end(JSON.stringify({ url })),
        (error: unknown) => asking.end(JSON.stringify({ error: String(error) })),
      );
    });
  }

  #server(name: string): Promise<TestServer> {
    const known = this.#started.get(name);
    if (known !== undefined) return known;
    if (!Object.hasOwn(this.#start, name)) throw new Error(`no server is called "${name}"`);
    const starting = this.#start[name as ServerName]().then((server) => {
      console.log(`test server ${name}: ${server.how}`);
      return server;
    });
    this.#started.set(name, starting);
    return starting;
  }
}

/** The URL of a server of this run; the first to ask waits until it is started. */
export async function serverUrl(name: ServerName): Promise<string> {
  const port = Number(process.env[DESK_VARIABLE]);
  if (!(port > 0)) {
    throw new Error("no test servers here: run this file with vitest, which opens their desk");
  }
  const socket = connect(port, "127.0.0.1");
  socket.setEncoding("utf8");
  socket.write(name);
  let text = "";
  for await (const part of socket) text += part as string;
  const answer = JSON.parse(text) as { readonly url?: string; readonly error?: string };
  if (answer.url === undefined) throw new Error(`no ${name} for tests: ${answer.error}`);
  return answer.url;
}
