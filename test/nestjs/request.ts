/** An HTTP client in the words of supertest, as far as tests of the systems use them. */
import type { AddressInfo } from "node:net";
import type { INestApplication } from "@nestjs/common";

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- as supertest has it: the test knows what it asks for
  readonly body: any;
  readonly headers: Headers;
}

class Asked implements PromiseLike<Answer> {
  readonly #url: string;
  readonly #method: string;
  readonly #headers: Record<string, string> = {};
  #body: unknown;

  constructor(method: string, url: string) {
    this.#method = method;
    this.#url = url;
  }

  set(name: string, value: string): this {
    this.#headers[name] = value;
    return this;
  }

  send(body: unknown): this {
    this.#body = body;
    return this;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaited as it is, like supertest
  then<One = Answer, Two = never>(
    done?: ((answer: Answer) => One | PromiseLike<One>) | null,
    failed?: ((reason: unknown) => Two | PromiseLike<Two>) | null,
  ): Promise<One | Two> {
    return this.#ask().then(done, failed);
  }

  async #ask(): Promise<Answer> {
    const isSent = this.#body !== undefined;
    const response = await fetch(this.#url, {
      method: this.#method,
      headers: { ...(isSent && { "content-type": "application/json" }), ...this.#headers },
      ...(isSent && { body: JSON.stringify(this.#body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const body: unknown = isJson ? JSON.parse(text) : text;
    return { status: response.status, body, headers: response.headers };
  }
}

/** `app` listens already. */
export function request(app: INestApplication) {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const ask = (method: string) => (path: string) =>
    new Asked(method, `http://127.0.0.1:${port}${path}`);
  return { get: ask("GET"), post: ask("POST"), put: ask("PUT"), delete: ask("DELETE") };
}
