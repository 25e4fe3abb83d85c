/**
 * Server and worker on one SQLite file, with sample work that never ends: `npm start -- --live`. `--tour` runs
 * the tour instead, `--port 0` takes any port that is free.
 */
import { parseArgs } from "node:util";

const OPTIONS = { tour: { type: "boolean" }, port: { type: "string" } } as const;

const { values, mistake } = readOptions();
if (mistake !== null) {
  console.error(`npm start -- --live takes --tour or --port <n>: ${mistake}`);
  process.exitCode = 2;
} else if (values.tour === true) {
  await import("../tour/main.ts");
} else {
  const { live } = await import("./live.ts");
  process.exitCode = await live({ port: values.port ?? process.env.HOLDFAST_PORT ?? "4680" });
}

function readOptions() {
  try {
    return { values: parseArgs({ options: OPTIONS }).values, mistake: null };
  } catch (error) {
    return { values: {}, mistake: (error as Error).message };
  }
}
