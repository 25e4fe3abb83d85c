/** Stands for a mail server: it refuses Ada's welcome the first time, and remembers what it took. */
export interface Mail {
  readonly to: string;
}

export const ADA: Mail = { to: "ada@example.com" };
export const READERS: readonly Mail[] = Array.from({ length: 100 }, (_, n) => ({
  to: `reader-${n}@example.com`,
}));

const sent = new Map<string, string[]>();
let refusals = 0;
const reminded = Promise.withResolvers<void>();
const newsSent = Promise.withResolvers<void>();

export async function deliver(
  kind: "welcome" | "reminder" | "news",
  { to }: Mail,
): Promise<string> {
  if (kind === "welcome" && refusals++ === 0) throw new Error("the mail server is busy");
  sent.set(kind, [...(sent.get(kind) ?? []), to]);
  if (kind === "reminder") reminded.resolve();
  if (sent.get("news")?.length === READERS.length) newsSent.resolve();
  return `m-${to}`;
}

/** Resolves when the reminder and all news were sent. */
export async function allSent(): Promise<void> {
  await Promise.all([reminded.promise, newsSent.promise]);
}

/** What every version of the app prints. */
export function report(messageId: string): void {
  console.log(`welcome: ${messageId}, after ${refusals} tries`);
  console.log(`reminder: ${sent.get("reminder")?.join()}`);
  console.log(`news: ${new Set(sent.get("news")).size} of ${READERS.length}`);
}
