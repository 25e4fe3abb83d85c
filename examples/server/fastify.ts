/** Fastify 5. The server reads bodies itself, so Fastify's parsers are left out for its path. */
import Fastify from "fastify";
import { jobs, port, started } from "./jobs.ts";

const app = Fastify();
app.get("/", () => "my own page");
await app.register(async (admin) => {
  admin.removeAllContentTypeParsers();
  admin.addContentTypeParser("*", (_request, _payload, done) => done(null));
  admin.all("/admin/jobs/*", (request, reply) => {
    reply.hijack();
    jobs.node(request.raw, reply.raw);
  });
});
await app.listen({ port, host: "127.0.0.1" });
started();
