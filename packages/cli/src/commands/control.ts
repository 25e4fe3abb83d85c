/** Locks, schedules, gates, statistics, and why a job does not run. */
import type { Command } from "../command.ts";
import { clean } from "../output/clean.ts";
import { ago, count, duration, instant } from "../output/words.ts";
import { readDuration } from "../settings/read-flags.ts";
import { featureOf, type Durations } from "./features.ts";
import { moreWords } from "./jobs.ts";
import { CURSOR, LIMIT, pageOf, WHY, YES } from "./shared-options.ts";

export const why: Command = {
  name: "why",
  args: "<id>",
  needs: "why",
  summary: "says why a job does not run, and what would end that",
  examples: ["why 01981b62-7f2c-7c3a-9d1e-3f5b8a6c0d21"],
  async run(cli, { args: [id] }) {
    const hf = await cli.open();
    const answer = await featureOf(hf, "why")(String(id));
    cli.print(answer, () => {
      const { summary, reasons } = answer;
      if (reasons.length === 0) return clean(summary);
      return reasons
        .map(({ message, remedy }) => `${clean(message)}\n  → ${clean(remedy)}`)
        .join("\n");
    });
  },
};

export const stats: Command = {
  name: "stats",
  needs: "stats",
  summary: "what the fleet did lately: counts, waits, run times, what fails most",
  examples: ["stats", "stats --queue mail --last 24h"],
  options: [
    { flags: "-q, --queue <name>", about: "of this queue" },
    { flags: "-t, --type <type>", about: "of this type" },
    { flags: "--last <duration>", about: "so far back (default 1h)", read: readDuration },
  ],
  async run(cli) {
    const hf = await cli.open();
    const { queue, type, last } = cli.flags;
    const found = await featureOf(
      hf,
      "stats",
    )({
      ...(queue !== undefined && { queue: queue as string }),
      ...(type !== undefined && { type: type as string }),
      ...(last !== undefined && { lastMs: last as number }),
    });
    const { succeeded, dead, cancelled } = found.finished;
    const times = ({ avg, p50, p95, p99 }: Durations) =>
      `${duration(p50)} half, ${duration(p95)} 95 %, ${duration(p99)} 99 %, ${duration(avg)} on average`;
    cli.print(found, () =>
      [
        `finished   ${count(succeeded)} succeeded, ${count(dead)} dead, ${count(cancelled)} cancelled`,
        `retried    ${count(found.retried)}, ${count(found.failedLastHour)} failures in the last hour`,
        `waited     ${times(found.waitMs)}`,
        `ran        ${times(found.runMs)}`,
        `oldest     ${found.oldestReadyMs === null ? "nothing waits" : duration(found.oldestReadyMs)}`,
        ...(found.topFailing.length > 0
          ? [
              "",
              cli.table(found.topFailing, [
                { title: "FAILS MOST", value: (one) => one.type, atLeast: 10 },
                { title: "FAILED", value: (one) => count(one.failed), align: "right" },
                { title: "DEAD", value: (one) => count(one.dead), align: "right" },
              ]),
            ]
          : []),
        ...(found.source === "ledger"
          ? ["The store is away: these are the ledger's figures."]
          : []),
      ].join("\n"),
    );
  },
};

export const locksList: Command = {
  name: "locks list",
  needs: "locks",
  summary: "lists execution locks: which work runs, or is done and does not run again",
  examples: ["locks", "locks --key monthly_snapshot --state running"],
  options: [
    { flags: "--key <key>", about: "of this key" },
    { flags: "--owner <owner>", about: "of this owner" },
    {
      flags: "--state <state>",
      about: "in this state",
      choices: ["running", "completed", "failed"],
    },
    LIMIT,
    CURSOR,
  ],
  async run(cli) {
    const hf = await cli.open();
    const words = ["key", "owner", "state"].flatMap((word) =>
      cli.flags[word] === undefined ? [] : [[word, cli.flags[word]]],
    );
    const query = { ...(Object.fromEntries(words) as object), ...pageOf(cli.flags) };
    const page = await featureOf(hf, "locks").list(query);
    const now = Date.now();
    cli.print(page, () =>
      page.locks.length === 0
        ? "No locks."
        : cli.table(page.locks, [
            { title: "ID", value: (lock) => lock.id, atLeast: 12 },
            { title: "KEY", value: (lock) => lock.key, atLeast: 8 },
            { title: "SCOPE", value: (lock) => lock.scope, atLeast: 8 },
            { title: "OWNER", value: (lock) => lock.owner, atLeast: 6 },
            { title: "STATE", value: (lock) => lock.state },
            { title: "JOB", value: (lock) => lock.jobId, atLeast: 8 },
            { title: "SINCE", value: (lock) => ago(lock.finishedAt ?? lock.startedAt, now) },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};

export const locksRelease: Command = {
  name: "locks release",
  args: "<id>",
  needs: "locks",
  summary: "lets go of a lock, so that its work may run again",
  examples: ['locks release {lock} --reason "run it again" --yes'],
  options: [...WHY, YES],
  async run(cli, { args: [id] }) {
    await cli.confirm(`Release the lock ${clean(id)}, so that its work may run again?`);
    const hf = await cli.open();
    await featureOf(hf, "locks").release(String(id), cli.why);
    cli.print({ id, state: "released" }, () => `Lock ${clean(id)} is released.`);
  },
};

export const schedulesList: Command = {
  name: "schedules list",
  needs: "schedules",
  summary: "lists schedules: when they fire next, and what became of the last run",
  examples: ["schedules"],
  async run(cli) {
    const hf = await cli.open();
    const all = await featureOf(hf, "schedules").list();
    const now = Date.now();
    cli.print(all, () =>
      all.length === 0
        ? "No schedules."
        : cli.table(all, [
            { title: "NAME", value: (one) => one.name, atLeast: 8 },
            {
              title: "WHEN",
              value: (one) => one.cron ?? `every ${duration(one.everyMs ?? 0)}`,
              atLeast: 9,
            },
            { title: "ZONE", value: (one) => one.timeZone, atLeast: 4 },
            { title: "JOB", value: (one) => one.job.type, atLeast: 8 },
            { title: "NEXT", value: (one) => ago(one.next[0] ?? null, now) },
            { title: "LAST", value: (one) => ago(one.lastRun?.tick ?? null, now) },
            { title: "OUTCOME", value: (one) => one.lastRun?.outcome ?? one.lastRun?.state },
            {
              title: "STATE",
              value: (one) => (one.enabled ? "on" : one.paused ? "paused" : "off"),
              paint: (one, paint) => (one.enabled ? undefined : paint.yellow),
            },
          ]),
    );
  },
};

export const schedulesRuns: Command = {
  name: "schedules runs",
  args: "<name>",
  needs: "schedules",
  summary: "lists the ticks of a schedule, newest first",
  examples: ["schedules runs {schedule}"],
  options: [LIMIT, CURSOR],
  async run(cli, { args: [name] }) {
    const hf = await cli.open();
    const page = await featureOf(hf, "schedules").runs(String(name), pageOf(cli.flags));
    cli.print(page, () =>
      page.runs.length === 0
        ? "It has not fired yet."
        : cli.table(page.runs, [
            { title: "TICK", value: (run) => instant(run.tick) },
            { title: "STATE", value: (run) => run.state },
            { title: "JOB", value: (run) => run.job },
            { title: "OUTCOME", value: (run) => run.outcome },
            { title: "TOOK", value: (run) => (run.ranMs === null ? null : duration(run.ranMs)) },
            { title: "ERROR", value: (run) => run.error, atLeast: 8 },
          ]) + moreWords(cli, page.nextCursor),
    );
  },
};

function scheduleVerb(verb: "run" | "pause" | "resume", summary: string): Command {
  return {
    name: `schedules ${verb}`,
    args: "<name>",
    needs: "schedules",
    summary,
    examples: [`schedules ${verb} {schedule}`],
    options: WHY,
    async run(cli, { args: [name] }) {
      const hf = await cli.open();
      const schedules = featureOf(hf, "schedules");
      if (verb === "run") {
        const { id } = await schedules.runNow(String(name), cli.why);
        return cli.print({ name, job: id }, () => `Enqueued ${clean(id)}.`);
      }
      await schedules[verb](String(name), cli.why);
      const state = verb === "pause" ? "paused" : "on";
      cli.print({ name, state }, () => `Schedule ${clean(name)} is ${state}.`);
    },
  };
}

export const schedulesRun = scheduleVerb("run", "fires a schedule now, besides its times");
export const schedulesPause = scheduleVerb("pause", "stops a schedule from firing");
export const schedulesResume = scheduleVerb("resume", "lets a paused schedule fire again");

export const gatesList: Command = {
  name: "gates list",
  needs: "gates",
  summary: "lists gates: rates, cooldowns, breakers, and which of them hold",
  examples: ["gates"],
  async run(cli) {
    const hf = await cli.open();
    const all = await featureOf(hf, "gates").list();
    const now = Date.now();
    cli.print(all, () =>
      all.length === 0
        ? "No gates."
        : cli.table(all, [
            { title: "NAME", value: (gate) => gate.name, atLeast: 8 },
            {
              title: "HOLDS",
              value: (gate) =>
                gate.targets
                  .map(({ queue, group }) => (group ? `${queue}/${group}` : queue))
                  .join(","),
              atLeast: 8,
            },
            {
              title: "STATE",
              value: (gate) => (gate.forced === "auto" ? gate.state : `${gate.state} (forced)`),
              paint: (gate, paint) => (gate.state === "closed" ? undefined : paint.yellow),
            },
            { title: "TOKENS", value: (gate) => gate.tokens, align: "right" },
            { title: "FAILURES", value: (gate) => gate.failures, align: "right" },
            { title: "UNTIL", value: (gate) => ago(gate.openUntil ?? gate.cooldownUntil, now) },
          ]),
    );
  },
};

export const gatesForce: Command = {
  name: "gates force",
  args: "<name> <state>",
  needs: "gates",
  summary: "forces a gate open or closed; auto lets it decide again",
  about: "An open gate is a breaker that lets nothing through; a closed one lets work pass.",
  examples: ['gates force {gate} open --reason "provider is down"', "gates force {gate} auto"],
  options: WHY,
  async run(cli, { args: [name, state] }) {
    const hf = await cli.open();
    await featureOf(hf, "gates").force(String(name), String(state), cli.why);
    cli.print({ name, forced: state }, () => `Gate ${clean(name)}: ${clean(state)}.`);
  },
};
