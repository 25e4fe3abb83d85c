/**
 * Where a body was parsed before it came here (`express.json()`), its bytes are gone: the parsed value is
 * written as JSON again, and goes through the same checks as any other body.
 */
import type { IncomingMessage } from "node:http";

export function withParsedBody(request: Request, incoming: IncomingMessage): Request {
  const { body } = incoming as IncomingMessage & { readonly body?: unknown };
  if (body === undefined || !incoming.readableEnded) return request;
  if (request.method === "GET" || request.method === "HEAD") return request;
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return new Request(request.url, { method: request.method, headers, body: JSON.stringify(body) });
}
