/** A back office that listens, with its sample, and callers who log in over HTTP. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Holdfast, type FinishedJob } from "holdfast";
import { readEnv } from "../../apps/backoffice/src/config/settings.ts";
import { Data } from "../../apps/backoffice/src/data/data.ts";
import { SAMPLE_COMPANIES } from "../../apps/backoffice/src/data/sample-companies.ts";
import { SAMPLE_USERS } from "../../apps/backoffice/src/data/seed.ts";
import { start } from "../../apps/backoffice/src/start.ts";

export const SECRET = "a secret of the tests, forty characters long";
export const [NORTHWIND = "", HARBOUR = ""] = SAMPLE_COMPANIES.map(({ id }) => id);

export type Who = "admin" | "staff" | "viewer" | "owner";

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the test knows what it asks for
  readonly body: any;
  readonly headers: Headers;
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

export interface Asking {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Env = Readonly<Record<string, string>>;

export class Office {
  readonly url: string;
  readonly data: Data;
  readonly hf: Holdfast;
  /** Where it takes spreadsheets from. */
  readonly inbox: string;
  readonly #close: () => Promise<void>;
  readonly #tokens = new Map<Who, string>();

  private constructor(
    parts: Pick<Office, "url" | "data" | "hf" | "inbox">,
    close: () => Promise<void>,
  ) {
    this.url = parts.url;
    this.data = parts.data;
    this.hf = parts.hf;
    this.inbox = parts.inbox;
    this.#close = close;
  }

  /** In a folder of its own, unless `env` names other places. */
  static async open(env: Env = {}): Promise<Office> {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-office-"));
    const file = `sqlite:${join(folder, "office.db")}`;
    const settings = readEnv({
      ...{ PORT: "0", JWT_SECRET: SECRET, ...(!("DATABASE_URL" in env) && { DATABASE_URL: file }) },
      IMPORT_INBOX: join(folder, "inbox"),
      ...env,
    });
    const { app, url } = await start({ settings, seeds: true, isQuiet: true });
    const parts = {
      url,
      data: app.get(Data),
      hf: app.get(Holdfast),
      inbox: settings.imports.inbox,
    };
    return new Office(parts, async () => {
      await app.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    });
  }

  /** One that runs in a process of its own; its caller closes what it gave. */
  static at(parts: Pick<Office, "url" | "data" | "hf" | "inbox">): Office {
    return new Office(parts, async () => {});
  }

  close(): Promise<void> {
    return this.#close();
  }

  async ask(method: Method, path: string, asking: Asking = {}): Promise<Answer> {
    const { token, body, headers = {} } = asking;
    const response = await fetch(this.url + path, {
      ...{ method, redirect: "manual" },
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return {
      status: response.status,
      body: isJson ? (JSON.parse(text) as unknown) : text,
      headers: response.headers,
    };
  }

  async tokenOf(who: Who): Promise<string> {
    const known = this.#tokens.get(who);
    if (known !== undefined) return known;
    const user = SAMPLE_USERS.find(({ email }) => email.startsWith(`${who}@`));
    const body = { email: user?.email, password: user?.password };
    const answer = await this.ask("POST", "/api/auth/login", { body });
    const token = (answer.body as { token: string }).token;
    this.#tokens.set(who, token);
    return token;
  }

  async get(who: Who, path: string): Promise<Answer> {
    return this.ask("GET", path, { token: await this.tokenOf(who) });
  }

  async post(who: Who, path: string, body: unknown = {}): Promise<Answer> {
    return this.ask("POST", path, { token: await this.tokenOf(who), body });
  }

  async send(who: Who, method: Method, path: string, body?: unknown): Promise<Answer> {
    return this.ask(method, path, { token: await this.tokenOf(who), body });
  }

  /** What came of the job that a POST has made. */
  async done(answer: Answer): Promise<FinishedJob> {
    const { jobId } = answer.body as { jobId?: string };
    if (jobId === undefined) throw new Error(`no job: ${JSON.stringify(answer.body)}`);
    return this.hf.waitFor(jobId, { timeoutMs: 25_000 });
  }
}
