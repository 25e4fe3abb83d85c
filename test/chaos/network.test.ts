import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { FaultProxy } from "../servers/fault-proxy.ts";
import { Network } from "./network.ts";
import { routeConnections } from "./route-connections.ts";

/** Says back what it hears. */
const echo = createServer((socket) => {
  socket.on("error", () => {});
  socket.pipe(socket);
});
let node: string;
let network: Network;

beforeAll(async () => {
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  node = `127.0.0.1:${(echo.address() as AddressInfo).port}`;
  network = new Network({ nodes: [node] });
});
afterEach(() => network.closeAll());
afterAll(() => void echo.close());

async function connected(address: string): Promise<Socket> {
  const [host, port] = address.split(":");
  const socket = connect(Number(port), host);
  await once(socket, "connect");
  return socket;
}

async function said(socket: Socket, text: string): Promise<string> {
  let heard = "";
  socket.setEncoding("utf8").on("data", (part: string) => (heard += part));
  while (heard.length < text.length) await once(socket, "data");
  return heard;
}

describe("the network of the chaos", () => {
  it("gives every process a way of its own, so that one is cut alone", async () => {
    const first = await connected((await network.open("first"))[node]!);
    const second = await connected((await network.open("second"))[node]!);
    const gone = once(first, "close");
    for (const proxy of network.of("first")) proxy.cut();
    await gone;
    second.write("still here");
    expect(await said(second, "still here")).toBe("still here");
    second.destroy();
  });

  it("delivers in order what it made slow, also when it is quick again", async () => {
    const socket = await connected((await network.open("first"))[node]!);
    const [proxy] = network.of("first");
    proxy!.slow(20);
    socket.write("one ");
    setImmediate(() => {
      proxy!.slow(0);
      socket.write("two");
    });
    expect(await said(socket, "one two")).toBe("one two");
    socket.destroy();
  });

  it("swallows what is said while it is silent, also on connections that begin then", async () => {
    const old = await connected((await network.open("first"))[node]!);
    network.silence(true);
    const born = await connected((await network.open("second"))[node]!);
    old.write("lost");
    born.write("lost");
    network.silence(false);
    const fresh = await connected((await network.open("third"))[node]!);
    fresh.write("heard");
    expect(await said(fresh, "heard")).toBe("heard");
    expect([old.bytesRead, born.bytesRead]).toEqual([0, 0]);
    for (const socket of [old, born, fresh]) socket.destroy();
  });

  it("follows with new connections, and leaves old ones where they are", async () => {
    const other = createServer((socket) => socket.on("error", () => {}).end("the other"));
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = new FaultProxy(`tcp://${node}`);
    const { host } = new URL(await address.open());
    const old = await connected(host);
    address.follow(`tcp://127.0.0.1:${(other.address() as AddressInfo).port}`);
    const born = await connected(host);
    expect(await said(born, "the other")).toBe("the other");
    old.write("still the first");
    expect(await said(old, "still the first")).toBe("still the first");
    for (const socket of [old, born]) socket.destroy();
    await address.close();
    other.close();
  });

  it("is what a process uses that asks for the node itself", async () => {
    routeConnections(await network.open("first"));
    const socket = await connected(node);
    expect(network.of("first")[0]!.connections).toBe(1);
    const other = connect({ host: "127.0.0.1", port: Number(node.split(":")[1]) });
    await once(other, "connect");
    expect(network.of("first")[0]!.connections).toBe(2);
    for (const one of [socket, other]) one.destroy();
  });
});
