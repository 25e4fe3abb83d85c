/** Gates, for people: named rules that hold jobs and calls back. They live in the store, for every process. */
import { ClosedError, GateNotFoundError, InvalidOptionError } from "../../core/errors.ts";
import { classifyError } from "../../core/classify.ts";
import { FORCED, type Forced, type GateState } from "../../core/gate-state.ts";
import { checkName } from "../../core/names.ts";
import { checkOneOf, checkOptions, checkWhole } from "../../core/option-checks.ts";
import { checkWhy, type WhyOptions } from "../../core/why-options.ts";
import type { Extension, ExtensionHost } from "../../engine/extension.ts";
import { Callers } from "./callers.ts";
import { GateKeeper, UNNAMED_MS } from "./gate-keeper.ts";
import {
  checkGate,
  checkGateName,
  refuseSecondRate,
  type Gate,
  type GateOptions,
  type QueueParts,
} from "./gate-options.ts";
import { forgetStates, readRules, readStates, RULES, stateKey } from "./gate-records.ts";
import { gateView, type GateView } from "./gate-view.ts";
import { forcedHold, holdAll, ownerOf, releaseAll, targetsOf } from "./holds.ts";
import { heldReasons, type HeldReason } from "./held-reasons.ts";

export type { GateView } from "./gate-view.ts";
export type { HeldReason } from "./held-reasons.ts";

export interface AcquireOptions {
  /** How many tokens of its rate it takes. Default 1. */
  readonly cost?: number | undefined;
  /** Of a gate per group: which one. */
  readonly group?: string | undefined;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

const MOST_COST = 1_000_000_000;

export class Gates {
  /** What is attached after all others of ours: what another one ends before it runs has used no grant. */
  readonly extension: Extension;
  readonly #engine: ExtensionHost;
  readonly #opened: () => Promise<void>;
  readonly #parts: QueueParts;
  readonly #keeper: GateKeeper;
  readonly #callers: Callers;

  /** `opened` resolves once the store is open, also while a Holdfast closes: handlers in their grace go on calling. */
  constructor(host: ExtensionHost, parts: QueueParts, opened: () => Promise<void>) {
    this.#engine = host;
    this.#opened = opened;
    this.#parts = parts;
    this.#keeper = new GateKeeper(host, parts);
    this.extension = this.#keeper.extension;
    this.#callers = new Callers(this.#keeper);
  }

  /** Makes a gate or changes it: in force here at once, in other processes within seconds. Audited. */
  async set(name: string, options: GateOptions, why: WhyOptions = {}): Promise<void> {
    const checkedName = checkGateName(name);
    const checked = checkGate(options);
    const { by, reason } = checkWhy("gates.set", why);
    const host = await this.#host();
    let before: Gate | null = null;
    const made = await this.#write(host, checkedName, (found, id) => {
      before = found;
      const kept = { name: checkedName, id: found?.id ?? id, forced: found?.forced ?? "auto" };
      return { ...kept, ...checked };
    });
    if (made === null) return;
    // Whoever wrote it may have died before it told the others.
    if (made.isSame) return host.workers.announceChange();
    await this.#changed(host, made.gate, before);
    const details = { gate: checkedName, ...options };
    await host.audit({ action: "set gate", by, reason, details }, aboutOf(made.gate));
  }

  /** By name. */
  async list(): Promise<GateView[]> {
    const { records } = await this.#host();
    await this.#keeper.tell();
    const gates = [...(await readRules(records)).values()];
    const whole = gates.filter(({ isPerGroup }) => !isPerGroup);
    const states = await readStates(
      records,
      whole.map((gate) => stateKey(gate, null)),
    );
    const now = await this.#keeper.now();
    return gates.map((gate) => gateView(gate, states[whole.indexOf(gate)]?.state ?? null, now));
  }

  /** Null if there is none. Of a gate per group: that of the group, if one is named. */
  async get(name: string, options: { readonly group?: string } = {}): Promise<GateView | null> {
    const checkedName = checkGateName(name);
    checkOptions("gates.get", options, ["group"]);
    const group = groupOf(options);
    const { records } = await this.#host();
    await this.#keeper.tell();
    const gate = (await readRules(records)).get(checkedName);
    if (!gate) return null;
    const isShown = !gate.isPerGroup || group !== null;
    const state = isShown ? await this.#stateOf(gate, group) : null;
    return gateView(gate, state, await this.#keeper.now());
  }

  /** `open`: nothing passes; `closed`: neither breaker nor cooldown holds; until `auto`. Audited. */
  async force(name: string, forced: Forced, why: WhyOptions = {}): Promise<void> {
    const checkedName = checkGateName(name);
    checkOneOf("what gates.force takes", forced, FORCED);
    const { by, reason } = checkWhy("gates.force", why);
    const host = await this.#host();
    const made = await this.#write(host, checkedName, (found) => found && { ...found, forced });
    if (made === null) throw notFound(checkedName);
    // Also if it was forced so before: its holds may never have followed.
    await this.#changed(host, made.gate, made.gate, { by, reason });
    if (made.isSame) return;
    const details = { gate: checkedName, forced };
    await host.audit({ action: "force gate", by, reason, details }, aboutOf(made.gate));
  }

  /** What it holds is free. False: there was none. Audited. */
  async remove(name: string, why: WhyOptions = {}): Promise<boolean> {
    const checkedName = checkGateName(name);
    const { by, reason } = checkWhy("gates.remove", why);
    const host = await this.#host();
    const known = (await readRules(host.records)).get(checkedName);
    // A hold by hand has no end: if this process died behind the removal, nobody would know of it any more.
    if (known?.forced === "open") await this.#release(host, known);
    let before: Gate | null = null;
    await this.#write(host, checkedName, (found) => {
      before = found;
      return null;
    });
    const removed = before as Gate | null;
    if (removed === null) {
      // Whoever removed it may not have heard of it, and told nobody.
      await host.workers.announceChange();
      return false;
    }
    await host.workers.announceChange();
    await this.#release(host, removed);
    await forgetStates(host.records, removed);
    const details = { gate: checkedName };
    await host.audit({ action: "remove gate", by, reason, details }, aboutOf(removed));
    return true;
  }

  /** For calls outside of jobs: resolves when one may be made. */
  async acquire(name: string, options: AcquireOptions = {}): Promise<void> {
    const checkedName = checkGateName(name);
    checkOptions("gates.acquire", options, ["cost", "group", "signal"]);
    const { cost = 1, signal } = options;
    checkWhole("cost", cost, { min: 1, max: MOST_COST });
    const group = groupOf(options);
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new InvalidOptionError("signal must be an AbortSignal");
    }
    signal?.throwIfAborted();
    await this.#host();
    await this.#keeper.book.readAgain();
    const gate = this.#gate(checkedName, group);
    const tooSmall = gate.rates.find(({ burst }) => burst < cost);
    if (tooSmall) {
      throw new InvalidOptionError(
        `a cost of ${cost} never fits into a burst of ${tooSmall.burst}: raise the burst of gate "${checkedName}", or take less at once`,
      );
    }
    await this.#callers.acquire(checkedName, { cost, group, signal: signal ?? null });
  }

  /** How a call went that `acquire` let through; no error: well. Trouble is logged, not thrown. */
  async report(
    name: string,
    error?: unknown,
    options: { readonly group?: string } = {},
  ): Promise<void> {
    const checkedName = checkGateName(name);
    checkOptions("gates.report", options, ["group"]);
    const group = groupOf(options);
    const { logger } = this.#keeper;
    try {
      await this.#host();
      await this.#keeper.book.readAgain();
      const gate = this.#keeper.book.get(checkedName);
      if (gate) await this.#report(gate, error, group);
      else logger.warn(`there is no gate "${checkedName}" to report to`);
    } catch (trouble) {
      logger.error(`what was reported to gate "${checkedName}" was not heard`, { error: trouble });
    }
  }

  /** What holds the jobs of a line back, and until when. */
  async held(line: { readonly queue: string; readonly group?: string }): Promise<HeldReason[]> {
    checkOptions("gates.held", line, ["queue", "group"]);
    const queue = checkName("queue", line.queue);
    const group = groupOf(line);
    const host = await this.#host();
    await Promise.all([this.#keeper.tell(), this.#parts.read()]);
    const queues = [queue, this.#parts.whole(queue)];
    return heldReasons(host.records, { queues, group }, await this.#keeper.now());
  }

  /** @internal Calls that wait are told. */
  async close(): Promise<void> {
    this.#callers.close(new ClosedError("this Holdfast is closed: no call waits for its gates"));
    await this.#keeper.close();
  }

  async #host(): Promise<ExtensionHost> {
    this.#callers.refuseClosed();
    await this.#opened();
    return this.#engine;
  }

  async #report(gate: Gate, error: unknown, group: string | null): Promise<void> {
    const probe = this.#callers.probeOf(gate.name, group);
    const meter = this.#keeper.meterOf(gate, group);
    if (error === undefined || error === null) return meter.report(probe, "ok");
    const { category, retryAfterMs } = classifyError(error, {
      nowMs: Math.floor(await this.#keeper.now()),
    });
    if (category === "rate_limit" && gate.cooldown) {
      await meter.coolDown(retryAfterMs ?? UNNAMED_MS);
    }
    meter.report(probe, gate.countsAsDown.includes(category) ? "failed" : "unknown");
  }

  #gate(name: string, group: string | null): Gate {
    const gate = this.#keeper.book.get(name);
    if (!gate) throw notFound(name);
    if (gate.isPerGroup && group === null) {
      throw new InvalidOptionError(
        `gate "${name}" is per group: say which one, acquire("${name}", { group })`,
      );
    }
    return gate;
  }

  /** Reads past what this process remembers. */
  async #stateOf(gate: Gate, group: string | null): Promise<GateState> {
    return this.#keeper.meterOf(gate, group).cell.read();
  }

  /**
   * Writes a rule by compare-and-set; null deletes it. `isSame`: it was as it should be. Two that are set at the
   * same time may both have found no other rate of their queue: both look again, and whoever sees the other gives
   * way. Both may; but one that does not see the other may have looked before that one wrote.
   */
  async #write(
    { records, runtime }: ExtensionHost,
    name: string,
    make: (found: Gate | null, id: string) => Gate | null,
  ): Promise<{ readonly gate: Gate; readonly isSame: boolean } | null> {
    const key = RULES + name;
    const id = runtime.id();
    for (;;) {
      const [record] = await records.read([key]);
      const found = record ? (JSON.parse(record.value) as Gate) : null;
      const gate = make(found, id);
      if (gate === null && found === null) return null;
      if (gate !== null) {
        if (found && isSame(found, gate)) return { gate, isSame: true };
        refuseSecondRate(gate, (await readRules(records)).values(), this.#parts.whole);
      }
      const value = gate && JSON.stringify(gate);
      const expect = record?.version ?? null;
      const [result] = await records.swap([{ key, expect, value, ttlMs: null }]);
      if (!result?.swapped) continue;
      if (gate === null) return null;
      await this.#giveWay(records, { gate, before: record?.value ?? null }, result.version);
      return { gate, isSame: false };
    }
  }

  /** It is then as it was before. */
  async #giveWay(
    records: ExtensionHost["records"],
    { gate, before }: { readonly gate: Gate; readonly before: string | null },
    version: number | null,
  ): Promise<void> {
    const others = [...(await readRules(records)).values()].filter(({ id }) => id !== gate.id);
    try {
      refuseSecondRate(gate, others, this.#parts.whole);
    } catch (error) {
      const key = RULES + gate.name;
      await records.swap([{ key, expect: version, value: before, ttlMs: null }]);
      throw error;
    }
  }

  /** Processes hear of it, and holds follow. */
  async #changed(
    host: ExtensionHost,
    gate: Gate,
    before: Gate | null,
    why: { readonly by: string | null; readonly reason: string | null } = {
      by: null,
      reason: null,
    },
  ): Promise<void> {
    await host.workers.announceChange();
    if (before) await this.#release(host, before);
    if (gate.forced === "open") {
      await this.#parts.read();
      const hold = forcedHold(gate, why.by, why.reason);
      const lines = targetsOf(gate, this.#parts.names);
      await holdAll(
        host.lines,
        lines.map((line) => ({ ...line, owner: ownerOf(gate), hold })),
      );
    } else if (before && !gate.isPerGroup && gate.targets.length > 0) {
      const meter = this.#keeper.meterOf(gate, null);
      await meter.cell.read();
      await this.#keeper.follow(meter);
    }
  }

  /** In every part that its queues have now: a hold in one that is not known here would stay. */
  async #release({ lines }: ExtensionHost, gate: Gate): Promise<void> {
    await this.#parts.read();
    const queues = targetsOf(gate, this.#parts.names).map(({ queue }) => queue);
    await releaseAll(lines, gate.name, queues);
  }
}

function groupOf({ group }: { readonly group?: string | undefined }): string | null {
  return group === undefined ? null : checkName("group", group);
}

function aboutOf({ targets }: Gate): { queue?: string } {
  const [first] = targets;
  return first && targets.length === 1 ? { queue: first.queue } : {};
}

function isSame(one: Gate, other: Gate): boolean {
  const names = Object.keys(one) as (keyof Gate)[];
  const isLike = (name: keyof Gate) => JSON.stringify(one[name]) === JSON.stringify(other[name]);
  return names.length === Object.keys(other).length && names.every(isLike);
}

function notFound(name: string): GateNotFoundError {
  return new GateNotFoundError(
    `there is no gate "${name}": make it with hf.gates.set("${name}", { … }); hf.gates.list() has those that are`,
  );
}
