/** Each attack on a sender of webhooks, by its name. The servers are real ones on this machine. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { alertOf, type Alert } from "../../core/alert.ts";
import { InvalidOptionError, PrivateAddressError, WebhookError } from "../../core/errors.ts";
import { verifyWebhook, webhook } from "../../index.ts";
import { post } from "./post.ts";

const secret = "whsec_0123456789";
const alert: Alert = alertOf(
  JSON.stringify({
    ...{ id: "0190", kind: "depth", at: "2030-01-01T00:00:00.000Z", queue: "mail" },
    ...{ message: "queue mail: 3 jobs wait", waiting: 3, threshold: 3 },
  }),
);
const never = new AbortController().signal;
const send = { now: 1_800_000_000_000, signal: never };

const servers = new Set<Server>();
afterEach(() => {
  for (const server of servers) server.close().closeAllConnections();
  servers.clear();
});

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  servers.add(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/hook` };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe("a webhook", () => {
  it("is signed JSON that its receiver can verify", async () => {
    const got = Promise.withResolvers<{ headers: IncomingMessage["headers"]; body: string }>();
    const { url } = await receiver((request, response) => {
      void bodyOf(request).then((body) => {
        got.resolve({ headers: request.headers, body });
        response.writeHead(204).end();
      });
    });
    const headers = { Authorization: "Token t" };
    await webhook({ url, secret, headers, allowPrivate: true }).send(alert, send);
    const { headers: heard, body } = await got.promise;
    const signature = heard["holdfast-signature"] as string;
    const now = new Date(send.now);
    expect(verifyWebhook({ body, signature, secret, now })).toBe(true);
    expect(alertOf(body)).toEqual(alert);
    expect(heard).toMatchObject({
      ...{ "content-type": "application/json", "holdfast-alert": "0190" },
      authorization: "Token t",
    });
  });

  it.each([
    ...["http://169.254.169.254/", "http://[::ffff:127.0.0.1]/", "http://0x7f000001/"],
    ...["http://2130706433/", "http://localhost/", "http://10.0.0.1/", "http://[fe80::1]/"],
    ...["http://metadata.google.internal/", "http://127.0.0.1:80/"],
  ])("to %s is refused when it is made", (url) => {
    expect(() => webhook({ url, secret })).toThrow(PrivateAddressError);
    expect(() => webhook({ url, secret })).toThrow(/allowPrivate/);
  });

  it.each([
    ["ftp://example.com/", /https:\/\//],
    ["file:///etc/passwd", /https:\/\//],
    ["not a url", /https:\/\//],
    ["https://user:word@example.com/", /Authorization/],
    ["https://example.com:6379/", /ports: \[6379\]/],
  ])("to %s is refused with what to do", (url, words) => {
    expect(() => webhook({ url, secret })).toThrow(InvalidOptionError);
    expect(() => webhook({ url, secret })).toThrow(words);
  });

  it("takes no options that it does not know, and no header that is its own", () => {
    const url = "https://example.com/";
    const make = (more: object) => () => webhook({ url, secret, ...more });
    expect(make({ secrets: "x" })).toThrow(/did you mean "secret"/);
    expect(make({ secret: "" })).toThrow(/needs a secret/);
    expect(make({ headers: { Host: "other" } })).toThrow(/not yours/);
    expect(make({ headers: { "Holdfast-Signature": "t" } })).toThrow(/not yours/);
    expect(make({ headers: { "X-A": "a\r\nX-B: b" } })).toThrow(/no header/);
    expect(make({ timeoutMs: 0 })).toThrow(/timeoutMs/);
    expect(make({ ports: [6379], url: "https://example.com:6379/" })).not.toThrow();
  });

  it("to a public name with a private address is refused when it is sent", async () => {
    const hook = webhook({ url: "https://localtest.example.com/", secret });
    for (const address of ["127.0.0.1", "::1", "::ffff:10.0.0.1", "169.254.169.254"]) {
      const resolve = async () => [
        { address: "93.184.215.14", family: 4 },
        { address, family: address.includes(":") ? 6 : 4 },
      ];
      await expect(hook.send(alert, { ...send, resolve })).rejects.toThrow(PrivateAddressError);
    }
  });

  it("asks for the addresses of its name once, and connects to those", async () => {
    const { port } = await receiver((_, response) => response.writeHead(200).end());
    let asked = 0;
    // Another answer the second time would be a rebinding; the name itself leads nowhere.
    const resolve = async () =>
      (asked += 1) === 1
        ? [{ address: "127.0.0.1", family: 4 }]
        : [{ address: "169.254.169.254", family: 4 }];
    const url = `http://rebind.invalid:${port}/`;
    await webhook({ url, secret, allowPrivate: true }).send(alert, { ...send, resolve });
    expect(asked).toBe(1);
  });

  it("does not follow a redirect", async () => {
    let followed = 0;
    const inside = await receiver((_, response) => {
      followed += 1;
      response.writeHead(200).end();
    });
    const { url } = await receiver((_, response) =>
      response.writeHead(307, { location: inside.url }).end(),
    );
    const hook = webhook({ url, secret, allowPrivate: true });
    await expect(hook.send(alert, send)).rejects.toThrow(/redirects are not followed/);
    expect(followed).toBe(0);
  });

  it("is tried again after an answer that may change, with the time that it names", async () => {
    const { url } = await receiver((_, response) =>
      response.writeHead(503, { "retry-after": "7" }).end("internal details"),
    );
    const sent = webhook({ url, secret, allowPrivate: true }).send(alert, send);
    const error = await sent.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WebhookError);
    expect(error).toMatchObject({ status: 503, headers: { "retry-after": "7" } });
    expect((error as Error).message).not.toContain("internal details");
  });

  it("does not wait for a receiver that never answers", async () => {
    const { url } = await receiver(() => {});
    const hook = webhook({ url, secret, allowPrivate: true, timeoutMs: 100 });
    await expect(hook.send(alert, send)).rejects.toMatchObject({ status: 408 });
  });

  it("does not wait for a name server that never answers", async () => {
    const hook = webhook({ url: "https://slow.example.com/", secret, timeoutMs: 100 });
    const resolve = () => new Promise<never>(() => {});
    await expect(hook.send(alert, { ...send, resolve })).rejects.toMatchObject({ status: 408 });
  });

  it("reads no more than 64 KiB of an answer that never ends", async () => {
    let written = 0;
    const { url } = await receiver((_, response) => {
      response.writeHead(200);
      const chunk = Buffer.alloc(16 * 1024);
      const write = () => {
        while (!response.destroyed && response.write(chunk)) written += chunk.length;
        if (!response.destroyed) response.once("drain", write);
      };
      write();
    });
    await webhook({ url, secret, allowPrivate: true }).send(alert, send);
    // What the operating system's buffers take besides.
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  it("stops when its job is stopped", async () => {
    const stop = new AbortController();
    const { url } = await receiver(() => stop.abort(new Error("the worker stops")));
    const hook = webhook({ url, secret, allowPrivate: true });
    await expect(hook.send(alert, { ...send, signal: stop.signal })).rejects.toThrow();
  });

  it("shows neither its secret nor its URL", () => {
    const hook = webhook({ url: "https://hooks.example.com/T0/secret-path?token=t", secret });
    const shown = JSON.stringify(hook) + String(hook.place) + hook.key;
    expect(shown).not.toMatch(/secret-path|token=|whsec/);
  });

  it("to a literal address is checked again when it is sent", async () => {
    const { port } = await receiver((_, response) => response.writeHead(200).end());
    const url = new URL(`http://127.0.0.1:${port}/`);
    const options = { body: "{}", headers: {}, timeoutMs: 1_000, signal: never };
    await expect(post(url, { ...options, allowPrivate: false })).rejects.toThrow(
      PrivateAddressError,
    );
    await expect(post(url, { ...options, allowPrivate: true })).resolves.toBeUndefined();
    // The server was there all the time.
    const socket = connect(port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    socket.destroy();
  });
});
