/** Gates: rates, cooldowns and breakers that hold jobs back. */
import type { BreakerOptions, GateOptions, GateTarget } from "holdfast";
import type { Flags } from "../cli.ts";
import type { Command } from "../command.ts";
import { CliError, ExitCode } from "../exit-code.ts";
import { clean } from "../output/clean.ts";
import { ago } from "../output/words.ts";
import { readDuration, readRate, readWhole, type ReadRate } from "../settings/read-flags.ts";
import { CATEGORIES, WHY, YES } from "./shared-options.ts";

export const gatesList: Command = {
  name: "gates list",
  summary: "lists gates: rates, cooldowns, breakers, and which of them hold",
  examples: ["gates"],
  async run(cli) {
    const hf = await cli.open();
    const all = await hf.gates.list();
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
  summary: "forces a gate open or closed; auto lets it decide again",
  about: "An open gate is a breaker that lets nothing through; a closed one lets work pass.",
  examples: ['gates force {gate} open --reason "provider is down"', "gates force {gate} auto"],
  options: WHY,
  async run(cli, { args: [name, state] }) {
    const hf = await cli.open();
    await hf.gates.force(String(name), state as "open" | "closed" | "auto", cli.why);
    cli.print({ name, forced: state }, () => `Gate ${clean(name)}: ${clean(state)}.`);
  },
};

export const gatesSet: Command = {
  name: "gates set",
  args: "<name>",
  summary: "makes a gate, or puts another rule in its place",
  about:
    "What is not said is no part of it any more: say the whole rule. A gate without --queue holds back only the calls that ask for it (hf.gates.acquire).",
  examples: [
    "gates set hubspot --queue mail --rate 80/10s+20 --cooldown --breaker 8/60s --open 30s",
    "gates set per-tenant --queue mail --rate 5/s --per-group",
    'gates set tenant-7 --queue mail/tenant-7 --rate 1/m --reason "asked for it"',
  ],
  options: [
    {
      flags: "-q, --queue <name>",
      about: "a queue, or queue/group; may be repeated",
      repeats: true,
    },
    {
      flags: "--rate <rate>",
      about: "so many in so long, and so many more at once: 80/10s+20; may be repeated",
      repeats: true,
      read: readRate,
    },
    { flags: "--per-group", about: "each group has this gate for itself" },
    {
      flags: "--cooldown [longest]",
      about: "a 429 holds everything back, at most so long",
      read: readDuration,
    },
    {
      flags: "--breaker <failures/time>",
      about: "opens after so many failures in so long: 8/60s",
      read: readRate,
    },
    { flags: "--open <duration>", about: "how long it stays open: 30s", read: readDuration },
    { flags: "--probes <n>", about: "how many must go well until it closes", read: readWhole },
    {
      flags: "--counts-as-down <category>",
      about: "which failures count; may be repeated",
      choices: CATEGORIES,
      repeats: true,
    },
    ...WHY,
  ],
  async run(cli, { args: [name] }) {
    const options = gateOf(cli.flags);
    const hf = await cli.open();
    await hf.gates.set(String(name), options, cli.why);
    cli.print({ name, ...options }, () => `Gate ${clean(name)} is set.`);
  },
};

function gateOf(flags: Flags): GateOptions {
  const { queue, rate, perGroup, cooldown } = flags;
  const breaker = breakerOf(flags);
  return {
    ...(queue !== undefined && { queue: (queue as readonly string[]).map(targetOf) }),
    ...(rate !== undefined && { rate: rate as readonly ReadRate[] }),
    ...(perGroup === true && { per: "group" as const }),
    ...(cooldown === true && { cooldown }),
    ...(typeof cooldown === "number" && { cooldown: { maxMs: cooldown } }),
    ...(breaker && { breaker }),
  };
}

function targetOf(text: string): GateTarget {
  const [queue = "", ...group] = text.split("/");
  return group.length === 0 ? queue : { queue, group: group.join("/") };
}

function breakerOf(flags: Flags): BreakerOptions | null {
  const { breaker, open, probes, countsAsDown } = flags;
  const more = { "--open": open, "--probes": probes, "--counts-as-down": countsAsDown };
  if (breaker === undefined) {
    const [alone] = Object.entries(more).find(([, value]) => value !== undefined) ?? [];
    if (alone === undefined) return null;
    throw new CliError(ExitCode.usage, `${alone} is about a breaker: say --breaker 8/60s, too`);
  }
  if (open === undefined) {
    throw new CliError(ExitCode.usage, "--breaker needs --open: how long it stays open, as in 30s");
  }
  const { limit, perMs } = breaker as ReadRate;
  return {
    ...{ failures: limit, withinMs: perMs, openMs: open as number },
    ...(probes !== undefined && { probes: probes as number }),
    ...(countsAsDown !== undefined && {
      countsAsDown: countsAsDown as NonNullable<BreakerOptions["countsAsDown"]>,
    }),
  };
}

export const gatesRemove: Command = {
  name: "gates remove",
  args: "<name>",
  summary: "removes a gate: what it holds is free at once",
  examples: ['gates remove {gate} --reason "provider has no limit any more" --yes'],
  options: [...WHY, YES],
  async run(cli, { args: [name] }) {
    await cli.confirm(`Remove the gate ${clean(name)}, so that it holds nothing back any more?`);
    const hf = await cli.open();
    if (!(await hf.gates.remove(String(name), cli.why))) {
      throw new CliError(
        ExitCode.notFound,
        `there is no gate ${clean(name)}: holdfast gates lists them`,
      );
    }
    cli.print({ name, state: "removed" }, () => `Gate ${clean(name)} is removed.`);
  },
};
