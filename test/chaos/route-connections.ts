/**
 * Sends this process's connections through the proxies that were set up for it. It is done where
 * every driver comes by, below all of them: clients of a cluster or a replica set are told by the
 * servers where the nodes are, so it is not enough to give them another URL.
 */
import net from "node:net";

/** From where a node listens to where this process finds it: `127.0.0.1:5432` to `127.0.0.1:40123`. */
export type Routes = Readonly<Record<string, string>>;

interface Target {
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
}

export function routeConnections(routes: Routes): void {
  if (Object.keys(routes).length === 0) return;
  const direct: unknown = Reflect.get(net.Socket.prototype, "connect");
  if (typeof direct !== "function") throw new Error("this Node.js has no Socket.connect");
  function connect(this: net.Socket, ...args: unknown[]): unknown {
    return Reflect.apply(direct as () => unknown, this, routed(args, routes));
  }
  Reflect.set(net.Socket.prototype, "connect", connect);
}

/** `(port, host)`, `(options)`, or the list of both that `net.connect` makes of them. */
function routed(args: unknown[], routes: Routes): unknown[] {
  const [first, second, ...rest] = args;
  if (Array.isArray(first)) {
    // Node has marked this very list: it must stay the same one.
    first[0] = routedTarget(first[0] as Target, routes);
    return args;
  }
  if (typeof first === "object" && first !== null) {
    return [routedTarget(first, routes), ...args.slice(1)];
  }
  const { host, port } = routedTarget({ host: String(second), port: Number(first) }, routes);
  return typeof second === "string" ? [port, host, ...rest] : args;
}

function routedTarget<Given extends Target>(target: Given, routes: Routes): Given {
  const route = routes[`${target.host}:${target.port}`];
  if (route === undefined) return target;
  const { hostname: host, port } = new URL(`tcp://${route}`);
  return { ...target, host, port: Number(port) };
}
