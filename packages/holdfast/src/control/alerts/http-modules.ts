/**
 * Node's HTTP, at the first webhook. An `import` of it loads a second HTTP client and costs every process that starts
 * 19 MB and 70 ms of CPU time, and most processes have no webhook.
 */
export function http(): typeof import("node:http") {
  return process.getBuiltinModule("node:http");
}

export function https(): typeof import("node:https") {
  return process.getBuiltinModule("node:https");
}
