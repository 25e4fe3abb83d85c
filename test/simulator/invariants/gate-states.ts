/**
 * Gates, judged by what starts and by every change of their records:
 *
 * - in every window no more jobs start than the rate lets through, and no process starts more than it has taken
 *   tokens for and not given back;
 * - while a breaker is not closed a process starts no more jobs than it was granted probes, and no process takes
 *   off another one's probe that is under way;
 * - a hold is set and lifted by its owner alone.
 */
import type { GateState } from "../../../packages/holdfast/src/core/gate-state.ts";
import { refill } from "../../../packages/holdfast/src/core/rate.ts";
import { FRAGILE, METERED } from "../contracts.ts";
import type { Court, Watcher } from "../watcher.ts";
import { Waking } from "./waking.ts";

const STATES = "holdfast/gates/state/";
/** A grant is used within this time. */
const GRANT_MS = 250;
/** What a process may still start after a breaker opened that it has just looked at: half a second, and a grant. */
const UNTOLD_MS = 500 + GRANT_MS + 10;
/** Clocks of the store, as two processes know them. */
const CLOCKS_MS = 1_000;
const NEARLY = 1e-6;

export function ratesAreKept(court: Court): Watcher {
  const { book, control, now, complain } = court;
  const name = "a rate is kept by the whole fleet";
  if (!control) return {};
  const { rate, isPerGroup } = control;
  const waking = new Waking(court);
  const states = new Map<string, GateState>();
  /** By process and group: tokens that were taken and not given back, less what was started. */
  const left = new Map<string, number>();
  const starts = new Map<string, number[]>();
  return {
    ...waking.watcher,
    swapped({ key, expect, value }, process) {
      if (!key.startsWith(`${STATES}meter/`)) return;
      const before = expect === null ? null : (states.get(key) ?? null);
      if (value === null) return void states.delete(key);
      const state = JSON.parse(value) as GateState;
      states.set(key, state);
      const bucket = state.buckets[rate.perMs];
      if (!bucket) return;
      const full = refill(before?.buckets ?? {}, [rate], bucket.at)[rate.perMs]!;
      const account = `${process} ${isPerGroup ? key.slice(key.lastIndexOf("/") + 1) : ""}`;
      const taken = full.tokens - bucket.tokens;
      left.set(account, (left.get(account) ?? 0) + taken);
    },
    handlerStarted({ jobId, process }) {
      const job = book.jobs.get(jobId);
      if (job?.queue !== METERED) return;
      const group = isPerGroup ? job.group : "";
      const account = `${process} ${group}`;
      if (waking.isWaking(process)) return;
      const rest = (left.get(account) ?? 0) - 1;
      left.set(account, rest);
      if (rest < -NEARLY) {
        const over = (-rest).toFixed(2);
        complain(name, `${process} started ${over} jobs more than it has tokens for`, jobId);
      }
      const since = now() - (rate.perMs - GRANT_MS);
      const recent = [...(starts.get(group) ?? []).filter((at) => at > since), now()];
      starts.set(group, recent);
      const most = rate.limit + rate.burst;
      if (recent.length > most) {
        complain(name, `${recent.length} starts within a window of ${most}`, jobId);
      }
    },
  };
}

export function probesAreShared(court: Court): Watcher {
  const { book, control, now, complain } = court;
  const name = "probes are the fleet's";
  if (!control) return {};
  const { breaker: rule } = control;
  const waking = new Waking(court);
  let openedAt: number | null = null;
  let probes = new Map<string, { readonly process: string; readonly until: number }>();
  const granted = new Map<string, number>();
  const started = new Map<string, number>();
  return {
    ...waking.watcher,
    swapped({ key, value }, process) {
      if (!key.startsWith(`${STATES}crm/`)) return;
      const breaker = value === null ? null : (JSON.parse(value) as GateState).breaker;
      if (breaker?.state !== "half-open") {
        if (breaker?.state === "open" && (openedAt === null || probes.size > 0)) {
          openedAt = now();
          granted.clear();
          started.clear();
        } else if (breaker?.state !== "open") openedAt = null;
        probes = new Map();
        return;
      }
      const after = new Set(breaker.probes.map(({ id }) => id));
      for (const [id, probe] of probes) {
        const isUnderWay = probe.until > book.clock.peek() + CLOCKS_MS;
        if (after.has(id) || !isUnderWay || probe.process === process) continue;
        complain(name, `${process} takes off a probe of ${probe.process} that is under way`);
      }
      if (breaker.probes.length + breaker.ok > rule.probes) {
        complain(name, `${breaker.probes.length} probes and ${breaker.ok} that went well`);
      }
      const known = probes;
      probes = new Map(
        breaker.probes.map(({ id, until }) => [id, known.get(id) ?? { process, until }]),
      );
      const fresh = breaker.probes.filter(({ id }) => !known.has(id)).length;
      granted.set(process, (granted.get(process) ?? 0) + fresh);
    },
    handlerStarted({ jobId, process }) {
      const isBehind = book.jobs.get(jobId)?.queue === FRAGILE;
      if (!isBehind || openedAt === null || now() - openedAt <= UNTOLD_MS) return;
      if (waking.isWaking(process)) return;
      const count = (started.get(process) ?? 0) + 1;
      started.set(process, count);
      const allowed = granted.get(process) ?? 0;
      if (count <= allowed) return;
      complain(name, `${process} starts job ${count} with ${allowed} probes, it is down`, jobId);
    },
  };
}

export function holdsAreOwned({ complain }: Court): Watcher {
  return {
    held({ queue, group, owner, hold }, process) {
      // Workers act for gates; all else is an operator's.
      if (owner.startsWith("gate:") || process === "ops") return;
      const what = `${hold ? "sets" : "lifts"} a hold of ${owner} on ${queue}/${group ?? "*"}`;
      complain("a hold is its owner's", `${process} ${what}`);
    },
  };
}
