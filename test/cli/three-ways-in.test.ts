/**
 * One set of verbs, three ways in. Whatever the library offers to operators has a route and a command, or a reason
 * why it has none. A verb that is new in the library is missing here, and this fails.
 */
import { allRoutes } from "@holdfast/server";
import { Holdfast } from "holdfast";
import { memoryStore } from "holdfast/memory";
import { expect, it } from "vitest";
import { COMMANDS } from "../../packages/cli/src/commands/all-commands.ts";

const OF_PROGRAMS = "it is a program's own";

/** Route and command; null: none, for what people do there is done by another verb. */
const VERBS: Readonly<Record<string, readonly [string | null, string | null] | string>> = {
  enqueue: ["POST /api/v1/jobs", "enqueue"],
  enqueueAll: ["POST /api/v1/jobs", null],
  waitFor: [null, "enqueue"],
  job: ["GET /api/v1/jobs/:id", "job"],
  jobs: ["GET /api/v1/jobs", "jobs"],
  counts: ["GET /api/v1/queues", "queues"],
  lines: ["GET /api/v1/queues/:queue/lines", "lines"],
  cancel: ["POST /api/v1/jobs/:id/cancel", "cancel"],
  retry: ["POST /api/v1/jobs/:id/retry", "retry"],
  remove: ["DELETE /api/v1/jobs/:id", "remove"],
  erase: ["POST /api/v1/erase", "erase"],
  pause: ["POST /api/v1/queues/:queue/pause", "pause"],
  resume: ["POST /api/v1/queues/:queue/resume", "resume"],
  limit: ["PATCH /api/v1/queues/:queue/limits", "limit"],
  ledger: ["GET /api/v1/audit", "audit"],
  stats: ["GET /api/v1/stats", "stats"],
  why: ["GET /api/v1/jobs/:id/why", "why"],
  health: ["GET /readyz", "doctor"],
  info: ["GET /api/v1/doctor", "doctor"],
  storeTime: ["GET /api/v1/doctor", "doctor"],
  work: [null, "work"],
  on: ["GET /api/v1/events", "top"],
  ...{ define: OF_PROGRAMS, handle: OF_PROGRAMS, schedule: OF_PROGRAMS, within: OF_PROGRAMS },
  ...{ use: OF_PROGRAMS, close: OF_PROGRAMS },

  "workers.list": ["GET /api/v1/workers", "workers list"],
  "workers.quiet": ["POST /api/v1/workers/:id/quiet", "workers quiet"],
  "workers.resume": ["POST /api/v1/workers/:id/resume", "workers resume"],
  "queues.set": ["PATCH /api/v1/queues/:queue/settings", "settings"],
  "queues.get": ["GET /api/v1/queues/:queue", "settings"],
  "failures.list": ["GET /api/v1/failures", "failures list"],
  "failures.count": ["GET /api/v1/stats", "stats"],
  "failures.get": ["GET /api/v1/failures", "failures list"],
  "failures.prune": ["POST /api/v1/failures/prune", "failures prune"],
  "deadLetters.groups": ["GET /api/v1/dead-letters/groups", "dead groups"],
  "deadLetters.summary": ["GET /api/v1/dead-letters/summary", "dead groups"],
  "deadLetters.list": ["GET /api/v1/dead-letters", "dead list"],
  "deadLetters.isKnown": ["POST /api/v1/dead-letters/groups/:fingerprint/resolve", "dead resolve"],
  "deadLetters.plan": ["POST /api/v1/dead-letters/plan", "dead replay"],
  "deadLetters.resolve": ["POST /api/v1/dead-letters/groups/:fingerprint/resolve", "dead resolve"],
  "deadLetters.ignore": ["POST /api/v1/dead-letters/groups/:fingerprint/ignore", "dead ignore"],
  "deadLetters.reopen": ["POST /api/v1/dead-letters/groups/:fingerprint/reopen", "dead reopen"],
  "presets.save": ["PUT /api/v1/dead-letters/presets/:name", "dead save"],
  "presets.list": ["GET /api/v1/dead-letters/presets", "dead presets"],
  "presets.remove": ["DELETE /api/v1/dead-letters/presets/:name", "dead forget"],
  "presets.plan": ["POST /api/v1/dead-letters/replay", "dead replay"],
  "alerts.list": ["GET /api/v1/alerts", "alerts"],
  "alerts.look": OF_PROGRAMS,
  "locks.list": ["GET /api/v1/locks", "locks list"],
  "locks.get": ["GET /api/v1/locks", "locks list"],
  "locks.release": ["DELETE /api/v1/locks/:id", "locks release"],
  "operations.plan": ["POST /api/v1/operations", "cancel"],
  "operations.erase": ["POST /api/v1/erase", "erase"],
  "operations.list": ["GET /api/v1/operations", "ops list"],
  "operations.get": ["GET /api/v1/operations/:id", "ops show"],
  "operations.start": ["POST /api/v1/operations/:id/start", "cancel"],
  "operation.pause": ["POST /api/v1/operations/:id/pause", "ops pause"],
  "operation.resume": ["POST /api/v1/operations/:id/resume", "ops resume"],
  "operation.abort": ["POST /api/v1/operations/:id/abort", "ops abort"],
  "operation.watch": ["GET /api/v1/events", "ops watch"],
  "schedules.list": ["GET /api/v1/schedules", "schedules list"],
  "schedules.get": ["GET /api/v1/schedules/:name", "schedules list"],
  "schedules.runs": ["GET /api/v1/schedules/:name/runs", "schedules runs"],
  "schedules.runNow": ["POST /api/v1/schedules/:name/run", "schedules run"],
  "schedules.pause": ["POST /api/v1/schedules/:name/pause", "schedules pause"],
  "schedules.resume": ["POST /api/v1/schedules/:name/resume", "schedules resume"],
  "schedules.set": ["PUT /api/v1/schedules/:name", "schedules set"],
  "schedules.remove": ["DELETE /api/v1/schedules/:name", "schedules remove"],
  "schedules.preview": ["POST /api/v1/schedules/preview", "schedules preview"],
  "gates.set": ["PUT /api/v1/gates/:name", "gates set"],
  "gates.list": ["GET /api/v1/gates", "gates list"],
  "gates.get": ["GET /api/v1/gates/:name", "gates list"],
  "gates.force": ["POST /api/v1/gates/:name/force", "gates force"],
  "gates.remove": ["DELETE /api/v1/gates/:name", "gates remove"],
  "gates.held": ["GET /api/v1/jobs/:id/why", "why"],
  ...{ "gates.acquire": OF_PROGRAMS, "gates.report": OF_PROGRAMS },
  ...{ "records.get": OF_PROGRAMS, "records.read": OF_PROGRAMS },
  ...{ "records.swap": OF_PROGRAMS, "records.list": OF_PROGRAMS },
};
/** What our own parts call of each other. */
const INTERNAL = [...["gates.close", "schedules.declare", "schedules.reconcile", "schedules.tick"]];
const PARTS = [
  ...(["workers", "queues", "failures", "deadLetters", "alerts", "locks", "operations"] as const),
  ...(["schedules", "gates", "records"] as const),
];

async function verbsOf(): Promise<string[]> {
  const hf = new Holdfast({ store: memoryStore() });
  const plan = await hf.operations.plan({ action: "cancel", filter: { queue: "none" } });
  const operation = await plan.start();
  const names = [
    ...methodsOf(hf),
    ...PARTS.flatMap((part) => methodsOf(hf[part]).map((name) => `${part}.${name}`)),
    ...methodsOf(hf.deadLetters.presets).map((name) => `presets.${name}`),
    ...Object.entries(operation).flatMap(([name, value]) =>
      typeof value === "function" ? [`operation.${name}`] : [],
    ),
  ];
  await hf.close();
  return names.filter((name) => !INTERNAL.includes(name));
}

function methodsOf(target: object): string[] {
  const prototype = Object.getPrototypeOf(target) as object;
  return Object.getOwnPropertyNames(prototype).filter(
    (name) =>
      name !== "constructor" &&
      typeof Object.getOwnPropertyDescriptor(prototype, name)?.value === "function",
  );
}

it("every verb of the library has a route and a command, or a reason", async () => {
  const routes = new Set(allRoutes().map(({ method, path }) => `${method} ${path}`));
  const commands = new Set(COMMANDS.map(({ name }) => name));
  const wrong = Object.entries(VERBS).flatMap(([verb, ways]) => {
    if (typeof ways === "string") return [];
    const [route, command] = ways;
    return [
      ...(route === null || routes.has(route) ? [] : [`${verb}: no route ${route}`]),
      ...(command === null || commands.has(command) ? [] : [`${verb}: no command ${command}`]),
    ];
  });
  expect(wrong).toEqual([]);
  expect((await verbsOf()).toSorted()).toEqual(Object.keys(VERBS).toSorted());
});
