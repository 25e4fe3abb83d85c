/**
 * A Nest application as a user has it: an empty folder with the packed packages and one version of Nest, compiled by
 * `tsc` and run by Node. Nothing in it knows our sources.
 */
import { execFile } from "node:child_process";
import { mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writePackageFiles } from "../../scripts/package-files.ts";
import { installPackage, npm, type InstalledPackage } from "../packaging/install-package.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NESTJS = join(ROOT, "packages/nestjs");

/** Where each version of Nest is installed. */
export const NEST = {
  11: join(ROOT, "test/nestjs/nest-11"),
  12: ROOT,
} as const;

const OF_NEST = ["@nestjs", "reflect-metadata", "rxjs", "tslib"];

/** What `nest new` writes, besides where things are. */
const COMPILER = {
  ...{ target: "es2023", module: "nodenext", types: ["node"], skipLibCheck: true },
  ...{ strict: true, experimentalDecorators: true, emitDecoratorMetadata: true },
};

export interface InstalledApp extends InstalledPackage {
  /** Compiles `src` of a folder below into its `dist`; answers what the compiler says. */
  compile(name: string, type: "module" | "commonjs"): Promise<string>;
}

export async function installedApp(nest: keyof typeof NEST): Promise<InstalledApp> {
  const installed = await installPackage();
  const { folder } = installed;
  await installNestModule(installed);
  for (const name of OF_NEST) {
    const to = join(folder, "node_modules", name);
    await symlink(join(NEST[nest], "node_modules", name), to, "junction");
  }
  return {
    ...installed,
    async compile(name, type) {
      const home = join(folder, name);
      await writeFile(join(home, "package.json"), JSON.stringify({ private: true, type }));
      const config = { compilerOptions: { ...COMPILER, rootDir: "src", outDir: "dist" } };
      await writeFile(join(home, "tsconfig.json"), JSON.stringify({ ...config, include: ["src"] }));
      const { stdout, stderr } = await installed.tsc(["-p", home]);
      return stdout + stderr;
    },
  };
}

/** From a tarball, beside the library that it is compiled against. */
async function installNestModule({ folder, staged, tsc }: InstalledPackage): Promise<void> {
  const base = join(folder, "..", "nestjs");
  await mkdir(base);
  const config = join(base, "tsconfig.build.json");
  await writeFile(
    config,
    JSON.stringify({
      extends: join(NESTJS, "tsconfig.build.json"),
      compilerOptions: {
        ...{ rootDir: join(NESTJS, "src"), outDir: join(base, "dist") },
        typeRoots: [join(ROOT, "node_modules/@types")],
        paths: {
          holdfast: [join(staged, "dist/index.d.ts")],
          "holdfast/*": [join(staged, "dist/*.d.ts"), join(staged, "dist/*/index.d.ts")],
          "@holdfast/server": [join(folder, "node_modules/@holdfast/server/dist/index.d.ts")],
        },
      },
      include: [join(NESTJS, "src")],
      exclude: [join(NESTJS, "src/**/*.test.ts")],
    }),
  );
  const compiled = await tsc(["-p", config]);
  if (compiled.code !== 0) throw new Error(compiled.stdout + compiled.stderr);
  await rm(config);
  writePackageFiles(join(NESTJS, "package.json"), base);
  await npm(["pack", "--ignore-scripts"], { cwd: base });
  const tarball = (await readdir(base)).find((name) => name.endsWith(".tgz")) ?? "no tarball";
  const home = join(folder, "node_modules/@holdfast/nestjs");
  await mkdir(home, { recursive: true });
  await new Promise<void>((resolve, reject) => {
    const args = ["-xzf", join(base, tarball), "-C", home, "--strip-components=1"];
    execFile("tar", args, (error) => (error ? reject(error) : resolve()));
  });
}
