/**
 * Builds, packs and installs the package the way a user gets it: a tarball in an empty folder.
 *
 * Works from the sources into folders of its own, so it neither needs nor disturbs `dist`. Needs no
 * network: the package has no dependencies, and what a user brings along (zod, types) is linked from
 * our own node_modules.
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { publishedManifest, writePackageFiles } from "../../scripts/package-files.ts";
import { serverUrl, type TestServer } from "../servers/server-desk.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIBRARY = join(ROOT, "packages/holdfast");
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const FOLDER_PREFIX = "holdfast-package-";
/** What stands beside the library: packed and installed with it. */
const BESIDE = ["server", "crm", "pacing", "imports"];
const BROUGHT_ALONG = [
  "zod",
  "hono",
  "@hono",
  "jose",
  "pg",
  "ioredis",
  "joi",
  "@hapi",
  "@standard-schema",
  "@fastify",
  "csv-parse",
  "mongodb",
  "@types/node",
  "@types/pg",
  "undici-types",
];

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface InstalledPackage {
  /** Where a user's programs go. */
  readonly folder: string;
  /** What was packed: package.json beside dist, before npm saw it. */
  readonly staged: string;
  readonly tarball: string;
  /** Runs a program of this Node in the folder, or in one below it. */
  node(args: readonly string[], options?: RunOptions): Promise<Ran>;
  tsc(args: readonly string[]): Promise<Ran>;
  remove(): Promise<void>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A copy of one's own of what was installed once for the whole run: five builds take a quarter of a minute. */
export async function installPackage(): Promise<InstalledPackage> {
  const master = await serverUrl("package");
  const base = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  try {
    await cp(master, base, { recursive: true, verbatimSymlinks: true });
  } catch (error) {
    await rm(base, { recursive: true, force: true });
    throw error;
  }
  const folder = join(base, "app");
  const tarballs = (await readdir(base)).filter((name) => name.endsWith(".tgz"));
  return {
    folder,
    staged: join(base, "staged"),
    tarball: join(base, tarballs[0] ?? "npm pack wrote no tarball"),
    node: (args, options) => run(process.execPath, args, { cwd: folder, ...options }),
    tsc: (args) => run(process.execPath, [TSC, ...args], { cwd: folder }),
    remove: () => rm(base, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** For the desk: made when the first test asks, removed after the last. */
export async function startPackage(): Promise<TestServer> {
  const base = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  const stop = () => rm(base, { recursive: true, force: true, maxRetries: 3 });
  try {
    await installInto(base);
    return { url: base, how: "built, packed and installed from the sources", stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function installInto(base: string): Promise<void> {
  const staged = join(base, "staged");
  const folder = join(base, "app");
  await Promise.all([mkdir(staged), mkdir(folder)]);

  const build = ["-p", join(LIBRARY, "tsconfig.build.json"), "--outDir", join(staged, "dist")];
  await must(run(process.execPath, [TSC, ...build], { cwd: ROOT }));
  writePackageFiles(join(LIBRARY, "package.json"), staged);
  // Without scripts: they would build once more, in the wrong folder.
  await must(npm(["pack", "--ignore-scripts", "--pack-destination", base], { cwd: staged }));
  const tarballs = (await readdir(base)).filter((name) => name.endsWith(".tgz"));
  const tarball = join(base, tarballs[0] ?? "npm pack wrote no tarball");

  await writeFile(join(folder, "package.json"), `{ "private": true, "type": "module" }\n`);
  await must(npm(["install", "--offline", "--no-audit", "--no-fund", tarball], { cwd: folder }));
  await mkdir(join(folder, "node_modules/@types"), { recursive: true });
  for (const name of BROUGHT_ALONG) {
    await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name), "junction");
  }

  for (const name of BESIDE) await installBeside(name, { base, staged, folder });
}

/** Beside the library, as it would be published; what it depends on is brought along. */
async function installBeside(
  name: string,
  at: {
    readonly base: string;
    readonly staged: string;
    readonly folder: string;
  },
): Promise<void> {
  const own = join(ROOT, "packages", name);
  const home = join(at.folder, "node_modules/@holdfast", name);
  await mkdir(home, { recursive: true });
  const config = join(at.base, `tsconfig.${name}.json`);
  await writeFile(
    config,
    JSON.stringify({
      extends: join(own, "tsconfig.build.json"),
      compilerOptions: {
        ...{ rootDir: join(own, "src"), outDir: join(home, "dist") },
        typeRoots: [join(ROOT, "node_modules/@types")],
        // The library as it was just built, not what an earlier build has left.
        paths: {
          holdfast: [join(at.staged, "dist/index.d.ts")],
          "@holdfast/server": [join(at.folder, "node_modules/@holdfast/server/dist/index.d.ts")],
        },
      },
      include: [join(own, "src")],
      exclude: [join(own, "src/**/*.test.ts")],
    }),
  );
  await must(run(process.execPath, [TSC, "-p", config], { cwd: ROOT }));
  await writeFile(join(home, "package.json"), publishedManifest(join(own, "package.json")));
}

/** npm as in a shell of a user. */
export function npm(args: readonly string[], options: RunOptions & { cwd: string }): Promise<Ran> {
  // npm's own scripts set npm_* for the outer project; a user's shell has none of them.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle|command)/.test(name)),
  );
  const shell = process.platform === "win32";
  return run("npm", args, { ...options, env: env as Record<string, string>, shell });
}

function run(
  program: string,
  args: readonly string[],
  options: RunOptions & { cwd: string; shell?: boolean },
): Promise<Ran> {
  const path = [join(process.execPath, ".."), process.env.PATH ?? ""].join(delimiter);
  // A user's Node knows nothing of our sources.
  const flags = (process.env.NODE_OPTIONS ?? "").replace(/--conditions=\S+/g, "").trim();
  const env = { ...process.env, PATH: path, NO_COLOR: "1", NODE_OPTIONS: flags, ...options.env };
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { ...options, env, maxBuffer: 2 ** 24, timeout: 120_000 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        const why = error !== null && code === 1 && stdout + stderr === "" ? error.message : "";
        resolve({ code, stdout, stderr: stderr + why });
      },
    );
  });
}

async function must(running: Promise<Ran>): Promise<void> {
  const { code, stdout, stderr } = await running;
  if (code !== 0) throw new Error(`${stdout}${stderr}`.trim() || `ended with ${code}`);
}
