/** The HTTP API as a route of an application, behind its own guards, on Express and on Fastify. */
import "reflect-metadata";
import {
  Injectable,
  Module,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
} from "@nestjs/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HoldfastModule, JobHandler } from "@holdfast/nestjs";
import { HoldfastServerModule } from "@holdfast/nestjs/server";
import { classic } from "@holdfast/server/classic";
import { Holdfast } from "holdfast";
import { request } from "./request.ts";
import { ADAPTERS, started } from "./started.ts";

const ROLES: Readonly<Record<string, "viewer" | "operator" | "admin">> = {
  ...{ "jwt-of-ada": "admin", "jwt-of-eve": "viewer" },
};

/** What an application's own guard needs. */
@Injectable()
class Sessions {
  userOf(header: string | undefined) {
    return header?.replace("Bearer ", "");
  }
}

@Injectable()
class JwtGuard implements CanActivate {
  constructor(private readonly sessions: Sessions) {}

  canActivate(context: ExecutionContext): boolean {
    const asked = context
      .switchToHttp()
      .getRequest<{ headers: Record<string, string>; user?: string }>();
    const user = this.sessions.userOf(asked.headers["authorization"]);
    if (user === undefined) throw new UnauthorizedException("log in first");
    asked.user = user;
    return true;
  }
}

@Module({ providers: [Sessions], exports: [Sessions] })
class SessionsModule {}

@Injectable()
@JobHandler("greet")
class Greet {
  handle() {
    return "hello";
  }
}

@Module({
  imports: [
    HoldfastModule.forRoot({ url: "memory:", jobLogs: false }),
    HoldfastServerModule.forRoot({
      path: "admin/jobs",
      imports: [SessionsModule],
      guards: [JwtGuard],
      user: ({ user }) => {
        const role = ROLES[user as string];
        return role ? { name: user as string, role } : null;
      },
      mounts: [classic()],
    }),
  ],
  providers: [Greet],
})
class Application {}

/** The same at addresses that scripts of old know. */
@Module({
  imports: [
    HoldfastModule.forRoot({ url: "memory:", jobLogs: false }),
    HoldfastServerModule.forRoot({
      paths: ["", "api/v1", "queue"],
      user: () => ({ name: "ada", role: "admin" }),
      login: { url: "/login", logoutUrl: "/logout" },
      mounts: [classic()],
    }),
  ],
  providers: [Greet],
})
class AtItsRoot {}

const adapters = Object.keys(ADAPTERS) as (keyof typeof ADAPTERS)[];

describe.each(adapters)("the HTTP API behind the guards of an application on %s", (adapter) => {
  let app: INestApplication;
  beforeAll(async () => {
    app = await started(Application, { adapter });
  });
  afterAll(() => app?.close());
  const ada = (path: string) => request(app).get(path).set("authorization", "Bearer jwt-of-ada");

  it("lets in whom the guard lets in, by the role that the application says", async () => {
    const { status, body } = await ada("/admin/jobs/api/v1/me");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ by: "user jwt-of-ada", role: "admin" });
    expect(body.data.basePath).toBe("/admin/jobs");
  });

  it("asks the guard first, and refuses whom the application does not know", async () => {
    const nobody = await request(app).get("/admin/jobs/api/v1/me");
    expect(nobody).toMatchObject({ status: 401, body: { message: "log in first" } });
    const stranger = await request(app).get("/admin/jobs/healthz");
    expect(stranger.status).toBe(401);
    const unknown = request(app).get("/admin/jobs/api/v1/me").set("authorization", "Bearer x");
    expect(await unknown).toMatchObject({ status: 401, body: { success: false } });
  });

  it("reads bodies that the application has parsed, and keeps roles apart", async () => {
    const send = (who: string, body: unknown) =>
      request(app).post("/admin/jobs/api/v1/jobs").set("authorization", `Bearer ${who}`).send(body);
    const sent = await send("jwt-of-ada", { type: "greet", payload: { to: "ada" } });
    expect(sent.status).toBe(201);
    const hf = app.get(Holdfast);
    const done = await hf.waitFor(sent.body.data.id as string, { timeoutMs: 20_000 });
    expect(done).toMatchObject({ status: "succeeded", result: "hello" });
    expect((await send("jwt-of-eve", { type: "greet", payload: {} })).status).toBe(403);
    expect((await send("jwt-of-ada", { typ: "greet" })).status).toBe(422);
    const audit = await ada("/admin/jobs/api/v1/audit");
    expect(JSON.stringify(audit.body)).toContain("user jwt-of-ada");
  });

  it("serves mounts and the page at its root, and nothing of the application is in its way", async () => {
    expect((await ada("/admin/jobs/queue?limit=1")).body).toHaveLength(1);
    expect((await ada("/admin/jobs/nothing/here")).status).toBe(404);
    expect((await ada("/admin/jobs/api/openapi.json")).body.servers).toEqual([
      { url: "/admin/jobs" },
    ]);
    expect((await request(app).get("/elsewhere")).status).toBe(404);
  });

  it("answers at paths of the application's own, with whatever is in front of them", async () => {
    for (const prefix of ["", "/v2/office"]) {
      const other = await started(AtItsRoot, {
        adapter,
        prepare: (made) => void (prefix !== "" && made.setGlobalPrefix(prefix)),
      });
      try {
        const get = (path: string) => request(other).get(prefix + path);
        const body = { type: "greet", payload: {} };
        expect((await request(other).post(`${prefix}/queue/enqueue`).send(body)).status).toBe(201);
        expect((await get("/queue?limit=5")).body).toHaveLength(1);
        expect((await get("/api/v1/me")).body.data).toMatchObject({ basePath: prefix });
        // What was not named is the application's.
        expect((await get("/metrics")).body).toMatchObject({ statusCode: 404 });
        expect((await get("/queues")).body).toMatchObject({ statusCode: 404 });
        const page = await get("");
        expect(page.headers.get("content-type")).toContain("text/html");
        if (page.status === 200) expect(page.body).toContain("/logout");
      } finally {
        await other.close();
      }
    }
  });

  it("says what is wrong with a place", () => {
    const make = (place: object) => () =>
      HoldfastServerModule.forRoot({ ...place, user: () => null } as never);
    expect(make({})).toThrow(/takes a path, .* or paths/);
    expect(make({ path: "a", paths: ["b"] })).toThrow(/takes a path, .* or paths/);
    expect(make({ paths: [] })).toThrow(/paths is a list/);
    expect(make({ paths: ["a b"] })).toThrow(/path is where/);
  });

  it("ends streams of events when the application closes", async () => {
    const other = await started(Application, { adapter });
    const { port } = other.getHttpServer().address() as { port: number };
    const stream = await fetch(`http://127.0.0.1:${port}/admin/jobs/api/v1/events`, {
      headers: { authorization: "Bearer jwt-of-ada" },
    });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    const reader = stream.body?.getReader();
    await reader?.read();
    await other.close();
    const drained = (async () => {
      while ((await reader?.read())?.done === false);
      return "ended";
    })();
    expect(await drained.catch(() => "ended")).toBe("ended");
  });
});

it("stands below the prefix of an application", async () => {
  const app = await started(Application, { prepare: (one) => void one.setGlobalPrefix("api") });
  const me = request(app).get("/api/admin/jobs/api/v1/me");
  const { status, body } = await me.set("authorization", "Bearer jwt-of-eve");
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ role: "viewer", basePath: "/api/admin/jobs" });
  await app.close();
});

it("stands below a prefix that begins like its own path", async () => {
  const prefix = "admin/jobs-of-all";
  const app = await started(Application, { prepare: (one) => void one.setGlobalPrefix(prefix) });
  const me = request(app).get(`/${prefix}/admin/jobs/api/v1/me`);
  const { status, body } = await me.set("authorization", "Bearer jwt-of-eve");
  expect(status).toBe(200);
  expect(body.data).toMatchObject({ basePath: `/${prefix}/admin/jobs` });
  await app.close();
});

it("says what is wrong with its options", () => {
  const user = () => null;
  expect(() => HoldfastServerModule.forRoot({ path: "", user })).toThrow("path is where");
  expect(() => HoldfastServerModule.forRoot({ path: "jobs" } as never)).toThrow("needs user");
});
