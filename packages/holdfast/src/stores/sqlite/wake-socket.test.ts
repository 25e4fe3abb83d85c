import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Wakeup } from "../../core/store.ts";
import { WakeSocket } from "./wake-socket.ts";

let folder: string;
const open: Listener[] = [];

/** A socket, and everything it hears. */
class Listener {
  readonly socket: WakeSocket;
  readonly heard: Wakeup[] = [];
  waiting = 0;
  #onNews: () => void = () => {};

  constructor(file: string) {
    this.socket = new WakeSocket({
      file,
      onWakeup: (wakeup) => {
        this.heard.push(wakeup);
        this.#onNews();
      },
      onPeerWaits: () => {
        this.waiting++;
        this.#onNews();
      },
    });
    open.push(this);
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => (this.#onNews = resolve));
  }
}

async function joined(file: string): Promise<Listener> {
  const listener = new Listener(file);
  await listener.socket.open();
  return listener;
}

/** Resolves when a peer of this one wants to hear. Nothing tells, so it looks at every turn. */
async function listened({ socket }: Listener): Promise<void> {
  while (!socket.hasListeningPeers) await new Promise((resolve) => setImmediate(resolve));
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "holdfast-wake-"));
});
afterEach(async () => {
  for (const { socket } of open.splice(0)) socket.close();
  await rm(folder, { recursive: true });
});

async function newFile(name = "jobs.db"): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, "");
  return file;
}

describe("wakeups between processes", () => {
  it("reach all that listen, and nobody else", async () => {
    const file = await newFile();
    const [one, two, deaf] = [await joined(file), await joined(file), await joined(file)];
    two.socket.setListening(true);
    await listened(one);
    const wakeup = { queues: ["mail"], finished: ["job-1"] };
    one.socket.send(wakeup);
    await two.until(() => two.heard.length > 0);
    assert.deepEqual([two.heard, deaf.heard, one.heard], [[wakeup], [], []]);
  });

  it("carry how many jobs were added and the lot, or neither", async () => {
    const file = await newFile();
    const [one, two] = [await joined(file), await joined(file)];
    two.socket.setListening(true);
    await listened(one);
    const counted = { queues: ["mail"], finished: [], added: 3, lot: 0.5 };
    one.socket.send(counted);
    one.socket.send({ queues: ["mail"], finished: [], added: 3 });
    await two.until(() => two.heard.length > 1);
    assert.deepEqual(two.heard, [counted, { queues: ["mail"], finished: [] }]);
  });

  it("go both ways, whoever came first", async () => {
    const file = await newFile();
    const [one, two] = [await joined(file), await joined(file)];
    for (const { socket } of [one, two]) socket.setListening(true);
    await Promise.all([listened(one), listened(two)]);
    one.socket.send({ queues: ["from-one"], finished: [] });
    two.socket.send({ queues: ["from-two"], finished: [] });
    await two.until(() => two.heard.length > 0);
    await one.until(() => one.heard.length > 0);
    assert.deepEqual([one.heard[0]?.queues, two.heard[0]?.queues], [["from-two"], ["from-one"]]);
  });

  it("stop for one that no longer listens", async () => {
    const file = await newFile();
    const [one, two] = [await joined(file), await joined(file)];
    two.socket.setListening(true);
    await listened(one);
    two.socket.setListening(false);
    while (one.socket.hasListeningPeers) await new Promise((resolve) => setImmediate(resolve));
  });

  it("carry the wish for the write lock", async () => {
    const file = await newFile();
    const [one, two] = [await joined(file), await joined(file)];
    two.socket.setListening(true);
    await listened(one);
    one.socket.tellWaiting();
    await two.until(() => two.waiting > 0);
  });

  it("survive a stranger that talks nonsense", async () => {
    const file = await newFile();
    const [one, two] = [await joined(file), await joined(file)];
    for (const name of await readdir(`${file}.wake`)) {
      const stranger = createConnection(join(`${file}.wake`, name));
      stranger.on("error", () => {});
      stranger.end('not json\n{"queues":7}\nnull\n');
      await new Promise((resolve) => stranger.once("close", resolve));
    }
    two.socket.setListening(true);
    await listened(one);
    one.socket.send({ queues: ["mail"], finished: [] });
    await two.until(() => two.heard.length > 0);
  });

  it("survive what is no socket and cannot be removed", async () => {
    const file = await newFile();
    const one = await joined(file);
    await mkdir(join(`${file}.wake`, "no-socket"));
    const two = await joined(file);
    two.socket.setListening(true);
    await listened(one);
    await rm(join(`${file}.wake`, "no-socket"), { recursive: true });
  });

  it("find another folder for a path that is too long for a socket", async () => {
    const file = await newFile(`${"long".repeat(30)}.db`);
    const [one, two] = [await joined(file), await joined(file)];
    two.socket.setListening(true);
    await listened(one);
    assert.ok((await readdir(folder)).every((name) => !name.endsWith(".wake")));
  });

  it("leave nothing behind when all are gone", async () => {
    const file = await newFile();
    const listeners = [await joined(file), await joined(file)];
    for (const { socket } of listeners) socket.close();
    assert.deepEqual(await readdir(folder), ["jobs.db"]);
  });

  it("are simply absent where there can be no sockets", async () => {
    const lonely = new Listener(join(folder, "nowhere", "jobs.db"));
    await lonely.socket.open();
    lonely.socket.send({ queues: ["mail"], finished: [] });
    assert.equal(lonely.socket.hasListeningPeers, false);
  });
});
