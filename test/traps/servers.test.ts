/** A server that is not there, or not as it should be, is named with its cause; its password never is. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../packages/holdfast/src/connect.ts";
import {
  HoldfastError,
  StoreOpenError,
  StoreUnavailableError,
  type Logger,
} from "../../packages/holdfast/src/index.ts";
import { checkRedis } from "../../packages/holdfast/src/stores/redis/index.ts";
import { startOwnRedis, type OwnRedis } from "../servers/redis.ts";
import { serverUrl } from "../servers/server-desk.ts";

async function failure(url: string): Promise<HoldfastError> {
  const error = await connect(url).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(HoldfastError);
  expect(String(error)).not.toContain("s3cret");
  return error as HoldfastError;
}

describe("PostgreSQL", () => {
  it("without the database that the URL names is a StoreOpenError that names it", async () => {
    const url = new URL(await serverUrl("postgres"));
    url.pathname = "/no_such_database";
    const error = await failure(url.href);
    expect(error).toBeInstanceOf(StoreOpenError);
    expect(error.isRetryable).toBe(false);
    expect(error.message).toContain(`${url.host} has no database "no_such_database"`);
  });

  it("without the role that the URL names is a StoreOpenError", async () => {
    const url = new URL(await serverUrl("postgres"));
    url.username = "no_such_role";
    url.password = "s3cret";
    const error = await failure(url.href);
    expect(error).toBeInstanceOf(StoreOpenError);
    expect(error.message).toContain("no_such_role");
  });

  it("that nobody runs at the address is named with the cause", async () => {
    const error = await failure("postgres://app:s3cret@127.0.0.1:1/jobs");
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error.message).toContain("127.0.0.1:1 cannot be reached (ECONNREFUSED)");
  });
});

describe("MongoDB", () => {
  it("that nobody runs at the address is named with the cause", async () => {
    const error = await failure(
      "mongodb://app:s3cret@127.0.0.1:1/jobs?serverSelectionTimeoutMS=200",
    );
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error.message).toContain("no MongoDB answers at 127.0.0.1:1");
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("with a parameter that the driver does not know is refused with its name", async () => {
    const error = await failure("mongodb://app:s3cret@127.0.0.1:1/jobs?retryWritez=true");
    expect(error).toBeInstanceOf(StoreOpenError);
    expect(error.message).toContain("retrywritez");
  });
});

describe("Redis", () => {
  let server: OwnRedis;
  beforeAll(async () => void (server = await startOwnRedis()));
  afterAll(() => server.stop());

  it("that nobody runs at the address is named with the cause", async () => {
    const error = await failure("redis://:s3cret@127.0.0.1:1/0");
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error.message).toContain("127.0.0.1:1 cannot be reached");
    expect(error.message).toContain("ECONNREFUSED");
  });

  it("without persistence says so at the start, and promises nothing", async () => {
    const admin = new Redis(server.url);
    await admin.config("SET", "appendonly", "no");
    admin.disconnect();
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const logger: Logger = { debug() {}, info() {}, warn, error: warn };
    const hf = await connect(server.url, { logger });
    expect((await hf.info()).survives.processKill).toBe(false);
    expect(warnings).toEqual([expect.stringContaining("Set appendonly yes")]);
    await hf.close();
    const { findings } = await checkRedis({ url: server.url });
    expect(findings).toContainEqual({
      level: "trouble",
      message: expect.stringContaining("Set appendonly yes") as string,
    });
  });

  it("with a password that was not given, or another, is a StoreOpenError", async () => {
    const admin = new Redis(server.url);
    await admin.config("SET", "requirepass", "s3cret");
    admin.disconnect();
    const without = await failure(server.url);
    expect(without).toBeInstanceOf(StoreOpenError);
    const url = new URL(server.url);
    url.password = "wrong";
    expect(await failure(url.href)).toBeInstanceOf(StoreOpenError);
  });
});
