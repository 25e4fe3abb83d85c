import { open } from "node:fs/promises";

/** Payloads are in it as they are: for its owner alone. Resolves once the lines are on the disk. */
export async function appendLines(file: string, items: readonly unknown[]): Promise<void> {
  const handle = await open(file, "a", 0o600);
  try {
    await handle.writeFile(items.map((item) => `${JSON.stringify(item)}\n`).join(""));
    await handle.sync();
  } finally {
    await handle.close();
  }
}
