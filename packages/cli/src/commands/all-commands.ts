/** Every command, in the order in which the help lists them. */
import type { Command, Option } from "../command.ts";
import { alerts } from "./alerts.ts";
import { cancel, remove, retry } from "./bulk.ts";
import { bench } from "./bench.ts";
import { makeCompletion } from "./completion.ts";
import { crmCheck, crmEnsure } from "./crm.ts";
import { deadGroups, deadIgnore, deadList, deadReopen } from "./dead.ts";
import { deadReplay, deadResolve, deadShow } from "./dead.ts";
import { deadForget, deadPresets, deadSave } from "./dead-presets.ts";
import { doctor } from "./doctor.ts";
import { enqueue } from "./enqueue.ts";
import { erase } from "./erase.ts";
import { gatesForce, gatesList, gatesRemove, gatesSet } from "./gates.ts";
import { importFile } from "./import-file.ts";
import { importFrom } from "./import-from/import-from.ts";
import { init } from "./init.ts";
import { job, jobs } from "./jobs.ts";
import { audit, failuresList, failuresPrune } from "./ledger.ts";
import { locksList, locksRelease } from "./locks.ts";
import { opsAbort, opsList, opsPause, opsResume, opsShow, opsWatch } from "./ops.ts";
import { migrateSql, migrateStatus, migrateUp } from "./migrate.ts";
import { move } from "./move.ts";
import { limit, lines, pause, queues, resume } from "./queues.ts";
import { schedulesPreview, schedulesRemove, schedulesSet } from "./schedule-rules.ts";
import { schedulesList, schedulesPause, schedulesResume } from "./schedules.ts";
import { schedulesRun, schedulesRuns } from "./schedules.ts";
import { serve } from "./serve.ts";
import { settings } from "./settings.ts";
import { stats } from "./stats.ts";
import { simAbort, simList, simPause, simResume, simSegments, simShow, simStart } from "./sim.ts";
import { tokensCreate, tokensList, tokensRemove } from "./tokens.ts";
import { top } from "./top.ts";
import { version } from "./version.ts";
import { why } from "./why.ts";
import { work } from "./work.ts";
import { workersList, workersQuiet, workersResume } from "./workers.ts";

/** Commands that have others below them. */
export const GROUPS: Readonly<Record<string, string>> = {
  dead: "dead jobs: faults, lists, replays",
  ops: "operations on many jobs",
  failures: "failed attempts, from the ledger",
  workers: "the fleet",
  schedules: "rules that make jobs at their times",
  gates: "rates, cooldowns and breakers",
  locks: "execution locks",
  sim: "simulations: workloads spread over time",
  tokens: "who may use the HTTP API",
  crm: "a CRM that is kept in step",
  migrate: "the schema of the store",
};

/** Those that every command has; the parser adds them. */
export const GLOBAL_OPTIONS: readonly Option[] = [
  {
    flags: "--url <url>",
    about: "the store: sqlite:jobs.db, postgres://…, redis://…, mongodb://…",
  },
  { flags: "--config <file>", about: "a configuration file (default: holdfast.config.*)" },
  { flags: "--json", about: "answer in JSON, for programs" },
  { flags: "--no-color", about: "no colours" },
];

export const COMMANDS: readonly Command[] = [
  ...[init, work, serve],
  ...[enqueue, importFile, jobs, job, why, retry, cancel, remove, erase],
  ...[queues, lines, pause, resume, limit, settings],
  ...[deadList, deadGroups, deadShow, deadReplay, deadResolve, deadIgnore, deadReopen],
  ...[deadPresets, deadSave, deadForget],
  ...[opsList, opsShow, opsWatch, opsPause, opsResume, opsAbort],
  ...[failuresList, failuresPrune, workersList, workersQuiet, workersResume, audit, alerts],
  ...[schedulesList, schedulesRuns, schedulesRun, schedulesPause, schedulesResume],
  ...[schedulesSet, schedulesRemove, schedulesPreview],
  ...[gatesList, gatesSet, gatesForce, gatesRemove, locksList, locksRelease, stats],
  ...[simList, simStart, simShow, simSegments, simPause, simResume, simAbort],
  ...[tokensList, tokensCreate, tokensRemove],
  ...[crmCheck, crmEnsure],
  ...[top, doctor, migrateStatus, migrateUp, migrateSql, move, importFrom, bench],
  makeCompletion(
    () => COMMANDS,
    () => GLOBAL_OPTIONS,
  ),
  version,
];
