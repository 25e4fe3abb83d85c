/**
 * A TCP proxy that fails on command: cuts, swallows everything, lets requests through and loses the
 * replies, or is slow. What it swallowed is gone for good, as behind a firewall that forgot a
 * connection: after it has healed, only new connections work. What was slow arrives, in order.
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** `open`: passes everything. `hole`: passes nothing. */
export type ProxyMode = "open" | "hole";

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** `deaf`: requests arrive, replies do not. Whatever it was once, it stays. */
  mode: ProxyMode | "deaf";
}

export class FaultProxy {
  #target: URL;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #mode: ProxyMode = "open";
  #delayMs = 0;

  constructor(targetUrl: string) {
    this.#target = new URL(targetUrl);
    this.#server = createServer({ allowHalfOpen: false }, (client) => this.#accept(client));
  }

  /** The URL through which the server is reached now. */
  async open(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** From now on new connections lead elsewhere; those that are there stay, as behind a name that moved. */
  lead(targetUrl: string): void {
    this.#target = new URL(targetUrl);
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** From now on, for connections that are there and for new ones. */
  set(mode: ProxyMode): void {
    this.#mode = mode;
    if (mode !== "open") for (const pair of this.#pairs) pair.mode = mode;
  }

  /** From now on, connections that are there lose all their replies; new ones do not. */
  deafen(): void {
    for (const pair of this.#pairs) pair.mode = "deaf";
  }

  /** From now on everything takes so much longer, each way. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** New connections go there from now on; those that are there stay where they are, as with a DNS name. */
  follow(targetUrl: string): void {
    this.#target = new URL(targetUrl);
  }

  /** Ends every connection. */
  cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const pair: Pair = { client, server, mode: this.#mode };
    this.#pairs.add(pair);
    // It must not add a delay of its own.
    for (const socket of [client, server]) socket.setNoDelay(true);
    const [there, back] = [new Pipe(server), new Pipe(client)];
    client.on("data", (data) => {
      if (pair.mode !== "hole") there.send(data, this.#delayMs);
    });
    server.on("data", (data) => {
      if (pair.mode === "open") back.send(data, this.#delayMs);
    });
    const over = (): void => {
      this.#pairs.delete(pair);
      client.destroy();
      // A hole swallows farewells too: the server keeps its end open.
      if (pair.mode === "open") server.destroy();
      else server.end();
    };
    for (const socket of [client, server]) {
      socket.on("error", over);
      socket.on("close", over);
    }
  }
}

/** One direction of a connection. Bytes arrive in the order in which they were sent, however late. */
class Pipe {
  readonly #to: Socket;
  readonly #late: { readonly dueAt: number; readonly data: Uint8Array | string }[] = [];

  constructor(to: Socket) {
    this.#to = to;
  }

  send(data: Uint8Array | string, delayMs: number): void {
    if (delayMs === 0 && this.#late.length === 0) {
      this.#to.write(data);
      return;
    }
    this.#late.push({ dueAt: performance.now() + delayMs, data });
    if (this.#late.length === 1) this.#wait();
  }

  #wait(): void {
    const waitMs = Math.max(0, this.#late[0]!.dueAt - performance.now());
    const timer = setTimeout(() => {
      const { data } = this.#late.shift()!;
      if (!this.#to.destroyed) this.#to.write(data);
      if (this.#late.length > 0) this.#wait();
    }, waitMs);
    timer.unref();
  }
}
