/** What Dockerfile and compose.yaml name is there. No container runtime is needed for that. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SETTINGS, readSettings } from "holdfast/env";
import { readEnv } from "../../apps/backoffice/src/config/settings.ts";
import { environmentOf, readCompose, type Service } from "./compose-file.ts";
import { healthcheckOf, lastOf, stagesOf, wordsOf } from "./dockerfile.ts";

const root = new URL("../../", import.meta.url);
const stages = await stagesOf(new URL("Dockerfile", root));
const compose = readCompose(new URL("compose.yaml", root));
const services = Object.entries(compose.services);
const built = services.filter(([, { build }]) => build !== undefined);
const ignored = readFileSync(new URL(".dockerignore", root), "utf8").split("\n");
const images = ["backoffice", "holdfast"];
const OWN = {
  JWT_SECRET: "a secret of the tests, forty characters",
  SAMPLE_PASSWORD: "long enough!",
};

const stage = (name: string) => {
  const found = stages.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
  return found;
};

describe("the Dockerfile", () => {
  it("copies what is there and what .dockerignore lets in", () => {
    const copied = stages.flatMap(({ instructions }) =>
      instructions.filter(({ word, rest }) => word === "COPY" && !rest.startsWith("--from")),
    );
    const sources = copied.flatMap(({ rest }) => rest.split(" ").slice(0, -1));
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((name) => !existsSync(new URL(name, root)))).toEqual([]);
    expect(sources.filter((name) => ignored.includes(name))).toEqual([]);
  });

  it("takes files from stages that stand before", () => {
    for (const [at, { from, instructions }] of stages.entries()) {
      const before = stages.slice(0, at).map(({ name }) => name);
      expect([...before, "node:24-slim"]).toContain(from);
      for (const { rest } of instructions) {
        const [, source] = /^--from=(\S+)/.exec(rest) ?? [];
        if (source !== undefined) expect(before).toContain(source);
      }
    }
  });

  it("runs scripts that are there, by the Node that packages ask for", () => {
    const scripts = stages.flatMap(({ instructions }) =>
      instructions.flatMap(({ rest }) => rest.match(/scripts\/[\w-]+\.mjs/g) ?? []),
    );
    expect(scripts).toContain("scripts/pack-all.mjs");
    expect(scripts.filter((name) => !existsSync(new URL(name, root)))).toEqual([]);
    expect(existsSync(new URL("apps/backoffice/src/main.ts", root))).toBe(true);
  });

  it("ends with the command line, which a build without a target gets", () => {
    expect(stages.at(-1)?.name).toBe("holdfast");
  });

  it.each(images)(
    "%s runs as a user who is not root, and takes SIGTERM without a shell",
    (name) => {
      expect(lastOf(stage(name), "USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(wordsOf(stage(name), "ENTRYPOINT").length).toBeGreaterThan(0);
      expect(wordsOf(stage(name), "ENTRYPOINT")).not.toContain("npm");
      expect(healthcheckOf(stage(name)).length).toBeGreaterThan(2);
      expect(lastOf(stage(name), "STOPSIGNAL")).toBe("SIGTERM");
    },
  );
});

describe("compose.yaml", () => {
  it("has a profile for a worker on each server, and for the back office on each store and on a split", () => {
    const profiles = new Set(built.flatMap(([, service]) => service.profiles));
    const office = ["backoffice", "backoffice-postgres", "backoffice-mongodb", "backoffice-redis"];
    expect([...profiles].toSorted()).toEqual(
      ["postgres", "redis", "mongodb", ...office, "backoffice-split"].toSorted(),
    );
  });

  it.each(built)(
    "%s is built from a stage that is there, and may take its time to stop",
    (_, one) => {
      expect(images).toContain(one.build?.target);
      expect(one.init).toBe(true);
      // The worker's grace is 10 s, and its handlers have 5 s more.
      expect(Number.parseInt(one.stop_grace_period ?? "", 10)).toBeGreaterThan(15);
    },
  );

  it.each(built)(
    "%s finds the servers that its settings name, in every profile of its own",
    (_, one) => {
      const waits = Object.entries(one.depends_on ?? {});
      expect(waits.map(([name]) => name).toSorted()).toEqual(serversOf(one));
      for (const [name, { condition }] of waits) {
        const server = compose.services[name];
        expect(condition).toBe("service_healthy");
        expect(server?.healthcheck?.test.length).toBeGreaterThan(1);
        for (const profile of one.profiles) expect(server?.profiles).toContain(profile);
      }
    },
  );

  it.each(services)("%s has volumes that are declared, or files that a user makes", (_, one) => {
    for (const volume of one.volumes ?? []) {
      const [source = ""] = volume.split(":");
      if (source !== "./jobs.ts") expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  it.each(built.filter(([, { build }]) => build?.target === "holdfast"))(
    "%s has settings that the command line knows",
    (_, one) => {
      const env = environmentOf(one);
      const known: readonly string[] = Object.values(SETTINGS).flatMap(({ env: names }) => names);
      expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
      const { values, problems } = readSettings({ env });
      expect(problems).toEqual([]);
      expect(values.url).toBe(env["HOLDFAST_URL"]);
    },
  );

  it.each(built.filter(([, { build }]) => build?.target === "backoffice"))(
    "%s has settings that the back office reads, and is reached from this machine only",
    (_, one) => {
      const env = environmentOf(one, OWN);
      const read = readEnv(env);
      expect(read).toMatchObject({
        ...{ host: "0.0.0.0", jobsUrl: env["HOLDFAST_URL"], dataUrl: env["DATABASE_URL"] },
        ...{ jwtSecret: OWN.JWT_SECRET, samplePassword: OWN.SAMPLE_PASSWORD },
      });
      const ours = ["HOST", "JWT_SECRET", "SAMPLE_PASSWORD", "HOLDFAST_URL", "DATABASE_URL"];
      expect(Object.keys(env).toSorted()).toEqual(
        [...ours, ...(env["HOLDFAST_LEDGER_URL"] ? ["HOLDFAST_LEDGER_URL"] : [])].toSorted(),
      );
      if (env["HOLDFAST_LEDGER_URL"]) expect(read.ledgerUrl).toBe(env["HOLDFAST_LEDGER_URL"]);
      expect(one.ports).toEqual(["127.0.0.1:5000:5000"]);
      expect(() => readEnv(environmentOf(one))).toThrow(/JWT_SECRET is needed/);
      expect(() => readEnv({ ...env, SAMPLE_PASSWORD: "short" })).toThrow(
        /SAMPLE_PASSWORD takes 12/,
      );
    },
  );

  it.each(["compose.yaml", "apps/backoffice/README.md", "docs/guides/docker-and-kubernetes.md"])(
    "has the profiles that %s tells of",
    (page) => {
      const told = readFileSync(new URL(page, root), "utf8").matchAll(/--profile ([\w-]+)/g);
      const names = [...told].map(([, name = ""]) => name);
      expect(names.length).toBeGreaterThan(1);
      const profiles = services.flatMap(([, service]) => service.profiles);
      expect(names.filter((name) => !profiles.includes(name))).toEqual([]);
    },
  );
});

/** Hosts of its URLs: `postgres://user:password@postgres/db` is the service `postgres`. */
function serversOf({ environment = {} }: Service): string[] {
  const urls = Object.values(environment).filter((value) => /^\w+:\/\//.test(value));
  return [...new Set(urls.map((url) => new URL(url).hostname))].toSorted();
}
