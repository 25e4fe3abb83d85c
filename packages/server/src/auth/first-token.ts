/** A first start on this machine, without any token: one is made and shown once. */
import type { Tokens } from "./tokens.ts";

export async function firstToken(tokens: Tokens, print: (line: string) => void): Promise<void> {
  const { secret } = await tokens.create({
    ...{ role: "admin", queues: null, name: "first", createdBy: "first start", expiresAt: null },
  });
  print(
    `Holdfast: there was no token yet, so here is an admin's. It is shown only now:\n\n  ${secret}\n`,
  );
}
