/** `npm run db:migrate`: makes the tables of the business and what Holdfast needs in its stores, and ends. */
import { InvalidOptionError } from "holdfast";
import { storeOfUrl } from "holdfast/connect";
import { hideCredentials } from "holdfast/env";
import { readEnv } from "./config/settings.ts";
import { dataOfUrl } from "./data/data-of-url.ts";
import { holdfastOptions } from "./jobs/holdfast-options.ts";

try {
  const settings = readEnv(process.env);
  const data = await dataOfUrl(settings.dataUrl);
  try {
    await data.migrate();
    console.log(`data: ${hideCredentials(settings.dataUrl)} is up to date`);
  } finally {
    await data.close();
  }
  const { url, ledgerUrl, views } = holdfastOptions(settings);
  for (const [what, place] of Object.entries({ jobs: url, ledger: ledgerUrl })) {
    if (place === undefined) continue;
    const store = await storeOfUrl(place, what === "jobs" ? { views } : {});
    try {
      await store.open();
      console.log(`${what}: ${hideCredentials(place)} is up to date`);
    } finally {
      await store.close();
    }
  }
} catch (error) {
  console.error((error as Error).message || String((error as NodeJS.ErrnoException).code));
  process.exitCode = error instanceof InvalidOptionError ? 2 : 1;
}
